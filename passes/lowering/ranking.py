"""Where the largest elements are: ArgMax and TopK as comparisons and sums, in f32.

Positions are whole numbers in f32, exact up to 2^24.
"""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.steps import Steps, along
from xdsl_tpu.passes.tensors import shape_of

MOST_PAIRS = 1 << 25
"""Pairs of elements that TopK compares with each other; 128 MiB for each of its tensors."""


def _arg(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """arg(x) -> the least (or greatest) position where x equals its maximum."""
    assert isinstance(op, top.ArgOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis, largest = op.axis.value.data % len(shape), op.mode.data == "ArgMax"
    mode, last = "ReduceMax" if largest else "ReduceMin", bool(op.select_last_index.value.data)
    keep = bool(op.keepdims.value.data)
    best = do.reduced("best", op.input, axis, mode)
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
    index = do.last(tpu.ReduceOp, [where], axes=[axis], keepdims=keep, mode=order)
    if is_none(op.values):
        return [index, op.values]
    options = {"axes": [axis], "keepdims": keep, "mode": mode}
    return [index, do.last(tpu.ReduceOp, [op.input], result=1, **options)]


def _top_k(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """topk(x) -> each element's rank is how many come before it; rank i goes to place i.

    x is seen as (outer, size, inner). Of equal elements the first one comes first.
    """
    assert isinstance(op, top.TopKOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis = op.axis.value.data % len(shape)
    outer, size, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    count = next(shape_of(r)[axis] for r in op.results if not is_none(r))
    if outer * size * size * inner > MOST_PAIRS:
        raise do.refuse(f"{size} elements in each of {outer * inner} rows are too many to rank")
    mine = do.reshaped("mine", op.input, (outer, size, 1, inner), F32)
    other = do.reshaped("other", op.input, (outer, 1, size, inner), F32)
    sign = "Greater" if op.largest.value.data else "Less"
    before = do.compared("before", other, mine, sign)
    before_or_same = do.compared("before_or_same", other, mine, f"{sign}OrEqual")
    earlier = do.weight("earlier", np.tri(size, k=-1).reshape(1, size, size, 1))
    pairs = (outer, size, size, inner)
    ahead = do.step("ahead", tpu.WhereOp, [earlier, before_or_same, before], pairs)
    rank = do.reduced("rank", ahead, 2, "ReduceSum")
    rank = do.reshaped("ranks", rank, (outer, 1, size, inner), F32)
    places = do.weight("ranked", np.arange(count).reshape(1, count, 1, 1))
    hit = do.compared("hit", rank, places, "Equal")
    chosen = (outer, count, size, inner)
    results: list[SSAValue] = [*op.results]
    if not is_none(op.values):
        part = do.step(
            "chosen",
            tpu.WhereOp,
            [hit, other, ctx.none()],
            chosen,
            y_is_const=True,
            y_const_val=0.0,
        )
        results[0] = _total(do, "value", part, 0)
    if not is_none(op.indices):
        positions = do.weight("positions", np.arange(size).reshape(1, 1, size, 1))
        part = do.step("position", tpu.MulOp, [hit, positions], chosen)
        results[1] = _total(do, "index", part, 1)
    return results


def _total(do: Steps, label: str, value: SSAValue, result: int) -> SSAValue:
    """The sum over the compared elements, in the shape of a result."""
    total = do.reduced(label, value, 2, "ReduceSum")
    shape = list(shape_of(do.op.results[result]))
    return do.last(tpu.ReshapeOp, [total], result=result, shape=shape)


LOWERINGS: Lowerings = {top.ArgOp: _arg, top.TopKOp: _top_k}
