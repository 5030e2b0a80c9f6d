"""`tpu-run --find-bad`: the first command of a program whose numbers go wrong, and what helps."""

import argparse
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.diagnosis import Diagnosis, Fault, Row, diagnose
from xdsl_tpu.backend.diagnosis.diagnose import SHARE
from xdsl_tpu.backend.program import Program
from xdsl_tpu.tools.array_files import arrays_writer
from xdsl_tpu.tools.errors import FoundBadError, UsageError
from xdsl_tpu.tools.files import text_writer, write_together

Arrays = Mapping[str, npt.NDArray[Any]]

MOST_FOUND = 12
MOST_HARMLESS = 5
_NOT_WITH = ("compare", "compare_layers", "timeline", "html", "against", "disassemble")
_NAMES = re.compile(r'loc\("((?:[^"\\]|\\.)*)"')
_F32 = "f32"
_CAST = "tpu.Cast"


def add_find_bad(parser: argparse.ArgumentParser) -> None:
    """The options of `--find-bad`."""
    parser.add_argument(
        "--find-bad",
        action="store_true",
        help="find the first command whose result is infinite or NaN, saturates, or reads what "
        "was never written, and what helps; exit with status 5 when there is one",
    )
    parser.add_argument(
        "--saturated",
        type=_share,
        metavar="SHARE",
        help=f"with --find-bad: the part of a layer's integers that may be at the limits of "
        f"their type ({SHARE})",
    )


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 to 1")
    return value


def find_bad(
    args: argparse.Namespace,
    program: Program,
    chip: Chip,
    inputs: Arrays,
    advance: Callable[[], None],
    origin: Mapping[str, Any],
) -> None:
    """Run and report; `origin` goes into the report.

    Raises FoundBadError when something is found.
    """
    share = SHARE if args.saturated is None else args.saturated
    found, outputs = diagnose(program, chip, inputs, args.numerics, share, advance)
    helps = advice(found, program, _top_names(args.program))
    files: dict[Path, Callable[[IO[bytes]], None]] = {}
    if args.report is not None:
        report = {**origin, **figures(program), **found.as_dict(), "advice": helps}
        files[args.report] = text_writer(json.dumps(report, indent=1) + "\n")
    if args.outputs is not None:
        files[args.outputs] = arrays_writer(args.outputs, outputs)
    write_together(files)
    if not args.quiet:
        _print(found, helps, program)
    if found.found:
        raise FoundBadError(message(found, helps))


def refuse_other_reports(args: argparse.Namespace) -> None:
    """Raise UsageError for options that ask for another kind of report."""
    for name in _NOT_WITH:
        if getattr(args, name):
            raise UsageError(f"--find-bad runs by itself: leave out --{name.replace('_', '-')}")


def figures(program: Program) -> dict[str, str]:
    """Which program it is, for the report."""
    return {"model": program.name, "chip": program.chip, "quantize": program.quantize}


def message(found: Diagnosis, helps: list[str]) -> str:
    """The first trouble in one line, and what helps against it."""
    first = found.found[0]
    more = f", the first of {len(found.found)}" if len(found.found) > 1 else ""
    text = f"{first.place}: {_what(first)}{more}"
    return f"{text}; {helps[0]}" if helps else text


def advice(found: Diagnosis, program: Program, names: frozenset[str]) -> list[str]:
    """What helps, one line for each layer in trouble that is a cause and not a consequence."""
    lines: list[str] = []
    for row in found.found:
        if row.fault is Fault.OUTSIDE:
            line = "check the ids or positions that the network is given"
        elif row.fault is Fault.UNWRITTEN:
            line = "the program is at fault, not its numbers: tpu-run --check lists such reads"
        elif any(step < row.step for step in row.causes):
            continue
        else:
            line = _for_layer(row, program, names)
        if line not in lines:
            lines.append(line)
    return lines[:MOST_FOUND]


def _for_layer(row: Row, program: Program, names: frozenset[str]) -> str:
    layer = _table_name(row, names)
    subject = f"layer '{layer}'" if layer else f"what {row.place} computes"
    table = f" (line '{layer} {{}}' in a --quantize-table)" if layer else ""
    if row.fault is Fault.SATURATION:
        return (
            f"a larger threshold for {subject} in the calibration table (--method max, more "
            f"samples), or F16 for it{table.format('F16')}"
        )
    if row.dtype == _F32:
        return (
            f"{subject} computes in F32 already: look at the numbers that come into it, and at "
            "the float network (tpu-run --compare MODEL)"
        )
    wider = "F32 or BF16" if row.dtype == "f16" and row.fault is Fault.OVERFLOW else "F32"
    return f"{subject} in {wider}{table.format('F32')}, and what reads it while it is that large"


def _table_name(row: Row, names: frozenset[str]) -> str | None:
    """The name that a quantize table knows a layer by; None where it knows none.

    A cast is called after the tensor and what reads it, whose format it is made for; other
    layers that compilation made after the tensor they are part of.
    """
    layer = row.place.layer
    if not layer or not names or layer in names:
        return layer or None
    known = sorted((name for name in names if name and layer.startswith(name)), key=len)
    if row.op == _CAST:
        readers = (layer[len(name) :].rpartition("_")[0] for name in reversed(known))
        return next((reader for reader in readers if reader in names), None)
    return known[-1] if known else None


def _top_names(program: Path) -> frozenset[str]:
    """The tensors of the network as compiled; none beside a lone bmodel."""
    top = program / "top.mlir"
    if not program.is_dir() or not top.is_file():
        return frozenset()
    return frozenset(_NAMES.findall(top.read_text(encoding="utf-8")))


def _what(row: Row) -> str:
    parts = [row.fault.value]
    if row.explanation:
        parts.append(f"({row.explanation})")
    return " ".join(parts)


def _print(found: Diagnosis, helps: list[str], program: Program) -> None:
    console = Console()
    if not found.found:
        clean = "nothing found in the outputs" if found.harmless else "nothing found"
        console.print(
            f"{clean}: {found.commands:,} commands of {program.name} {program.quantize}",
            highlight=False,
        )
    else:
        title = f"what goes wrong in {program.name} {program.quantize}"
        console.print(_table(title, found.found[:MOST_FOUND]))
        _more(console, len(found.found) - MOST_FOUND)
    if found.harmless:
        rows = found.harmless[:MOST_HARMLESS]
        console.print(_table("infinities and NaNs that no output comes from", rows))
        _more(console, len(found.harmless) - MOST_HARMLESS)
    for line in helps:
        console.print(f"what helps: {line}", highlight=False, soft_wrap=True)


def _more(console: Console, count: int) -> None:
    if count > 0:
        console.print(f"and {count} more, all of them in --report", highlight=False)


def _table(title: str, rows: list[Row]) -> Table:
    table = Table(title=title)
    table.add_column("step", justify="right")
    for name in ("command, layer", "what", "operands, result"):
        table.add_column(name, overflow="fold")
    for row in rows:
        engine = row.place.engine.value if row.place.engine else ""
        where = [f"{engine} {row.place.identity} {row.place.instruction}" if engine else "-"]
        where += [row.place.layer] if row.place.layer else []
        what = [_what(row)]
        what += [f"{row.count:,} of {row.elements:,}"] if row.elements else []
        what += [f"comes from step {row.causes[0]:,}"] if row.causes else []
        texts = (where, what, map(str, (*row.operands, *row.results)))
        table.add_row(f"{row.step:,}", *("\n".join(lines) for lines in texts))
    return table
