"""The arguments of `tpu-compile`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from xdsl_tpu.dialects.packed_weights import FORMATS as PACKED
from xdsl_tpu.tools.arguments import (
    Parser,
    add_common,
    add_input_shapes,
    cosine,
    spread_shapes,
)
from xdsl_tpu.tools.choices import QUANTIZE
from xdsl_tpu.tools.llm.arguments import add_language_model
from xdsl_tpu.tools.preprocess_arguments import add_preprocessing


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tpu-compile",
        description="Compile an ONNX model, Top IR, a OneFlow job or a language model to a BM1684X "
        "program.",
    )
    parser.add_argument(
        "model",
        type=Path,
        nargs="?",
        metavar="MODEL",
        help=".onnx file, or .mlir file of Top IR or a OneFlow job",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="default: MODEL's name")
    _add_formats(parser)
    add_language_model(parser)
    add_input_shapes(parser)
    add_preprocessing(parser)
    parser.add_argument(
        "--weights",
        type=Path,
        metavar="X.npz",
        help="weights of a .mlir file that names none (default for OneFlow: MODEL's name, .npz)",
    )
    parser.add_argument(
        "--transfer-layout",
        metavar="OPTIONS",
        help='remove transpositions around ops first, for instance "target=NCHW cost=cycles"',
    )
    parser.add_argument(
        "--disable-pass",
        action="append",
        default=[],
        metavar="NAME",
        help="leave out an optional pass, or a rewrite pattern by its name; may be repeated",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="compile nothing: list every op that is not supported, and what to do about it",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say what the program's cycles are spent on, and which three changes would gain most",
    )
    add_common(parser)
    return parser


def _add_formats(parser: argparse.ArgumentParser) -> None:
    """The chip, and the number format of every op."""
    parser.add_argument(
        "--chip", default="bm1684x", help="chip name or .toml description (default: bm1684x)"
    )
    parser.add_argument(
        "--cores",
        type=int,
        default=1,
        metavar="N",
        help="how many of the chip's cores the program is for (default: 1)",
    )
    parser.add_argument(
        "--quantize",
        type=str.upper,
        choices=(*QUANTIZE, *PACKED),
        default=None,
        metavar="FORMAT",
        help=f"number format of the program (default: F16): {', '.join(QUANTIZE)}; "
        f"{', '.join(PACKED)}: matrices in 4 or 8 bits; with --llm no F32 or INT8",
    )
    parser.add_argument(
        "--calibration-table",
        type=Path,
        metavar="FILE",
        help="ranges of all tensors, as tpu-calibrate writes them; INT8 needs it (QDQ not)",
    )
    parser.add_argument(
        "--asymmetric",
        action="store_true",
        help="INT8 with zero points: ranges from end to end instead of on both sides of zero",
    )
    parser.add_argument(
        "--calibrate-with",
        type=Path,
        metavar="DIR|X.npz|random",
        help="sample inputs, as tpu-calibrate takes them, to make tables from: ranges for INT8, "
        "layers whose numbers F16 does not hold",
    )
    parser.add_argument(
        "--min-cosine",
        type=cosine,
        metavar="C",
        help="with --calibrate-with: cosine of the outputs to the float network's that thresholds, "
        "corrected biases and layers in wider formats shall reach on the samples",
    )
    parser.add_argument(
        "--quantize-table",
        type=Path,
        metavar="FILE",
        help="lines 'op_name mode' for ops in another number format than --quantize",
    )


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """What is to be compiled; exits with a message on what does not go together."""
    parser = _parser()
    args = parser.parse_args(spread_shapes(argv))
    if (args.model is None) == (args.llm is None):
        parser.error("give a MODEL, or --llm FOLDER")
    return args
