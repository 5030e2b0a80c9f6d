"""Arguments that several of the command-line tools take."""

import argparse
from importlib.metadata import version


def parse_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """NAME=1x3x224x224; the name may contain '='."""
    name, separator, sizes = text.rpartition("=")
    try:
        shape = tuple(int(size) for size in sizes.split("x"))
    except ValueError:
        shape = ()
    if not separator or not name or not shape or min(shape) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form NAME=1x3x224x224")
    return name, shape


def add_input_shapes(parser: argparse.ArgumentParser) -> None:
    """--input-shapes, pairs of a name and a shape."""
    parser.add_argument(
        "--input-shapes",
        type=parse_shape,
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=SHAPE",
        help="shapes of inputs with dynamic dimensions, as NAME=1x3x224x224",
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    """--quiet, --debug and --version."""
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    shown = f"{parser.prog} {version('xdsl-tpu')}"
    parser.add_argument("--version", action="version", version=shown)


def cosine(text: str) -> float:
    """A cosine to reach: between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0 and 1")
    return value
