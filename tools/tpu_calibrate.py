"""`tpu-calibrate`: the range of every tensor of a model, as a table for INT8."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from rich.console import Console
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.tools.calibrate_model import (
    Samples,
    calibrate_model,
    canonical_top,
    count_samples,
    make_engine,
    samples_for,
)
from xdsl_tpu.tools.calibration_data import Source
from xdsl_tpu.tools.engines import Engine
from xdsl_tpu.tools.errors import guarded
from xdsl_tpu.tools.files import check_writable, require_file, write_text
from xdsl_tpu.tools.mixing.automatic import AUTO, Quantised, Wanted
from xdsl_tpu.tools.mixing.journal import SUFFIX, FileJournal, Journal, Subject
from xdsl_tpu.tools.mixing.network import Network
from xdsl_tpu.tools.preprocess_arguments import preprocessing
from xdsl_tpu.tools.progress import counting, working
from xdsl_tpu.tools.quantise_model import described, kept, modes_text, quantise_model, subject_of
from xdsl_tpu.tools.tpu_calibrate_arguments import arguments


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with status 1 and one message on a problem."""
    run(arguments(argv))


def run(args: argparse.Namespace) -> NoReturn:
    """Carry out a command line that has been read, and exit as `main` does."""
    sys.exit(guarded(lambda: _run(args), show_traceback=args.debug))


def _run(args: argparse.Namespace) -> None:
    require_file(args.model)
    mixed: Path = args.output.with_suffix(".qtable")
    if args.suggest_mixed and mixed == args.output:
        raise TpuError(f"{mixed}: the quantize table would go there, too; choose another TABLE")
    source = Source(args.dataset, preprocessing(args))
    for path in (args.output, mixed)[: 2 if args.suggest_mixed else 1]:
        check_writable(path)
    console = Console(stderr=True, quiet=args.quiet)
    with working(console, f"reading {args.model.name}"):
        module = canonical_top(args.model, dict(args.input_shapes), args.disable_pass)
        samples = samples_for(module, source)
        engine = make_engine(module, args.model, args.engine)
        searches = args.suggest_mixed or args.bias_correction or args.method == AUTO
        subject = subject_of(module, args.engine, samples, args.num) if searches else None
        total = 0 if searches else count_samples(samples, args.num)
    if subject is not None:
        with _journal(args.output, subject, console) as journal:
            _quantise(args, console, module, engine, samples, mixed, journal)
        return
    with counting(console, "calibrating", total * (1 if args.method == "max" else 2)) as advance:
        table = calibrate_model(
            module, engine, samples, args.method, args.num, args.percentile, advance
        )
    _write(args.output, table, console)


def _write(path: Path, table: CalibrationTable, console: Console) -> None:
    write_text(path, table.text())
    console.print(f"{len(table.thresholds)} tensors, written to {path}", highlight=False)


def _journal(table: Path, subject: Subject, console: Console) -> FileJournal:
    """The journal beside a table, and a line on what it knows."""
    path = table.with_name(table.name + SUFFIX)
    check_writable(path)
    journal = FileJournal(path, subject)
    if journal.begins:
        console.print(journal.begins, highlight=False)
    return journal


def _quantise(
    args: argparse.Namespace,
    console: Console,
    module: ModuleOp,
    engine: Engine,
    samples: Samples,
    path: Path,
    journal: Journal,
) -> None:
    """Write the tables, and say what they are worth and what they cost."""
    corrects = True if args.bias_correction else (None if args.method == AUTO else False)
    target = args.target_cosine if args.suggest_mixed else None
    wanted = Wanted(args.method, args.percentile, corrects, target)
    with _steps(console, args.model.name) as (on_step, on_trial):
        found = quantise_model(
            *(module, engine, samples, wanted, args.num),
            on_step=on_step,
            on_trial=on_trial,
            journal=journal,
        )
        cycles = _cycles(module, found, journal) if args.suggest_mixed else None
    _write(args.output, found.table, console)
    if cycles is not None:
        write_text(path, modes_text(found, args.target_cosine, cycles))
    if args.quiet:
        return
    gained = f"cosine {found.cosine:.6f} -> {found.reached:.6f}"
    if cycles is None:
        print(f"method {described(found)}: cosine {found.cosine:.6f} on the samples")
        return
    cost = f"cycles {cycles[0]:,} -> {cycles[1]:,}"
    print(f"method {described(found)}; {kept(found.modes)}, written to {path}: {gained}, {cost}")


def _cycles(module: ModuleOp, found: Quantised, journal: Journal) -> tuple[int, int]:
    """What the compiled network takes without and with layers in wider formats."""
    with tempfile.TemporaryDirectory() as folder:
        network = Network(module, [], Path(folder), journal=journal)
        before = network.cycles(found.table, {})
        return before, network.cycles(found.table, found.modes) if found.modes else before


@contextmanager
def _steps(
    console: Console, name: str
) -> Generator[tuple[Callable[[str], None], Callable[[], None]]]:
    """What is being done, and how much has been measured."""
    step, trials = "starting", 0
    with working(console, step) as update:

        def show() -> None:
            tried = f": {trials} measured" if trials else ""
            update(f"{name}: {step}{tried}")

        def on_step(text: str) -> None:
            nonlocal step
            step = text
            show()

        def on_trial() -> None:
            nonlocal trials
            trials += 1
            show()

        yield on_step, on_trial
