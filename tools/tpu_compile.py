"""`tpu-compile`: a model to a BM1684X program."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console
from rich.table import Table

from xdsl_tpu.api.building import Request, build
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import floats_of
from xdsl_tpu.tools.calibration_data import Source
from xdsl_tpu.tools.compile_model import Compilation
from xdsl_tpu.tools.errors import guarded
from xdsl_tpu.tools.files import require_file
from xdsl_tpu.tools.folder import BMODEL
from xdsl_tpu.tools.llm.command import (
    compile_language_model,
    refuse_language_model_options,
)
from xdsl_tpu.tools.names import in_bytes
from xdsl_tpu.tools.preprocess_arguments import preprocessing
from xdsl_tpu.tools.progress import working
from xdsl_tpu.tools.provenance import command_line
from xdsl_tpu.tools.tpu_compile_arguments import arguments

if TYPE_CHECKING:
    from xdsl_tpu.tools.survey import Unsupported


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with status 1 and one message on a problem."""
    run(arguments(argv), argv)


def run(args: argparse.Namespace, argv: Sequence[str] | None = None) -> NoReturn:
    """Carry out a command line that has been read, and exit as `main` does."""
    command = command_line("tpu-compile", argv)
    sys.exit(guarded(lambda: _run(args, command), show_traceback=args.debug))


def _run(args: argparse.Namespace, command: str) -> None:
    if args.llm is not None:
        compile_language_model(args)
        return
    refuse_language_model_options(args)
    args.quantize = args.quantize or "F16"
    require_file(args.model)
    if args.check:
        _check(args)
        return
    output: Path = args.output or Path(args.model.stem)
    if output.exists() and not output.is_dir():
        raise TpuError(f"{output}: exists and is no folder; give another with -o")
    request = _request(args, command)
    request.check()
    console = Console(stderr=True, quiet=args.quiet)
    with working(console, "starting") as update:

        def on_stage(stage: str) -> None:
            update(f"{args.model.name}: {stage}")
            if not console.is_terminal:
                console.print(f"{args.model.name}: {stage}", highlight=False)

        result, tables = build(request, output, on_stage)
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    if not args.quiet:
        _print_summary(result, output, tables)
    if args.explain:
        _explain(result, output)


def _explain(result: Compilation, output: Path) -> None:
    """Print what the cycles of the program are spent on."""
    from xdsl_tpu.backend.timing import simulate_program
    from xdsl_tpu.tools.explain import explain_program, print_explanation

    program, chip = result.program, result.chip
    timelines = simulate_program(program, chip)
    print_explanation(explain_program(output / BMODEL, program, timelines, chip), Console())


def _check(args: argparse.Namespace) -> None:
    """Print what `survey` finds; raise TpuError when that is anything."""
    from xdsl_tpu.tools.survey import survey

    chip = load_chip(args.chip)
    console = Console(stderr=True, quiet=args.quiet)
    with working(console, f"{args.model.name}: looking at every op"):
        found = survey(
            args.model,
            floats_of(args.quantize),
            args.chip,
            dict(args.input_shapes),
            _request(args).quantization,
            args.weights,
            args.disable_pass,
            args.transfer_layout,
        )
    if not found.problems:
        if not args.quiet:
            print(
                f"{args.model}: all {found.ops} ops can be compiled ({args.quantize}, {chip.name})"
            )
        return
    groups: dict[tuple[str, str, str], list[Unsupported]] = {}
    for problem in found.problems:
        groups.setdefault((problem.op, problem.reason, problem.rewrite), []).append(problem)
    for (op, reason, rewrite), members in groups.items():
        print(f"{len(members)} x {op}: {reason}" if op else reason)
        if rewrite:
            print(f"  instead: {rewrite}")
        for member in members:
            opset = "" if member.opset is None else f" (opset {member.opset})"
            types = f" of {member.types}" if member.types else ""
            print(f"    {member.node}{opset}{types}")
    count = len(found.problems)
    kinds = len({problem.op for problem in found.problems})
    raise TpuError(
        f"{args.model}: {count} problem{'s' if count > 1 else ''} of {kinds} "
        f"kind{'s' if kinds > 1 else ''}; the model cannot be compiled before they are solved"
    )


def _request(args: argparse.Namespace, command: str | None = None) -> Request:
    return Request(
        args.model,
        args.quantize,
        args.chip,
        dict(args.input_shapes),
        args.disable_pass,
        args.calibration_table,
        args.quantize_table,
        _samples(args),
        args.min_cosine,
        args.weights,
        args.transfer_layout,
        command,
        args.cores,
        args.asymmetric,
        args.group,
        args.symmetric,
    )


def _samples(args: argparse.Namespace) -> Source | None:
    """What tables are made from, if they are."""
    given = preprocessing(args)
    if args.calibrate_with is not None:
        return Source(args.calibrate_with, given)
    if given:
        raise TpuError(f"--{next(iter(given)).replace('_', '-')} is for --calibrate-with images")
    return None


def _print_summary(result: Compilation, output: Path, calibration: str = "") -> None:
    program = result.program
    table = Table("stage", "seconds", title=f"{program.name} {program.quantize} on {program.chip}")
    table.columns[1].justify = "right"
    for stage, seconds in result.seconds.items():
        if "/" not in stage:
            table.add_row(stage, f"{seconds:.2f}")
    console = Console()
    console.print(table)
    console.print(
        f"{len(program.tiu) - 1:,} TIU and {len(program.gdma) - 1:,} GDMA instructions, "
        f"{in_bytes(int(program.coefficients.size))} of coefficients, "
        f"{in_bytes(program.arena_bytes)} of activations",
        highlight=False,
    )
    for line in (calibration, "" if result.layers is None else result.layers.text()):
        if line:
            console.print(line, highlight=False)
    console.print(f"written to {output}", highlight=False)
