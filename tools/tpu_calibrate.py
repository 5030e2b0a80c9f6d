"""`tpu-calibrate`: the range of every tensor of a model, as a table for INT8."""

import argparse
import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.tools.arguments import (
    Parser,
    add_common,
    add_input_shapes,
    cosine,
    spread_shapes,
)
from xdsl_tpu.tools.calibrate_model import (
    ENGINES,
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
from xdsl_tpu.tools.files import check_writable, write_text
from xdsl_tpu.tools.mixing.automatic import AUTO, Quantised, Wanted
from xdsl_tpu.tools.mixing.journal import SUFFIX, FileJournal, Journal, Subject
from xdsl_tpu.tools.mixing.network import Network
from xdsl_tpu.tools.preprocess_arguments import add_preprocessing, preprocessing
from xdsl_tpu.tools.progress import counting, working
from xdsl_tpu.tools.quantise_model import described, kept, modes_text, quantise_model, subject_of

METHODS = ("max", "percentile", "kl", "mse", AUTO)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tpu-calibrate",
        description="Find the range of every tensor of a model on sample inputs.",
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help=".onnx file or Top .mlir file")
    parser.add_argument(
        "--dataset",
        type=Path,
        required=True,
        metavar="DIR|X.npz|random",
        help="sample inputs: arrays by input name, one sample or several each; images, with how "
        "the network takes them; random: eight of noise, and of ids within their tables",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="TABLE", help="the table to write"
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="max",
        help="max keeps the largest magnitude; percentile, kl and mse may clip outliers; auto "
        "takes the one whose network is closest to the float one on two samples (max)",
    )
    parser.add_argument(
        "--percentile",
        type=_percent,
        default=99.99,
        metavar="P",
        help="percent of all numbers that method percentile keeps (99.99)",
    )
    parser.add_argument("--num", type=_count, metavar="N", help="use the first N samples only")
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="auto",
        help="what runs the model; auto: onnxruntime for .onnx files if installed",
    )
    add_input_shapes(parser)
    add_preprocessing(parser)
    parser.add_argument(
        "--disable-pass",
        action="append",
        default=[],
        metavar="NAME",
        help="as in tpu-compile, where patterns that are left out leave other tensors",
    )
    _add_searches(parser)
    add_common(parser)
    return parser


def _add_searches(parser: argparse.ArgumentParser) -> None:
    """What is looked for by running the network in 8 bits."""
    parser.add_argument(
        "--bias-correction",
        action="store_true",
        help="also measure the mean error of every output channel, which INT8 takes from its bias; "
        "method auto does so where it helps",
    )
    parser.add_argument(
        "--suggest-mixed",
        action="store_true",
        help="also look for layers to keep in F16 (or wider) that cost few cycles, and write them "
        "as a quantize table beside TABLE, with suffix .qtable; a search that was stopped goes on "
        "from TABLE.journal",
    )
    parser.add_argument(
        "--target-cosine",
        type=cosine,
        default=0.99,
        metavar="C",
        help="cosine of the outputs to the float network's that --suggest-mixed shall reach (0.99)",
    )


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0 and 100")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with status 1 and one message on a problem."""
    args = _parser().parse_args(spread_shapes(argv))
    sys.exit(guarded(lambda: _run(args), show_traceback=args.debug))


def _run(args: argparse.Namespace) -> None:
    if not args.model.is_file():
        raise TpuError(f"{args.model}: no such file")
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
    if journal.begun_anew:
        differs = ", ".join(journal.begun_anew)
        console.print(f"{path}: begun anew, because these differ: {differs}", highlight=False)
    elif journal.resumed:
        console.print(f"{path}: {journal.resumed} measurements are done already", highlight=False)
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
