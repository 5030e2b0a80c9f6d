"""The arguments of `tpu-sweep`."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from xdsl_tpu.tools.arguments import Parser, add_common, count
from xdsl_tpu.tools.choices import QUANTIZE


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tpu-sweep",
        description="Compile models for every chip of a grid and compare the cycles.",
    )
    parser.add_argument(
        "models", type=Path, nargs="+", metavar="MODEL", help=".onnx or Top .mlir files"
    )
    parser.add_argument(
        "--chip-grid",
        default="",
        metavar="GRID",
        help="figures of the chip and their values: 'lanes=32,64,128 ddr_load=29,58'",
    )
    parser.add_argument(
        "--chip", default="bm1684x", help="chip name or .toml that the grid changes (bm1684x)"
    )
    parser.add_argument(
        "--quantize",
        type=_formats,
        default=["F16"],
        metavar="Q,...",
        help=f"number formats, of {', '.join(QUANTIZE)} (default: F16)",
    )
    parser.add_argument(
        "--calibration-table",
        type=Path,
        metavar="FILE",
        help="ranges of all tensors of the one MODEL; INT8 needs it (QDQ not)",
    )
    parser.add_argument(
        "--disable-pass", action="append", default=[], metavar="NAME", help="as in tpu-compile"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("sweep"), metavar="DIR", help="results (sweep)"
    )
    parser.add_argument(
        "--no-values",
        action="store_true",
        help="cycles only, which is all that a sweep computes: as in tpu-run",
    )
    parser.add_argument("--plot", type=Path, metavar="X.png", help="also draw cycles and gap")
    parser.add_argument(
        "--jobs",
        type=count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="compilations at once on this machine (default: one per processor)",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler, as tcp://host:8786, to run them"
    )
    parser.add_argument("--fresh", action="store_true", help="compute finished points again, too")
    add_common(parser)
    return parser


def _formats(text: str) -> list[str]:
    formats = text.upper().split(",")
    for name in formats:
        if name not in QUANTIZE:
            raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(QUANTIZE)}")
    if len(set(formats)) < len(formats):
        raise argparse.ArgumentTypeError("a number format is given twice")
    return formats


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """What is to be compiled and compared; exits with a message on a wrong command line."""
    parser = _parser()
    args = parser.parse_args(argv)
    if args.calibration_table is not None:
        if len(args.models) > 1:
            parser.error("--calibration-table is of one MODEL: sweep the others by themselves")
        if "INT8" not in args.quantize:
            parser.error("--calibration-table is for --quantize INT8")
    return args
