"""Where the largest element is: ArgMax as comparisons.

Floats are compared in their type, those of long rows in f32, integers as such. Positions are whole
numbers in f32, exact up to 2^24, or in shorter floats as far as these count; they become integers
where the result is said to hold integers.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.quant import CalibratedType, UniformType
from xdsl_tpu.passes.lowering.context import BF16, F16, F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.ranking_steps import best_along, positions
from xdsl_tpu.passes.lowering.steps import Steps, along
from xdsl_tpu.passes.lowering.top_k import Search
from xdsl_tpu.passes.tensors import element_of, shape_of

_COUNTS_TO: Mapping[Attribute, int] = {F16: 1 << 11, BF16: 1 << 8}
"""Short floats, and up to where they hold all whole numbers."""

_FLOATS = (F32, F16, BF16)

_EXCHANGED = (0, 3, 2, 1)
"""Channels and columns change places: what the chip transposes within local memory."""

LONG_ROW = 4096
"""Elements of rows of which most need not be looked at one by one."""


def _arg(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """arg(x) -> the least (or greatest) position where x equals its maximum.

    The first of a long row of floats is the best one of it (`top_k.py`). Short floats are compared
    as they are, with positions in their type where it counts so far. Floats are ranked along the
    last dimension, which a lane holds: others take its place, there and back.
    """
    assert isinstance(op, top.ArgOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis, largest = op.axis.value.data % len(shape), op.mode.data == "ArgMax"
    mode, last = "ReduceMax" if largest else "ReduceMin", bool(op.select_last_index.value.data)
    long = shape[axis] >= LONG_ROW and shape[axis] == math.prod(shape[axis:])
    if long and not last and not is_integer_tensor(op.input):
        return _first_of_long(do, op, axis, largest)
    stored = _compared(element_of(op.input))
    element = stored if shape[axis] <= _COUNTS_TO.get(stored, 0) else F32
    x, turned = op.input, stored in _FLOATS and math.prod(shape[axis + 1 :]) > 1
    if stored in _FLOATS:
        x, axis = _in_lanes(do, x, axis, turned, stored), 3
        shape = shape_of(x)
    best = best_along(do, "best", x, axis, mode, element)
    found = do.compared("found", x, best, "Equal", element)
    places = do.weight("places", along(shape, axis, np.arange(shape[axis])), element)
    outside = -1.0 if last else float(shape[axis])
    where = do.step(
        "where",
        tpu.WhereOp,
        [found, places, ctx.none()],
        shape,
        element,
        y_is_const=True,
        y_const_val=outside,
    )
    order = "ReduceMax" if last else "ReduceMin"
    kept = do.reduced("index", where, axis, order, element)
    results = [positions(do, _turned(do, "there", kept) if turned else kept, 0), op.values]
    if not is_none(op.values):
        value = _turned(do, "value", best) if turned else best
        sizes = list(shape_of(op.values))
        results[1] = do.last(tpu.ReshapeOp, [value], element_of(best), result=1, shape=sizes)
    return results


def _compared(stored: Attribute) -> Attribute:
    """What elements of a type are compared in: floats of a known range as such, 8-bit integers in
    f16, which tells all of them apart."""
    if isinstance(stored, UniformType):
        return F16
    return stored.expressed if isinstance(stored, CalibratedType) else stored


def _in_lanes(do: Steps, x: SSAValue, axis: int, turned: bool, element: Attribute) -> SSAValue:
    """x with `axis` as the last of four dimensions; where others follow it, it changes places with
    the last of these."""
    shape = shape_of(x)
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    if not turned:
        return do.reshaped("rows", x, (1, outer, 1, shape[axis]), element)
    columns = shape[-1]
    image = outer, shape[axis], inner // columns, columns
    return _turned(do, "turned", do.reshaped("image", x, image, element))


def _turned(do: Steps, label: str, x: SSAValue) -> SSAValue:
    """N x C x H x W as N x W x H x C."""
    shape = tuple(shape_of(x)[place] for place in _EXCHANGED)
    return do.step(label, tpu.PermuteOp, [x], shape, element_of(x), order=_EXCHANGED)


def _first_of_long(do: Steps, op: "top.ArgOp", axis: int, largest: bool) -> Sequence[SSAValue]:
    """Of rows along the last axis that is not 1."""
    shape = shape_of(op.input)
    x = do.ctx.as_type(op.input, F32)
    x = do.reshaped("row", x, (math.prod(shape[:axis]), shape[axis]), F32)
    wanted = not is_none(op.values)
    value, place = Search(do, largest, 1).best("", x, None, (wanted, True))
    assert place is not None
    results = [positions(do, place, 0), op.values]
    if value is not None:
        sizes = list(shape_of(op.values))
        results[1] = do.last(tpu.ReshapeOp, [value], F32, result=1, shape=sizes)
    return results


LOWERINGS: Lowerings = {top.ArgOp: _arg}
