"""`tpu-run`: a program on the machine model, with its outputs, cycles and timeline."""

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

from xdsl_tpu.api.comparing import compare_outputs
from xdsl_tpu.api.loading import bmodel_path, chip_of, rates_note
from xdsl_tpu.backend.asm import disassemble
from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report import (
    html_report,
    read_groups,
    read_report,
    run_report,
    trace,
)
from xdsl_tpu.backend.timing import Timeline, simulate_program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.tools.arguments import add_common, help_format
from xdsl_tpu.tools.check import check
from xdsl_tpu.tools.compare_layers import LayerComparison, compare_layers, comparison_table
from xdsl_tpu.tools.compile_model import GROUPS
from xdsl_tpu.tools.errors import guarded
from xdsl_tpu.tools.explain import explain_program, print_explanation
from xdsl_tpu.tools.files import (
    check_writable,
    text_writer,
    trace_writer,
    write_text,
    write_together,
)
from xdsl_tpu.tools.find_bad import add_find_bad, find_bad, refuse_other_reports
from xdsl_tpu.tools.image_files import is_image
from xdsl_tpu.tools.preprocess import Given, preprocess_file
from xdsl_tpu.tools.progress import counting, working
from xdsl_tpu.tools.provenance import command_line
from xdsl_tpu.tools.provenance import run as run_origin
from xdsl_tpu.tools.run_inputs import run_inputs
from xdsl_tpu.tools.run_tables import Compared, difference_table, print_tables
from xdsl_tpu.tools.verdict import Limits, count_not_finite, judge, refuse_values

Arrays = Mapping[str, npt.NDArray[Any]]
PROGRAM = "DIR|X.bmodel"
STDOUT = Path("-")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tpu-run",
        description="Run a BM1684X program on the machine model.",
        allow_abbrev=False,
        formatter_class=help_format,
    )
    parser.add_argument(
        "program",
        type=Path,
        nargs="?",
        metavar=PROGRAM,
        help="what tpu-compile wrote, or a bmodel",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--inputs",
        type=Path,
        metavar="X.npz|X.npy|X.jpg",
        help="arrays by name, or one; an image, with --preprocess",
    )
    source.add_argument("--seed", type=_seed, default=0, metavar="N", help="random inputs (0)")
    parser.add_argument(
        "--preprocess",
        type=Path,
        metavar="FILE.toml",
        help="how an image of --inputs becomes the network's input, as tpu-calibrate takes it",
    )
    parser.add_argument("--outputs", type=Path, metavar="X.npz", help="write the outputs")
    _add_reports(parser)
    parser.add_argument("--chip", help="chip name or .toml description (default: the program's)")
    parser.add_argument(
        "--numerics",
        choices=("fast", "exact"),
        default="fast",
        help="fast: products summed in f32; exact: in the chip's own order",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="look for races, reads before writes and misplaced operands first; "
        "stop with status 1 when there are any",
    )
    parser.add_argument(
        "--no-values",
        action="store_true",
        help="do not simulate: cycles, timeline, page and report without outputs",
    )
    add_find_bad(parser)
    add_common(parser)
    return parser


def _add_reports(parser: argparse.ArgumentParser) -> None:
    """What is to be compared, written and shown."""
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="MODEL",
        help="compare with onnxruntime on an ONNX model (stripped graphs are refilled), "
        "or with the interpreter on a .mlir file",
    )
    parser.add_argument(
        "--min-cosine",
        type=_limit,
        metavar="X",
        help="with --compare: exit with status 4 when an output's cosine is below X",
    )
    parser.add_argument(
        "--max-error",
        type=_limit,
        metavar="X",
        help="with --compare: exit with status 4 when an output's max abs error is above X",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say what the cycles are spent on, and which three changes would gain most",
    )
    parser.add_argument(
        "--compare-layers",
        action="store_true",
        help="compare every layer with the float network and with the interpreter, bad ones "
        "first (all of them: in --report); needs the folder that tpu-compile wrote",
    )
    parser.add_argument("--report", type=Path, metavar="X.json|-", help="write the figures")
    parser.add_argument("--timeline", type=Path, metavar="X.json[.gz]", help="trace for Perfetto")
    parser.add_argument("--html", type=Path, metavar="X.html", help="a page that shows the run")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="X.json",
        help="compare layers with those of another run, whose --report this is",
    )
    parser.add_argument(
        "--disassemble",
        type=Path,
        nargs="?",
        const=STDOUT,
        metavar="X.asm",
        help="write the program as text (to standard output without X.asm); "
        "it runs only if another output is asked for",
    )


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not 0 or a positive whole number")
    return int(text)


