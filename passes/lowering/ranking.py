"""Where the largest element is: ArgMax as comparisons.

Floats are compared in f32, integers as such. Positions are whole numbers in f32, exact up to 2^24,
and become integers where the result is said to hold integers.
"""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.ranking_steps import best_along, positions
from xdsl_tpu.passes.lowering.steps import Steps, along
from xdsl_tpu.passes.lowering.top_k import Search
from xdsl_tpu.passes.tensors import element_of, shape_of

LONG_ROW = 4096
"""Elements of rows of which most need not be looked at one by one."""


def _arg(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """arg(x) -> the least (or greatest) position where x equals its maximum.

    The first of a long row of floats is the best one of it (`top_k.py`).
    """
    assert isinstance(op, top.ArgOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis, largest = op.axis.value.data % len(shape), op.mode.data == "ArgMax"
    mode, last = "ReduceMax" if largest else "ReduceMin", bool(op.select_last_index.value.data)
    long = shape[axis] >= LONG_ROW and shape[axis] == math.prod(shape[axis:])
    if long and not last and not is_integer_tensor(op.input):
        return _first_of_long(do, op, axis, largest)
    best = best_along(do, "best", op.input, axis, mode)
    found = do.compared("found", op.input, best, "Equal")
    places = do.weight("places", along(shape, axis, np.arange(shape[axis])))
    outside = -1.0 if last else float(shape[axis])
    where = do.step(
        "where",
        tpu.WhereOp,
        [found, places, ctx.none()],
        shape,
        y_is_const=True,
        y_const_val=outside,
    )
    order = "ReduceMax" if last else "ReduceMin"
    kept = do.reduced("index", where, axis, order)
    results = [positions(do, kept, 0), op.values]
    if not is_none(op.values):
        element = element_of(best)
        sizes = list(shape_of(op.values))
        results[1] = do.last(tpu.ReshapeOp, [best], element, result=1, shape=sizes)
    return results


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
