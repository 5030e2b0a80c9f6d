"""The arguments of `tpu-run`."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from xdsl_tpu.tools.arguments import Parser, add_common
from xdsl_tpu.tools.find_bad import add_find_bad
from xdsl_tpu.tools.image_files import is_image
from xdsl_tpu.tools.preprocess_arguments import add_preprocessing, options_given

PROGRAM = "DIR|X.bmodel"
STDOUT = Path("-")
"""What `--disassemble` and `--report` write to when it is given for a file."""


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tpu-run",
        description="Run a program on the machine model.",
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
        help="arrays by name, or one; an image, with how it becomes the input",
    )
    source.add_argument("--seed", type=_seed, default=0, metavar="N", help="random inputs (0)")
    parser.add_argument(
        "--outputs",
        type=Path,
        metavar="X.npz|X.npy",
        help="write the outputs, by name, or the only one",
    )
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
    parser.add_argument(
        "--ddr",
        choices=("each", "shared"),
        help="of programs for several cores, in cycles, timeline, page and report: each core has "
        "all of the bandwidth of DDR (default), or they share it",
    )
    add_find_bad(parser)
    add_common(parser)
    add_preprocessing(parser, "an image as --inputs", "how it becomes the program's input")
    return parser


def _add_reports(parser: argparse.ArgumentParser) -> None:
    """What is to be compared, written and shown."""
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="MODEL|X.npz",
        help="compare with onnxruntime on an ONNX model (stripped graphs are refilled), with the "
        "interpreter on a .mlir file, or with arrays, as --outputs of another run",
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


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """What is to be run and written; exits with a message on what does not go together."""
    parser = _parser()
    args = parser.parse_args(argv)
    if args.program is None and args.disassemble not in (None, STDOUT):
        # `--disassemble DIR`: the folder was taken for the option's value.
        args.program, args.disassemble = args.disassemble, STDOUT
    if args.program is None:
        parser.error(f"the following arguments are required: {PROGRAM}")
    if args.compare is None and (args.min_cosine is not None or args.max_error is not None):
        parser.error("--min-cosine and --max-error are limits of --compare MODEL, which is missing")
    if args.saturated is not None and not args.find_bad:
        parser.error("--saturated is for --find-bad, which is missing")
    if (said := options_given(args)) and (args.inputs is None or not is_image(args.inputs)):
        parser.error(f"{said[0]} is for an image given as --inputs")
    return args
