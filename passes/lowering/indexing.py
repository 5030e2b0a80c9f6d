"""Reading by index: all forms become rows of a matrix, numbered in i32.

The position of an element is computed in integers, when the program is made if the indices are
constant. An index outside its dimension becomes a row outside the matrix that tells it
(`dialects/far_index.py`), which a run reports.
"""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.far_index import FURTHEST, FarIndex, mark_of
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.steps import Array, Steps
from xdsl_tpu.passes.picked_rows import Picked, picked
from xdsl_tpu.passes.tensors import element_of, shape_of


def _gather(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """gather(x, i) -> Gather(x, i) with indices from 0 on; a movement where windows slide."""
    assert isinstance(op, top.GatherOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis = op.axis.value.data % len(shape)
    known = do.values(op.indices)
    if known is None:
        indices = _from_start(do, op.indices, np.array([shape[axis]]))
    else:
        places = _places(do, known[..., None], shape, [axis])[..., 0]
        moved = _windows(places, shape, axis)
        if moved is not None:
            boxes = tpu.RearrangeOp.listed(moved)
            source = ctx.as_type(op.input, ctx.element)
            return build(op, ctx, tpu.RearrangeOp, (source,), ctx.element, keep=False, boxes=boxes)
        kept = np.array_equal(places, known)
        indices = ctx.as_type(op.indices, INTEGER) if kept else do.integers("from_start", places)
    return build(op, ctx, tpu.GatherOp, (ctx.as_type(op.input, ctx.element), indices), ctx.element)


def _windows(places: Array, shape: Sequence[int], axis: int) -> Movement | None:
    """What a matrix of indices reads along an axis, if both its rows and its columns are evenly
    apart, as those of windows that slide."""
    if places.ndim != 2 or min(places.shape) < 2:
        return None
    first = int(places[0, 0])
    down, across = int(places[1, 0]) - first, int(places[0, 1]) - first
    rows, columns = places.shape
    slid = [
        first + row * down + column * across for row in range(rows) for column in range(columns)
    ]
    if min(down, across) <= 0 or places.reshape(-1).tolist() != slid:
        return None
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    digits = (
        Digit(outer, rows * columns * inner, shape[axis] * inner),
        Digit(rows, columns * inner, down * inner),
        Digit(columns, inner, across * inner),
        Digit(inner, 1, 1),
    )
    box = Box(0, first * inner, digits).simplified()
    return Movement(outer * places.size * inner, (Moved(0, IndexMap((box,))),))


def _from_start(do: Steps, indices: SSAValue, sizes: Array) -> SSAValue:
    """Indices from the end, which are negative, as indices from the start."""
    shape = shape_of(indices)
    negative = do.compared_with("negative", indices, 0, "Less")
    if sizes.size == 1:
        size = float(sizes.item())
        shift = do.step("shift", tpu.MulConstOp, [negative], shape, INTEGER, const_val=size)
    else:
        operands = [negative, do.integers("sizes", sizes)]
        shift = do.step("shift", tpu.MulOp, operands, shape, INTEGER)
    return do.step("from_start", tpu.AddOp, [indices, shift], shape, INTEGER)


def _places(do: Steps, known: Array, shape: Sequence[int], dimensions: Sequence[int]) -> Array:
    """Constant indices (.., k) along k dimensions of `shape`, counted from the start.

    Raises CannotLowerError for one outside its dimension.
    """
    sizes = np.array([shape[at] for at in dimensions])
    whole = known.astype(np.int64)
    places = np.where(whole < 0, whole + sizes, whole)
    far = np.argwhere((places < 0) | (places >= sizes)).tolist()
    if far:
        first = tuple(far[0])
        told = FarIndex(dimensions[first[-1]], int(whole[first])).told
        raise do.refuse(f"{told} of its table {list(shape)}")
    return places


def _outside(do: Steps, indices: SSAValue, sizes: Array) -> SSAValue:
    """1 where an index from the start is outside its dimension."""
    shape = shape_of(indices)
    below = do.compared_with("below", indices, 0, "Less")
    if sizes.size == 1:
        above = do.compared_with("above", indices, int(sizes.item()), "GreaterOrEqual")
    else:
        limits = do.integers("limits", sizes)
        above = do.compared("above", indices, limits, "GreaterOrEqual", INTEGER)
    return do.step("outside", tpu.AddOp, [below, above], shape, INTEGER)


def linear_rows(
    do: Steps, indices: SSAValue, shape: Sequence[int], dimensions: Sequence[int], base: Array
) -> SSAValue:
    """base + the sum over the last dimension of index * stride, as a vector of rows.

    `indices` (.., k) along k dimensions of `shape`; `base` has the other dimensions of the indices,
    or broadcasts.
    """
    strides = [_strides(shape)[at] for at in dimensions]
    sizes = [shape[at] for at in dimensions]
    places = shape_of(indices)
    rows = math.prod(places[:-1])
    known = do.values(indices)
    if known is not None:
        linear = (_places(do, known, shape, dimensions) * np.array(strides)).sum(-1) + base
        return do.integers("rows", np.broadcast_to(linear, places[:-1]).reshape(rows))
    value = _from_start(do, indices, np.array(sizes))
    steps = do.integers("strides", np.array(strides))
    scaled = do.step("scaled", tpu.MulOp, [value, steps], places, INTEGER)
    total = _joined(do, "total", tpu.AddOp, scaled)
    if base.any():
        start = do.integers("base", base)
        total = do.step("position", tpu.AddOp, [total, start], places[:-1], INTEGER)
    far = _outside(do, value, np.array(sizes))
    beyond, row = _told(do, indices, far, dimensions)
    flat = do.step("checked", tpu.WhereOp, [beyond, row, total], places[:-1], INTEGER)
    return do.reshaped("rows", flat, (rows,), INTEGER)


def _told(
    do: Steps, indices: SSAValue, far: SSAValue, dimensions: Sequence[int]
) -> tuple[SSAValue, SSAValue]:
    """1 where one of the k indices is outside its dimension, and the row that tells the last such.

    `indices` and `far` (.., k), both results without k.
    """
    shape = shape_of(indices)
    below = do.step("least", tpu.MaxConstOp, [indices], shape, INTEGER, const_val=float(-FURTHEST))
    near = do.step("most", tpu.MinConstOp, [below], shape, INTEGER, const_val=float(FURTHEST - 1))
    marks = do.integers("marks", np.array([mark_of(at) for at in dimensions]))
    told = do.step("told", tpu.AddOp, [near, marks], shape, INTEGER)
    if len(dimensions) == 1:
        beyond = do.reshaped("beyond", far, shape[:-1], INTEGER)
        return beyond, do.reshaped("outside_row", told, shape[:-1], INTEGER)
    only = do.step("told_outside", tpu.MulOp, [told, far], shape, INTEGER)
    row = _joined(do, "outside_row", tpu.MaxOp, only)
    return do.compared_with("beyond", row, 0, "Greater"), row


def _joined(do: Steps, label: str, by: type[NamedOp], value: SSAValue) -> SSAValue:
    """Integers added up, or the largest, over the last dimension, which goes."""
    *rest, count = shape_of(value)
    axis = len(rest)
    parts = [do.cut(f"{label}{n}", value, axis, n, n + 1, INTEGER) for n in range(count)]
    total = parts[0]
    if count > 1:
        total = do.step(f"{label}_all", by, parts, (*rest, 1), INTEGER)
    return do.reshaped(label, total, rest, INTEGER)


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def element_rows(do: Steps, indices: SSAValue, shape: Sequence[int], axis: int) -> SSAValue:
    """Where in a tensor of `shape` the elements lie whose coordinate along `axis` is given."""
    places = shape_of(indices)
    strides = _strides(shape)
    base = np.zeros(places, np.int64)
    for other, stride in enumerate(strides):
        if other != axis:
            steps = np.arange(places[other]) * stride
            base += steps.reshape(-1, *(1,) * (len(places) - 1 - other))
    known = do.values(indices)
    if known is None:
        indices = do.reshaped("column", indices, (*places, 1), element_of(indices))
        return linear_rows(do, indices, shape, [axis], base)
    linear = _places(do, known[..., None], shape, [axis])[..., 0] * strides[axis] + base
    return do.integers("rows", linear.reshape(-1))


def _rows_read(do: Steps, x: SSAValue, rows: SSAValue, count: int, width: int) -> SSAValue:
    """Rows of x, seen as a matrix of `width` columns, in the shape of the result."""
    ctx = do.ctx
    element = ctx.element
    x = ctx.as_type(x, element)
    table = do.reshaped("table", x, (math.prod(shape_of(x)) // width, width), element)
    read = do.step("read", tpu.GatherOp, [table, rows], (count, width), element, axis=0)
    return do.last(tpu.ReshapeOp, [read], element, shape=list(shape_of(do.op.results[0])))


def _gather_elements(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """gather_elements(x, i) -> GatherElements of rows, or Gather of single elements at their
    positions."""
    assert isinstance(op, top.GatherElementsOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis = op.axis.value.data % len(shape)
    known = do.values(op.indices)
    if known is not None and axis == len(shape) - 1 and known.shape[:-1] == shape[:-1]:
        places = _places(do, known[..., None], shape, [axis])[..., 0]
        places = places.reshape(-1, *(1, *places.shape)[-2:])
        if (found := picked(shape, places, ctx.chip.lanes)) is not None:
            return [_picked(do, op.input, found)]
    rows = element_rows(do, op.indices, shape, axis)
    return [_rows_read(do, op.input, rows, math.prod(shape_of(op.indices)), 1)]


def _picked(do: Steps, x: SSAValue, found: Picked) -> SSAValue:
    """Of each row of x the elements at its places."""
    ctx = do.ctx
    table = do.reshaped("table", ctx.as_type(x, ctx.element), found.shape, ctx.element)
    operands = [table, do.weight("places", found.places, found.element)]
    if found.result == shape_of(do.op.results[0]):
        return do.last(tpu.GatherElementsOp, operands, ctx.element, axis=2)
    made = do.step("picked", tpu.GatherElementsOp, operands, found.result, ctx.element, axis=2)
    return do.last(tpu.ReshapeOp, [made], ctx.element, shape=list(shape_of(do.op.results[0])))


def _gather_nd(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """gather_nd(x, i) -> Gather of the slices at their positions."""
    assert isinstance(op, top.GatherNDOp)
    do, shape, places = Steps(op, ctx), shape_of(op.input), shape_of(op.indices)
    batch, depth = op.batch_dims.value.data, places[-1]
    end = batch + depth
    width = math.prod(shape[end:])
    base = np.arange(math.prod(shape[:batch])) * math.prod(shape[batch:end])
    base = base.reshape(*shape[:batch], *(1,) * (len(places) - 1 - batch))
    base = np.broadcast_to(base, places[:-1])
    rows = linear_rows(do, op.indices, shape[:end], range(batch, end), base)
    return [_rows_read(do, op.input, rows, math.prod(places[:-1]), width)]


LOWERINGS: Lowerings = {
    top.GatherOp: _gather,
    top.GatherElementsOp: _gather_elements,
    top.GatherNDOp: _gather_nd,
}
