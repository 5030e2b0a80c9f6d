"""Where the largest elements are: ArgMax and TopK as comparisons and sums.

Floats are compared in f32, integers as such. Positions are whole numbers in f32, exact up to 2^24,
and become integers where the result is said to hold integers.
"""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import INTEGER, is_integer_tensor
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.integer_steps import reduced_integers
from xdsl_tpu.passes.lowering.steps import Steps, along
from xdsl_tpu.passes.tensors import element_of, shape_of

MOST_PAIRS = 1 << 25
"""Pairs of elements that TopK compares with each other; 128 MiB for each of its tensors."""

LONG_ROW, LONGEST_ROW = 128, 8960
"""Elements of rows that are ranked by an op of their own: from where there are as many pairs as
make transfers worth saving, up to what a lane has room for."""


def _arg(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """arg(x) -> the least (or greatest) position where x equals its maximum."""
    assert isinstance(op, top.ArgOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis, largest = op.axis.value.data % len(shape), op.mode.data == "ArgMax"
    mode, last = "ReduceMax" if largest else "ReduceMin", bool(op.select_last_index.value.data)
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
    results = [_positions(do, kept, 0), op.values]
    if not is_none(op.values):
        element = element_of(best)
        sizes = list(shape_of(op.values))
        results[1] = do.last(tpu.ReshapeOp, [best], element, result=1, shape=sizes)
    return results


def _top_k(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """topk(x) -> each element's rank is how many come before it; rank i goes to place i.

    x is seen as (outer, size, inner). Of equal elements the first one comes first.
    """
    assert isinstance(op, top.TopKOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis = op.axis.value.data % len(shape)
    outer, size, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    count = next(shape_of(r)[axis] for r in op.results if not is_none(r))
    is_long = LONG_ROW <= size <= LONGEST_ROW
    if inner == 1 and is_long and not is_integer_tensor(op.input):
        return _long_top_k(do, op, (outer, size), count)
    if outer * size * size * inner > MOST_PAIRS:
        raise do.refuse(f"{size} elements in each of {outer * inner} rows are too many to rank")
    element = INTEGER if is_integer_tensor(op.input) else F32
    mine = do.reshaped("mine", op.input, (outer, size, 1, inner), element)
    other = do.reshaped("other", op.input, (outer, 1, size, inner), element)
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
            element,
            y_is_const=True,
            y_const_val=0.0,
        )
        total = best_along(do, "value", part, 2, "ReduceSum")
        shape = list(shape_of(op.values))
        results[0] = do.last(tpu.ReshapeOp, [total], element, shape=shape)
    if not is_none(op.indices):
        positions = do.weight("positions", np.arange(size).reshape(1, 1, size, 1))
        part = do.step("position", tpu.MulOp, [hit, positions], chosen)
        results[1] = _positions(do, do.reduced("index", part, 2, "ReduceSum"), 1)
    return results


def _long_top_k(
    do: Steps, op: "top.TopKOp", rows: tuple[int, int], count: int
) -> Sequence[SSAValue]:
    """topk(x) -> Ranked(x, Rank(x)) and Ranked(positions, Rank(x)): pairs stay on the chip."""
    outer, size = rows
    x = do.reshaped("row", do.ctx.as_type(op.input, F32), rows, F32)
    ranks = do.step("ranks", tpu.RankOp, [x], rows, largest=op.largest)
    results: list[SSAValue] = [*op.results]
    if not is_none(op.values):
        part = do.step("value", tpu.RankedOp, [x, ranks], (outer, count), count=count)
        results[0] = do.last(tpu.ReshapeOp, [part], F32, shape=list(shape_of(op.values)))
    if not is_none(op.indices):
        positions = do.weight("positions", np.tile(np.arange(size), (outer, 1)))
        part = do.step("index", tpu.RankedOp, [positions, ranks], (outer, count), count=count)
        results[1] = _positions(do, part, 1)
    return results


def best_along(do: Steps, label: str, value: SSAValue, axis: int, mode: str) -> SSAValue:
    """The largest, smallest or sum of elements along an axis, which stays as 1."""
    if is_integer_tensor(value):
        return reduced_integers(do, label, value, [axis], mode)
    return do.reduced(label, value, axis, mode)


def _positions(do: Steps, found: SSAValue, result: int) -> SSAValue:
    """Positions in f32 as a result of the op."""
    old = do.op.results[result]
    shape = list(shape_of(old))
    if not is_integer_tensor(old):
        return do.last(tpu.ReshapeOp, [found], result=result, shape=shape)
    shaped = do.reshaped(f"positions{result}", found, shape, F32)
    return do.last(tpu.CastOp, [shaped], INTEGER, result=result)


LOWERINGS: Lowerings = {top.ArgOp: _arg, top.TopKOp: _top_k}
