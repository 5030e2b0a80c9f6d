"""Arguments that several of the command-line tools take."""

import argparse
import re
import shutil
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

_SHAPES = "--input-shapes"
_ELSEWHERE = {
    **dict.fromkeys(("--target", "--processor", "--arch", "--device"), "--chip"),
    **dict.fromkeys(("--batch", "--batch-size", "--shape", "--shapes"), _SHAPES),
    **dict.fromkeys(("--precision", "--dtype", "--type", "--mode"), "--quantize"),
    **dict.fromkeys(("--fp16", "--bf16", "--fp32", "--int8"), "--quantize"),
    **dict.fromkeys(("--reference", "--golden", "--verify"), "--compare"),
    **dict.fromkeys(("--profile", "--trace"), "--timeline"),
}
"""What other compilers and runtimes call options; each is suggested by tools that have it."""
_LIKE = 0.7
_SHAPE = re.compile(r"=\d+(?:x\d+)*$")


class Parser(argparse.ArgumentParser):
    """A parser of a tool's arguments that says what is wrong in a line, not in a page of usage."""

    def __init__(self, prog: str, description: str) -> None:
        super().__init__(
            prog=prog, description=description, allow_abbrev=False, formatter_class=help_format
        )
        self.register("type", Path, _path)

    def error(self, message: str) -> NoReturn:
        """Exit with status 2, the message and, for an option that is misspelt or called so
        elsewhere, the one that is meant."""
        found = re.search(r"unrecognized arguments: (--[^\s=]+)", message)
        known = [name for action in self._actions for name in action.option_strings]
        near = get_close_matches(found[1], known, 1, _LIKE) if found else []
        if found and _ELSEWHERE.get(found[1]) in known:
            near = [_ELSEWHERE[found[1]]]
        hint = f"; did you mean {near[0]}?" if near else ""
        usage = f"usage: {self.prog} [options] ..., {self.prog} --help lists them"
        self.exit(2, f"{usage}\n{self.prog}: error: {message}{hint}\n")


def _path(text: str) -> Path:
    """A file or folder; `Path("")` would be the current folder, where a variable is not set."""
    if not text:
        raise argparse.ArgumentTypeError("a name of no letters is no file")
    return Path(text)


class _Shape(argparse.Action):
    """Collects shapes by name."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        given = getattr(namespace, self.dest)
        if values[0] in dict(given):
            raise argparse.ArgumentError(self, f"the shape of '{values[0]}' is given twice")
        setattr(namespace, self.dest, [*given, values])


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


def spread_shapes(argv: Sequence[str] | None) -> list[str]:
    """A command line in which every shape has its own `--input-shapes`.

    argparse would take a model that follows `--input-shapes x=1x3x8x8` for one more shape.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    spread: list[str] = []
    taking = False
    for word in given:
        if taking and (spread[-1] == _SHAPES or _SHAPE.search(word)):
            spread += [word] if spread[-1] == _SHAPES else [_SHAPES, word]
            continue
        taking = word == _SHAPES
        spread.append(word)
    return spread


def help_format(prog: str) -> argparse.HelpFormatter:
    """Help within the terminal, and within 100 columns."""
    columns = shutil.get_terminal_size().columns
    return argparse.HelpFormatter(prog, width=min(100, columns - 2))


def add_input_shapes(parser: argparse.ArgumentParser) -> None:
    """--input-shapes, pairs of a name and a shape, of a command line after `spread_shapes`."""
    parser.add_argument(
        _SHAPES,
        type=parse_shape,
        action=_Shape,
        default=[],
        metavar="NAME=SHAPE",
        help="shapes of inputs with dynamic dimensions, as NAME=1x3x224x224; several may follow",
    )


def add_common(parser: argparse.ArgumentParser) -> None:
    """-q, --debug and --version."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")
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


def count(text: str) -> int:
    """How many: 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)
