"""`tpu-run`: a program on the machine model, with its outputs, cycles and timeline."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

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
from xdsl_tpu.tools.array_files import arrays_writer, check_results
from xdsl_tpu.tools.check import check
from xdsl_tpu.tools.compare_layers import LayerComparison, compare_layers, comparison_table
from xdsl_tpu.tools.errors import guarded
from xdsl_tpu.tools.explain import explain_program, print_explanation
from xdsl_tpu.tools.files import (
    check_apart,
    text_writer,
    trace_writer,
    write_text,
    write_together,
)
from xdsl_tpu.tools.find_bad import find_bad, refuse_other_reports
from xdsl_tpu.tools.folder import GROUPS
from xdsl_tpu.tools.overflow import Overflow, overflow_note
from xdsl_tpu.tools.preprocess_arguments import preprocessing
from xdsl_tpu.tools.progress import counting, working
from xdsl_tpu.tools.provenance import command_line, stale_note
from xdsl_tpu.tools.provenance import run as run_origin
from xdsl_tpu.tools.run_inputs import run_inputs
from xdsl_tpu.tools.run_tables import Compared, difference_table, print_tables
from xdsl_tpu.tools.tpu_run_arguments import STDOUT, arguments
from xdsl_tpu.tools.verdict import Limits, count_not_finite, judge, refuse_values

Arrays = Mapping[str, npt.NDArray[Any]]


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with one message and a status that is not 0 on a problem."""
    run(arguments(argv), argv)


def run(args: argparse.Namespace, argv: Sequence[str] | None = None) -> NoReturn:
    """Carry out a command line that has been read, and exit as `main` does."""
    command = command_line("tpu-run", argv)
    sys.exit(guarded(lambda: _run(args, command), show_traceback=args.debug))


@dataclass(frozen=True)
class _Run:
    """A program with the inputs of a run; stages show their progress and note their seconds."""

    args: argparse.Namespace
    command: str
    console: Console
    program: Program
    chip: Chip
    inputs: Arrays
    seconds: dict[str, float]

    @property
    def commands(self) -> int:
        """Of all cores."""
        return sum(len(core.tiu) + len(core.gdma) for core in self.program.cores)

    def origin(self) -> dict[str, Any]:
        """What a report says of where it comes from."""
        return _origin(self.args, self.command, self.chip)


@dataclass(frozen=True)
class _Found:
    """What came of a run."""

    outputs: Arrays
    timelines: Sequence[Timeline]
    comparison: Compared | None
    layers: Sequence[LayerComparison]
    overflow: Overflow


def _run(args: argparse.Namespace, command: str) -> None:
    _check_paths(args)
    against = None if args.against is None else read_report(args.against)
    run = _loaded(args, command)
    _look_at(run)
    if args.find_bad:
        with counting(run.console, "simulating", run.commands) as advance:
            find_bad(args, run.program, run.chip, run.inputs, advance, run.origin())
    elif args.disassemble is None or _asks_for_a_run(args):
        _report(run, _simulated(run), against)


def _loaded(args: argparse.Namespace, command: str) -> _Run:
    seconds: dict[str, float] = {}
    console, file = Console(stderr=True, quiet=args.quiet), bmodel_path(args.program)
    with _timed(seconds, "load"), working(console, f"loading {args.program.name}"):
        program = read_bmodel(file)
        check_results(args.outputs, len(program.outputs))
        chip = chip_of(program, args.chip)
        inputs: Arrays = {}
        if not args.no_values:
            inputs = run_inputs(file, program, args.inputs, args.seed, preprocessing(args))
    return _Run(args, command, console, program, chip, inputs, seconds)


