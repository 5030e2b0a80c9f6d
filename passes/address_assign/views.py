"""Results that are their operand's bytes under another shape: they need no memory of their own."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, OpResult, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.absorbed import is_absorbed
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.movement import PicksRows
from xdsl_tpu.passes.address_assign.planner import ALIGNMENT_BYTES
from xdsl_tpu.passes.tensors import element_bytes, shape_of, size_in_bytes

RESHAPES = (tpu.ReshapeOp, tpu.SqueezeOp, tpu.UnsqueezeOp)
"""Ops that change nothing but the shape."""


@dataclass(frozen=True)
class View:
    """A tensor that starts `offset` bytes after the start of `source`."""

    source: SSAValue
    offset: int


def view_of(value: SSAValue) -> View | None:
    """What `value` is a direct view of; None when it has bytes of its own.

    Reshape, Squeeze and Unsqueeze keep all bytes. A Slice whose elements are next to each other
    (only dimensions of size 1 in front of the sliced one, step 1) keeps some of them; it is a
    view when they start at a multiple of 64 bytes. The result of an absorbed op is its operand,
    read in another order. What has something appended is seen with it.
    """
    if not isinstance(value, OpResult):
        return None
    op: Operation = value.op
    if is_absorbed(op):
        return View(op.operands[0], 0)
    if isinstance(op, (*RESHAPES, tpu.AppendOp)):
        return View(op.input, 0)
    if isinstance(op, tpu.SliceOp):
        return _slice_view(op)
    return None


def part_of(value: SSAValue) -> View | None:
    """The value, made by `tpu.Join`, as a part of which `value` is stored, under another shape too;
    None of all others."""
    for use in value.uses:
        reader = use.operation
        if isinstance(reader, tpu.JoinOp):
            before = sum(size_in_bytes(part) for part in reader.inputs[: use.index])
            return View(reader.output, before)
        if isinstance(reader, RESHAPES) and (part := part_of(reader.output)) is not None:
            return part
    return None


def under_another_shape(value: SSAValue) -> SSAValue:
    """What has the bytes of a value of which only the shape was changed since."""
    while isinstance(value.owner, RESHAPES):
        value = value.owner.input
    return value


def place_of(value: SSAValue) -> View | None:
    """Where the bytes of `value` lie among those of another: what it is a view or a part of."""
    return view_of(value) or part_of(value)


def root_of(value: SSAValue) -> View:
    """The tensor whose bytes `value` uses, itself when it has its own."""
    offset = 0
    while (view := place_of(value)) is not None:
        value, offset = view.source, offset + view.offset
    return View(value, offset)


def needed_for(value: SSAValue) -> Iterator[SSAValue]:
    """The tensors whose bytes who reads `value` reads: its own, or what it is a view of and, where
    rows of that are absorbed, their indices."""
    while (view := place_of(value)) is not None:
        owner = value.owner
        if isinstance(owner, PicksRows) and (rows := owner.rows()) is not None:
            yield from needed_for(rows.index)
        value = view.source
    yield value


def _slice_view(op: tpu.SliceOp) -> View | None:
    source, result = shape_of(op.input), shape_of(op.output)
    cut = [axis for axis in range(len(source)) if source[axis] != result[axis]]
    if not cut:
        return View(op.input, 0) if all(step == 1 for step in ints(op.steps)) else None
    axis = cut[0]
    if len(cut) > 1 or math.prod(source[:axis]) != 1 or ints(op.steps)[axis] != 1:
        return None
    start = ints(op.offset)[axis]
    start += source[axis] if start < 0 else 0
    offset = start * math.prod(source[axis + 1 :]) * element_bytes(op.input)
    return View(op.input, offset) if offset % ALIGNMENT_BYTES == 0 else None
