"""The arguments of `tpu-calibrate`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from xdsl_tpu.tools.arguments import (
    Parser,
    add_common,
    add_input_shapes,
    cosine,
    count,
    spread_shapes,
)
from xdsl_tpu.tools.choices import ENGINES, METHODS
from xdsl_tpu.tools.preprocess_arguments import add_preprocessing

PERCENTILE = 99.99
TARGET = 0.99
_BY_PERCENTILE = ("percentile", "auto")


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
        metavar="P",
        help=f"percent of all numbers that method percentile keeps ({PERCENTILE})",
    )
    parser.add_argument("--num", type=count, metavar="N", help="use the first N samples only")
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
        metavar="C",
        help="cosine of the outputs to the float network's that --suggest-mixed shall reach "
        f"({TARGET})",
    )


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0 and 100")
    return value


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """What is to be calibrated, and how; exits with a message on a wrong command line."""
    parser = _parser()
    args = parser.parse_args(spread_shapes(argv))
    if args.percentile is not None and args.method not in _BY_PERCENTILE:
        parser.error("--percentile is for --method percentile or auto")
    if args.target_cosine is not None and not args.suggest_mixed:
        parser.error("--target-cosine is for --suggest-mixed, which is missing")
    args.percentile = PERCENTILE if args.percentile is None else args.percentile
    args.target_cosine = TARGET if args.target_cosine is None else args.target_cosine
    return args
