"""`tpu-calibrate`: the range of every tensor of a model, as a table for INT8."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.calibration.table import CalibrationTable
from xdsl_tpu.tools.arguments import add_common, add_input_shapes
from xdsl_tpu.tools.calibrate_model import (
    ENGINES,
    calibrate_model,
    canonical_top,
    count_samples,
    input_shapes_of,
    make_engine,
)
from xdsl_tpu.tools.calibration_data import Dataset, dataset
from xdsl_tpu.tools.errors import guarded
from xdsl_tpu.tools.files import check_writable, write_text
from xdsl_tpu.tools.progress import counting, working
from xdsl_tpu.tools.suggest_mixed import suggest_mixed

METHODS = ("max", "percentile", "kl", "mse")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tpu-calibrate",
        description="Find the range of every tensor of a model on sample inputs.",
        allow_abbrev=False,
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help=".onnx file or Top .mlir file")
    parser.add_argument(
        "--dataset",
        type=Path,
        required=True,
        metavar="DIR|X.npz",
        help="sample inputs: arrays by input name, one sample or several each",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="TABLE", help="the table to write"
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="max",
        help="max keeps the largest magnitude; percentile, kl and mse may clip outliers (max)",
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
    parser.add_argument(
        "--disable-pass",
        action="append",
        default=[],
        metavar="NAME",
        help="as in tpu-compile, where patterns that are left out leave other tensors",
    )
    parser.add_argument(
        "--suggest-mixed",
        action="store_true",
        help="also look for the fewest layers to keep in F16, and write them as a quantize table "
        "beside TABLE, with suffix .qtable",
    )
    parser.add_argument(
        "--target-cosine",
        type=_cosine,
        default=0.99,
        metavar="C",
        help="cosine of the outputs to the float network's that --suggest-mixed shall reach (0.99)",
    )
    add_common(parser)
    return parser


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0 and 100")
    return value


def _cosine(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0 and 1")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point; exits with status 1 and one message on a problem."""
    args = _parser().parse_args(argv)
    sys.exit(guarded(lambda: _run(args), show_traceback=args.debug))


def _run(args: argparse.Namespace) -> None:
    if not args.model.is_file():
        raise TpuError(f"{args.model}: no such file")
    mixed: Path = args.output.with_suffix(".qtable")
    if args.suggest_mixed and mixed == args.output:
        raise TpuError(f"{mixed}: the quantize table would go there, too; choose another TABLE")
    for path in (args.output, mixed)[: 2 if args.suggest_mixed else 1]:
        check_writable(path)
    console = Console(stderr=True, quiet=args.quiet)
    with working(console, f"reading {args.model.name}"):
        module = canonical_top(args.model, dict(args.input_shapes), args.disable_pass)
        samples = dataset(args.dataset, input_shapes_of(module))
        total = count_samples(samples, args.num) * (1 if args.method == "max" else 2)
        engine = make_engine(module, args.model, args.engine)
    with counting(console, "calibrating", total) as advance:
        table = calibrate_model(
            module, engine, args.dataset, args.method, args.num, args.percentile, advance
        )
    write_text(args.output, table.text())
    console.print(f"{len(table.thresholds)} tensors, written to {args.output}", highlight=False)
    if args.suggest_mixed:
        _suggest(args, console, mixed, table, samples)


SAMPLES = 2
"""How many samples accuracy is measured on."""


def _suggest(
    args: argparse.Namespace,
    console: Console,
    path: Path,
    table: CalibrationTable,
    samples: Dataset,
) -> None:
    """Write the quantize table, and say what it is worth and what it costs."""
    limit = SAMPLES if args.num is None else min(SAMPLES, args.num)
    inputs = [sample for _, sample in samples.samples(limit)]
    trials = 0
    with working(console, "looking for layers to keep in F16") as update:

        def on_trial() -> None:
            nonlocal trials
            trials += 1
            update(f"looking for layers to keep in F16: {trials} networks tried")

        found = suggest_mixed(
            lambda: canonical_top(args.model, dict(args.input_shapes), args.disable_pass),
            table,
            inputs,
            args.target_cosine,
            on_trial=on_trial,
        )
    write_text(path, found.text(args.target_cosine))
    if not args.quiet:
        gained = f"cosine {found.cosine_before:.6f} -> {found.cosine_after:.6f}"
        cost = f"cycles {found.cycles_before:,} -> {found.cycles_after:,}"
        print(f"{len(found.layers)} layers in F16, written to {path}: {gained}, {cost}")