def _look_at(run: _Run) -> None:
    """What can be said of a program without running it."""
    args, program = run.args, run.program
    if note := rates_note(program, run.chip):
        run.console.print(f"note: {note}", highlight=False, soft_wrap=True)
    if args.compare is not None and (note := stale_note(bmodel_path(args.program), args.compare)):
        run.console.print(f"note: {note}", highlight=False, soft_wrap=True)
    if args.disassemble == STDOUT:
        sys.stdout.write(disassemble(program))
    elif args.disassemble is not None:
        write_text(args.disassemble, disassemble(program))
    if args.check:
        with working(run.console, f"checking {args.program.name}"):
            check(program, run.chip)
    if args.ddr is not None and not program.others:
        raise TpuError("--ddr is about cores that share DDR; this program is for one core")
    if program.others and (args.find_bad or args.compare_layers):
        raise TpuError(
            "--find-bad and --compare-layers look at one core; compile the network for one"
        )


def _simulated(run: _Run) -> _Found:
    args, program, chip, seconds, console = (
        run.args,
        run.program,
        run.chip,
        run.seconds,
        run.console,
    )
    outputs: Arrays = {}
    overflow = Overflow()
    if not args.no_values:
        with _timed(seconds, "simulate"), counting(console, "simulating", run.commands) as advance:
            outputs = run_program(
                program,
                chip,
                run.inputs,
                args.numerics,
                lambda command: advance(),
                overflow.commands.append,
            )
    with _timed(seconds, "timeline"), working(console, "timeline"):
        timelines = simulate_program(program, chip, args.ddr or "each")
    comparison: Compared | None = None
    if args.compare is not None:
        with _timed(seconds, "reference"), working(console, f"reference: {args.compare.name}"):
            found = compare_outputs(args.compare, run.inputs, outputs)
            comparison = (found.reference, found.outputs)
    layers: list[LayerComparison] = []
    if args.compare_layers:
        with _timed(seconds, "layers"), working(console, "comparing layers"):
            layers = compare_layers(args.program, program, chip, run.inputs)
    return _Found(outputs, timelines, comparison, layers, overflow)


def _report(run: _Run, found: _Found, against: dict[str, Any] | None) -> None:
    """Write and show what was asked for, and judge the outputs."""
    args, program, chip = run.args, run.program, run.chip
    timelines, ddr = found.timelines, args.ddr or "each"
    report = run_report(program, chip, timelines, found.comparison, run.seconds, ddr)
    report = run.origin() | report
    explanation = explain_program(bmodel_path(args.program), program, timelines, chip)
    report["gap"] = explanation.as_dict()
    count_not_finite(found.outputs, report)
    if overflowed := found.overflow.layers(program):
        report["overflowed"] = overflowed
    if note := overflow_note(report):
        run.console.print(f"note: {note}", highlight=False, soft_wrap=True)
    if found.layers:
        report["layer_comparison"] = [row.as_dict() for row in found.layers]
    _write(args, program, chip, found.timelines, found.outputs, report, against)
    if not args.quiet and STDOUT not in (args.disassemble, args.report):
        print_tables(program, chip, found.comparison, report, checked=args.check)
        if args.explain:
            print_explanation(explanation, Console())
        if found.layers:
            Console().print(comparison_table(found.layers))
        if against is not None and args.against is not None:
            Console().print(difference_table(report, against, args.against.name))
    limits = Limits(args.min_cosine, args.max_error)
    judge(found.outputs, report, limits, {} if found.comparison is None else found.comparison[1])


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
    named = (args.outputs, args.report, args.timeline, args.html, args.disassemble)
    check_apart([path for path in named if path not in (None, STDOUT)])


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
        files[args.outputs] = arrays_writer(args.outputs, outputs)
    if args.timeline is not None:
        text = trace(program, timelines, chip)
        files[args.timeline] = trace_writer(args.timeline, text)
    if args.html is not None:
        groups = read_groups(bmodel_path(args.program).with_name(GROUPS))
        other = None if against is None else (args.against.name, against)
        page = html_report(program, timelines, chip, report, groups, other)
        files[args.html] = text_writer(page)
    if args.report == STDOUT:
        print(json.dumps(report, indent=1))
    elif args.report is not None:
        files[args.report] = text_writer(json.dumps(report, indent=1) + "\n")
    write_together(files)
