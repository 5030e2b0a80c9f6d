"""Ops along one dimension by themselves, in shapes that have it inside the lanes.

Such an op sees its operand as (outer, size, inner) and works along the middle.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import Attribute, Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.norm import RowNorm, row_size
from xdsl_tpu.backend.kernels.reduce import reduced_extent
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, SI32
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, Viewed
from xdsl_tpu.dialects.interfaces.shape import Shape, known_shape

Extent = tuple[int, int, int]


class Plane(NamedTuple):
    """A tensor seen as (n, c, size, w), and its strides in elements; None when it is row-major."""

    shape: Shape
    strides: Shape | None = None


def softmax(op: Operation, chip: Chip) -> list[Viewed]:
    """A softmax along the rows of planes."""
    assert isinstance(op, tpu.SoftmaxOp)
    shape = shape_of(op)
    axis = op.axis.value.data % len(shape)
    extent = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    attributes = {"axis": SI32.convert(2)}
    return [_seen(op, plane, plane, attributes) for plane in planes(extent, chip)]


def reduction(op: Operation, chip: Chip) -> list[Viewed]:
    """A reduction of the rows of planes to one."""
    assert isinstance(op, tpu.ReduceOp)
    outer, size, inner = reduced_extent(op, shape_of(op))
    given, made = (planes((outer, rows, inner), chip) for rows in (size, 1))
    attributes = {"axes": I64_ARRAY.convert([2]), "keepdims": BOOL.convert(True)}
    return [_seen(op, x, out, attributes) for x, out in zip(given, made, strict=True)]


def row_norm(op: Operation, chip: Chip) -> tuple[Viewed]:
    """A norm of rows with one over each lane, in turn."""
    assert isinstance(op, RowNorm)
    shape = shape_of(op)
    view = op.viewed(Lanes(1, math.prod(shape) // row_size(op, shape)))
    assert view is not None
    return (view,)


def best(op: Operation, chip: Chip) -> tuple[Viewed]:
    """The best of rows, of which each lane has as many neighbours; else one over each in turn."""
    assert isinstance(op, tpu.BestOp)
    rows = math.prod(shape_of(op)[:-1])
    view = op.viewed(Lanes(1, rows if rows % chip.lanes else chip.lanes))
    assert view is not None
    return (view,)


def planes(extent: Extent, chip: Chip) -> list[Plane]:
    """With what is outside over the lanes; where it fills fewer, also with equal parts of what is
    inside over them. The more parts, the fewer elements of one lie together in DDR."""
    outer, size, inner = extent
    found = [Plane((1, outer, size, inner))]
    for lanes in range(chip.lanes, min(outer, chip.lanes), -1):
        if inner % lanes == 0:
            width = inner // lanes
            strides = (size * inner, width, inner, 1)
            found.append(Plane((outer, lanes, size, width), strides))
    return found


def shape_of(op: Operation) -> Sequence[int]:
    """The shape of the first operand."""
    return known_shape(op.operands[0].type) or ()


def _seen(op: Operation, x: Plane, out: Plane, attributes: Mapping[str, Attribute]) -> Viewed:
    others = (None,) * (len(op.operands) - 1)
    strides = (x.strides, *others, out.strides)
    return Viewed((x.shape, *others), out.shape, attributes, strides)
