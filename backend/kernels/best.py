"""`tpu.Best`: the best of each row, one after the other, on the chip.

What is best of a row is taken out of it before the next one is looked for:

    m = max(x)    p = max(m > x ? -inf : places)    x, places = (places = p) ? -inf : x, places

`places` are -1, -2, .., so that their largest is the first one; what was taken has none any more,
and a row of minus infinities has as many as it has elements.
"""

import math
from dataclasses import replace

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter
from xdsl_tpu.backend.kernels.mapping import ElementWise, Types, Work
from xdsl_tpu.backend.kernels.reduction import Rows
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel

F32 = DType.F32
_LOWEST = -math.inf


def describe(op: "tpu.BestOp", types: Types, plan: Rows) -> ElementWise:
    """How the best of the rows of a tensor are found; what such a plan pads with is our own, unlike
    a pool, for which no number is less than the least finite one.

    Raises NoKernel for elements that are not f32.
    """
    if any(dtype is not F32 for dtype in (types.out, *types.operands)):
        raise NoKernel(f"{where(op)}: only rows of f32 have an order here")
    count, sign = op.count.value.data, 1.0 if op.largest.value.data else -1.0
    with_values, with_places = bool(op.values.value.data), bool(op.places.value.data)

    def compute(e: Emitter, work: Work) -> None:
        x, places, wide, *pools = work.scratch
        e.arith(Arith.MUL, plan.inner(x), work.operands[0], sign)
        plan.pad(e, x, _LOWEST)
        if len(work.operands) > 1:
            e.arith(Arith.SUB, plan.inner(places), -1.0, work.operands[1])
            plan.pad(e, places, _LOWEST)
        else:
            numbered(e, places, -1, -1)
        for index in range(count):
            most = plan.reduce(e, x, pools, maximum=True)
            e.copy(wide, _stretched(most, wide))
            if with_values:
                e.arith(Arith.MUL, _at(e, work.out, index), most, sign)
            e.select(Compare.GREATER, wide, wide, x, _LOWEST, places)
            first = plan.reduce(e, wide, pools, maximum=True)
            if with_places:
                target = _at(e, work.out, index + with_values * count)
                e.arith(Arith.SUB, target, -1.0, first)
            if index + 1 < count:
                e.copy(wide, _stretched(first, wide))
                e.select(Compare.EQUAL, x, places, wide, _LOWEST, x)
                e.select(Compare.EQUAL, places, places, wide, _LOWEST, places)

    return ElementWise(compute, (*(plan.tile(F32) for _ in range(3)), *plan.stages(F32)))


def numbered(e: Emitter, places: LocalTensor, first: int, step: int) -> None:
    """`first`, `first` + `step`, .. along each row, by doubling."""
    size = places.shape[3]
    e.copy(_part(e, places, 0, 1), float(first))
    done = 1
    while done < size:
        count = min(done, size - done)
        target, source = (_part(e, places, start, count) for start in (done, 0))
        e.arith(Arith.ADD, target, source, float(done * step))
        done += count


def _at(e: Emitter, out: LocalTensor, index: int) -> LocalTensor:
    return _part(e, out, index, 1)


def _part(e: Emitter, x: LocalTensor, start: int, count: int) -> LocalTensor:
    """Elements [start, start + count) of each row."""
    return x.window((0, 0, 0, start), (*x.shape[:3], count), e.chip)


def _stretched(statistic: LocalTensor, wide: LocalTensor) -> LocalTensor:
    """One number of each row, seen as long as the row."""
    return replace(statistic.free(), shape=wide.shape, strides=(*statistic.strides[:3], 0))
