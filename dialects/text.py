"""Modules as MLIR text: read, and written back byte for byte as mlir-opt writes it."""

from functools import cache
from io import StringIO
from pathlib import Path
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, UnknownLoc
from xdsl.dialects.func import Func
from xdsl.ir import Dialect, Operation

from xdsl_tpu.dialects._text_parser import MlirParser
from xdsl_tpu.dialects._text_printer import MlirPrinter
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.order import check_order
from xdsl_tpu.dialects.quant import Quant
from xdsl_tpu.dialects.sbp import Sbp

__all__ = [
    "MlirParser",
    "has_locations",
    "make_context",
    "module_text",
    "parse_module",
    "print_module",
    "read_module",
]


def _load_top() -> Dialect:
    from xdsl_tpu.dialects.top import Top

    return Top


def _load_tile() -> Dialect:
    from xdsl_tpu.dialects.tile import Tile

    return Tile


def _load_tpu() -> Dialect:
    from xdsl_tpu.dialects.tpu import Tpu

    return Tpu


def _load_oneflow() -> Dialect:
    from xdsl_tpu.dialects.oneflow import OneFlow

    return OneFlow


def make_context() -> Context:
    """A context that knows every dialect of the project; those with ops load when first used."""
    return _unused_context().clone()


@cache
def _unused_context() -> Context:
    """The one that all others are copies of."""
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Func)
    ctx.load_dialect(Quant)
    ctx.load_dialect(Sbp)
    ctx.register_dialect("top", _load_top)
    ctx.register_dialect("tpu", _load_tpu)
    ctx.register_dialect("tile", _load_tile)
    ctx.register_dialect("oneflow", _load_oneflow)
    return ctx


@cache
def _own_context() -> Context:
    """The one of all texts that are read without another: reading loads dialects, and no more."""
    return make_context()


def parse_module(text: str, name: str = "<string>", ctx: Context | None = None) -> ModuleOp:
    """Parse one module from MLIR text; `name` stands for the file in messages.

    Raises:
        ParseError: the text is malformed, at the position it names. An op or attribute that no
            dialect declares is an error, too, unless `ctx` allows unregistered ones.
        TpuError: an op uses a value that is not made before it.
    """
    parser = MlirParser(_own_context() if ctx is None else ctx, text, name)
    module = parser.parse_module()
    check_order(module, name)
    info = module_info(module)
    info.ends_with_blank_line = text.endswith("\n\n")
    info.names_aliases = parser.names_aliases
    info.source = parser.source
    return module


def read_module(path: str | Path, ctx: Context | None = None) -> ModuleOp:
    """Parse a file; file names inside the module are then relative to its directory.

    Raises:
        TpuError: the file cannot be read.
        ParseError: as for `parse_module`.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise TpuError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TpuError(f"{file} is not UTF-8 text: byte {error.start} is not valid") from error
    module = parse_module(text, str(file), ctx)
    module_info(module).base_dir = file.resolve().parent
    return module


def print_module(
    module: ModuleOp,
    stream: IO[str],
    locations: bool = True,
    generic: bool = False,
    inline: bool = False,
) -> None:
    """Write a module as mlir-opt does, with or without the locations, i.e. the tensor names.

    With `generic` every op is written in the generic form. With `inline` a location stands where it
    belongs, a form that xDSL's own tools read; without, it is an alias that the end of the text
    defines, as mlir-opt has it. A module none of whose ops has a location is written without them.
    A module that was read from text ending in an empty line ends in one again.
    """
    printer = MlirPrinter(stream, module, locations and has_locations(module), inline)
    printer.print_generic_format = generic
    printer.print_all()
    if module_info(module).ends_with_blank_line:
        stream.write("\n")


def module_text(module: ModuleOp, locations: bool = True) -> str:
    """What `print_module` writes."""
    stream = StringIO()
    print_module(module, stream, locations)
    return stream.getvalue()


def has_locations(module: ModuleOp) -> bool:
    """Whether any op or block argument in the module has a known location."""
    return any(map(_is_located, module.walk()))


def _is_located(op: Operation) -> bool:
    if not isinstance(op.location, UnknownLoc):
        return True
    arguments = (arg for region in op.regions for block in region.blocks for arg in block.args)
    return any(not isinstance(arg.location, UnknownLoc) for arg in arguments)
