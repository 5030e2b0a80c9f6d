"""Inputs and outputs that lie apart from the arena, so that they outlive a run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import I64_ARRAY, I64Array, ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.language_models import IO_ROOMS, KEPT_INPUTS
from xdsl_tpu.passes.address_assign.planner import PAGE_BYTES, align_up
from xdsl_tpu.passes.address_assign.views import root_of
from xdsl_tpu.passes.module_state import text_attribute
from xdsl_tpu.passes.tensors import element_bytes, required_name, size_in_bytes

APART, TAGGED = "io_alone", "io_tag"
"""The `module.addr_mode`s that say so: all together, or each in a place of its own."""


@dataclass(frozen=True)
class IoLayout:
    """Offset in bytes of each tensor that lies apart, and bytes in all, a multiple of a page."""

    offsets: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    size: int = 0


def is_apart(module: ModuleOp) -> bool:
    """Whether inputs and outputs of a module lie apart, all together."""
    return text_attribute(module, "module.addr_mode") == APART


def is_tagged(module: ModuleOp) -> bool:
    """Whether inputs and outputs of an addressed module lie in places of their own."""
    return text_attribute(module, "module.addr_mode") == TAGGED


def keeps_inputs(module: ModuleOp) -> bool:
    """Whether inputs of a module lie first in its arena and outlive a run."""
    return KEPT_INPUTS in module.attributes


def kept_layout(func: FuncOp) -> IoLayout:
    """Arguments in order, each at a page."""
    offsets: dict[SSAValue, int] = {}
    start = 0
    for value in func.body.block.args:
        offsets[value] = start
        start = align_up(start + size_in_bytes(value), PAGE_BYTES)
    return IoLayout(offsets, start)


def io_rooms(module: ModuleOp) -> tuple[int, ...]:
    """How many elements each argument, then each result is to have room for; nothing where the
    module does not say."""
    found = module.attributes.get(IO_ROOMS)
    return ints(cast(I64Array, found)) if found is not None and I64_ARRAY.accepts(found) else ()


def io_layout(func: FuncOp, rooms: Sequence[int] = ()) -> IoLayout:
    """Arguments in order, then results, each at a page; behind one that `tpu.Append` extends, what
    it appends, without a gap. All have the room that they need, or that `rooms` say.

    Raises TpuError for a result that is an argument, an Append of other than a computed value to
    an argument, and `rooms` of another number or too small.
    """
    offsets: dict[SSAValue, int] = {}
    wanted = _bytes_of(func, rooms)
    start = 0
    for values in _together(func):
        end = start
        for value in values:
            offsets[value] = end
            end += size_in_bytes(value)
        room = wanted.get(values[0], end - start)
        if room < end - start:
            raise TpuError(f"{IO_ROOMS}: {room} bytes for one of {end - start}")
        start = align_up(start + room, PAGE_BYTES)
    return IoLayout(offsets, start)


def _bytes_of(func: FuncOp, rooms: Sequence[int]) -> dict[SSAValue, int]:
    if not rooms:
        return {}
    values = (*func.body.block.args, *_results(func))
    if len(values) != len(rooms):
        raise TpuError(f"{IO_ROOMS}: {len(rooms)} rooms for {len(values)} inputs and outputs")
    return {value: room * element_bytes(value) for value, room in zip(values, rooms, strict=True)}


def tagged_layout(func: FuncOp, bases: Sequence[int]) -> IoLayout:
    """The same with a place of its own for each: offsets are addresses, the first of `bases` as
    long as there are any; what comes behind stays in the arena."""
    offsets: dict[SSAValue, int] = {}
    for base, values in zip(bases, _together(func), strict=False):
        end = base
        for value in values:
            offsets[value] = end
            end += size_in_bytes(value)
    return IoLayout(offsets)


def tagged_values(func: FuncOp, start: int, size: int) -> IoLayout:
    """Where arguments and results are that lie outside the arena, which begins at `start`."""
    arena = range(start, start + size)
    places = {
        v: address for vs in _together(func) for v in vs if (address := _place(v)) not in arena
    }
    return IoLayout(places)


def _place(value: SSAValue) -> int:
    kind = value.type
    address = kind.encoding if isinstance(kind, TensorType) else None
    return address.value.data if isinstance(address, IntegerAttr) else -1


def _together(func: FuncOp) -> Iterator[tuple[SSAValue, ...]]:
    """Arguments, then results, each with what `tpu.Append` appends to it."""
    behind = dict(map(_pair, (op for op in func.body.block.ops if isinstance(op, tpu.AppendOp))))
    for value in dict.fromkeys((*func.body.block.args, *_results(func))):
        if value not in behind.values():
            yield (value, behind[value]) if value in behind else (value,)


def _pair(op: tpu.AppendOp) -> tuple[SSAValue, SSAValue]:
    """An argument, and the value that goes behind it."""
    first, second = root_of(op.input), root_of(op.behind)
    whole = second.offset == 0 and size_in_bytes(second.source) == size_in_bytes(op.behind)
    if first.offset or not whole or isinstance(first.source.owner, tpu.AppendOp):
        raise TpuError(
            f"tpu.Append '{required_name(op.output)}': what it appends is not a whole value"
        )
    return first.source, second.source


def _results(func: FuncOp) -> list[SSAValue]:
    last = func.body.block.last_op
    assert isinstance(last, ReturnOp)
    roots = [root_of(value).source for value in last.operands]
    return [value for value in roots if not isinstance(value.owner, top.WeightOp)]
