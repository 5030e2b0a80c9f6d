"""The arguments of `tpu-generate`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from xdsl_tpu.tools.arguments import Parser, add_common, count


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="tpu-generate",
        description="Generate text with a language model on the machine model of a BM1684X.",
    )
    parser.add_argument("model", type=Path, metavar="DIR", help="what tpu-compile made of a model")
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--prompt", metavar="TEXT", help="how the text begins")
    start.add_argument(
        "--ids", type=int, nargs="+", metavar="ID", help="the same in tokens, without a tokenizer"
    )
    parser.add_argument("--tokens", type=count, default=32, metavar="N", help="at most (32)")
    _add_drawing(parser)
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of drawing (0)")
    parser.add_argument(
        "--lookup",
        type=count,
        default=1,
        metavar="N",
        help="up to N tokens in one step, guessed from the text before, where the model has nets "
        "for that (1)",
    )
    parser.add_argument("--no-values", action="store_true", help="times only, at once")
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FOLDER",
        help="compare logits with a float reference of the model in this folder, its weights "
        "quantised as the program's",
    )
    parser.add_argument("--report", type=Path, metavar="X.json", help="write the figures")
    parser.add_argument("--chip", help="chip name or .toml description (default: the model's)")
    add_common(parser)
    return parser


def _add_drawing(parser: argparse.ArgumentParser) -> None:
    """How a token is chosen."""
    parser.add_argument(
        "--sample",
        action="store_true",
        help="draw from the chances that the model's net sample_head gives the 50 best tokens, by "
        "the generation_config.json of the model as far as not said otherwise",
    )
    parser.add_argument("--temperature", type=_share, metavar="T", help="0 is greedy (0)")
    parser.add_argument("--top-k", type=int, metavar="K", help="draw from the K best (0: all)")
    parser.add_argument(
        "--top-p", type=_share, metavar="P", help="draw from the best with share P (1)"
    )
    parser.add_argument(
        "--repetition-penalty",
        type=_share,
        metavar="P",
        help="with --sample: what logits of tokens of the text are divided by (1)",
    )


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is not 0 or a positive number")
    return value


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """What is to be generated; exits with a message on a wrong command line."""
    return _parser().parse_args(argv)