def _limit(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not 0 or a positive number")
    return value


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with one message and a status that is not 0 on a problem."""
    args = _arguments(argv)
    command = command_line("tpu-run", argv)
    sys.exit(guarded(lambda: _run(args, command), show_traceback=args.debug))


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = _parser()
    args = parser.parse_args(argv)
    if args.program is None and args.disassemble not in (None, STDOUT):
        # `--disassemble DIR`: the folder was taken for the option's value.
        args.program, args.disassemble = args.disassemble, STDOUT
    if args.program is None:
        parser.error(f"the following arguments are required: {PROGRAM}")
    if args.compare is None and (args.min_cosine is not None or args.max_error is not None):
        parser.error("--min-cosine and --max-error are limits of --compare MODEL, which is missing")
    if args.preprocess is not None and (args.inputs is None or not is_image(args.inputs)):
        parser.error("--preprocess is for an image given as --inputs")
    return args


def _run(args: argparse.Namespace, command: str) -> None:
    _check_paths(args)
    against = None if args.against is None else read_report(args.against)
    seconds: dict[str, float] = {}
    console = Console(stderr=True, quiet=args.quiet)
    with _timed(seconds, "load"), working(console, f"loading {args.program.name}"):
        program = read_bmodel(bmodel_path(args.program))
        chip = chip_of(program, args.chip)
        inputs: Arrays = {}
        if not args.no_values:
            inputs = run_inputs(
                bmodel_path(args.program), program, args.inputs, args.seed, _preprocess(args)
            )
    if note := rates_note(program, chip):
        console.print(f"note: {note}", highlight=False, soft_wrap=True)
    if args.disassemble == STDOUT:
        sys.stdout.write(disassemble(program))
    elif args.disassemble is not None:
        write_text(args.disassemble, disassemble(program))
    if args.check:
        with working(console, f"checking {args.program.name}"):
            check(program, chip)
    if program.others and (args.find_bad or args.compare_layers):
        raise TpuError(
            "--find-bad and --compare-layers look at one core; compile the network for one"
        )
    total = sum(len(core.tiu) + len(core.gdma) for core in program.cores)
    if args.find_bad:
        with counting(console, "simulating", total) as advance:
            find_bad(args, program, chip, inputs, advance, _origin(args, command, chip))
        return
    if args.disassemble is not None and not _asks_for_a_run(args):
        return
    outputs: Arrays = {}
    if not args.no_values:
        with _timed(seconds, "simulate"), counting(console, "simulating", total) as advance:
            outputs = run_program(program, chip, inputs, args.numerics, lambda command: advance())
    with _timed(seconds, "timeline"), working(console, "timeline"):
        timeline, *others = simulate_program(program, chip)
    comparison: Compared | None = None
    if args.compare is not None:
        with _timed(seconds, "reference"), working(console, f"reference: {args.compare.name}"):
            found = compare_outputs(args.compare, inputs, outputs)
            comparison = (found.reference, found.outputs)
    layers: list[LayerComparison] = []
    if args.compare_layers:
        with _timed(seconds, "layers"), working(console, "comparing layers"):
            layers = compare_layers(args.program, program, chip, inputs)
    report = run_report(program, chip, timeline, comparison, seconds, others)
    report = _origin(args, command, chip) | report
    explanation = explain_program(bmodel_path(args.program), program, timeline, chip)
    report["gap"] = explanation.as_dict()
    count_not_finite(outputs, report)
    if layers:
        report["layer_comparison"] = [row.as_dict() for row in layers]
    _write(args, program, chip, [timeline, *others], outputs, report, against)
    if not args.quiet and STDOUT not in (args.disassemble, args.report):
        print_tables(program, chip, timeline, comparison, report, checked=args.check)
        if args.explain:
            print_explanation(explanation, Console())
        if layers:
            Console().print(comparison_table(layers))
        if against is not None and args.against is not None:
            Console().print(difference_table(report, against, args.against.name))
    limits = Limits(args.min_cosine, args.max_error)
    judge(outputs, report, limits, {} if comparison is None else comparison[1])


def _origin(args: argparse.Namespace, command: str, chip: Chip) -> dict[str, Any]:
    seed = None if args.no_values or args.inputs is not None else args.seed
    return run_origin(command, bmodel_path(args.program), chip, seed, args.inputs)


def _asks_for_a_run(args: argparse.Namespace) -> bool:
    results = (args.outputs, args.report, args.timeline, args.compare, args.html, args.against)
    return args.no_values or args.compare_layers or any(result is not None for result in results)


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Generator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start


def _preprocess(args: argparse.Namespace) -> Given:
    return {} if args.preprocess is None else preprocess_file(args.preprocess)


def _check_paths(args: argparse.Namespace) -> None:
    """Refuse what would only fail after the simulation."""
    if args.no_values:
        refuse_values(args)
    if args.report == args.disassemble == STDOUT:
        raise TpuError("--report - and --disassemble both write to standard output; name a file")
    if args.find_bad:
        refuse_other_reports(args)
    if args.compare is not None and not args.compare.is_file():
        raise TpuError(f"{args.compare}: no such file to compare with")
    if args.against is not None and not args.against.is_file():
        raise TpuError(f"{args.against}: no such report; tpu-run DIR --report X.json writes one")
    if args.compare_layers and not args.program.is_dir():
        raise TpuError(
            f"{args.program}: --compare-layers needs the folder that tpu-compile wrote, with "
            "top.mlir and final.mlir"
        )
    for path in (args.outputs, args.report, args.timeline, args.html, args.disassemble):
        if path not in (None, STDOUT):
            check_writable(path)


def _write(
    args: argparse.Namespace,
    program: Program,
    chip: Chip,
    timelines: Sequence[Timeline],
    outputs: Arrays,
    report: dict[str, Any],
    against: dict[str, Any] | None,
) -> None:
    files: dict[Path, Callable[[IO[bytes]], None]] = {}
    if args.outputs is not None:
        save: Any = np.savez  # its type takes no array called allow_pickle
        files[args.outputs] = lambda stream: save(stream, **outputs)
    if args.timeline is not None:
        text = trace(program, timelines[0], chip, timelines[1:])
        files[args.timeline] = trace_writer(args.timeline, text)
    if args.html is not None:
        groups = read_groups(bmodel_path(args.program).with_name(GROUPS))
        other = None if against is None else (args.against.name, against)
        page = html_report(program, timelines[0], chip, report, groups, other)
        files[args.html] = text_writer(page)
    if args.report == STDOUT:
        print(json.dumps(report, indent=1))
    elif args.report is not None:
        files[args.report] = text_writer(json.dumps(report, indent=1) + "\n")
    write_together(files)
