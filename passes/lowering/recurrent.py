"""Recurrent layers stay one op, whose kernel keeps states and weights in local memory."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import shape_of

BIAS = 3


def _layer(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """LSTM, GRU -> the same in the mode's elements; biases stay f32, as sums of products are."""
    target = tpu.LSTMOp if isinstance(op, top.LSTMOp) else tpu.GRUOp
    operands = [
        ctx.as_type(operand, F32 if place == BIAS else ctx.element)
        for place, operand in enumerate(op.operands)
    ]
    return build(op, ctx, target, operands, ctx.element)


def _scan(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """LinearScan(a, b) {axis = 1} -> Permute(LinearScan(Permute(a), Permute(b)) {axis = 2}).

                                              Permute     1x32x64x16 -> 1x64x32x16, of a and of b
        LinearScan  1x32x64x16 {axis = 1} ->  LinearScan  1x64x32x16 {axis = 2}
                                              Permute     1x64x32x16 -> 1x32x64x16

    Steps over the lanes would go through DDR, each by itself. One along another axis stays.
    """
    assert isinstance(op, top.LinearScanOp)
    rank = len(shape_of(op.output))
    if op.axis.value.data != 1 or rank not in (3, 4):
        return same(tpu.LinearScanOp)(op, ctx)
    do, element, order = Steps(op, ctx), ctx.element, (0, 2, 1, 3)[:rank]

    def turned(label: str, value: SSAValue) -> SSAValue:
        if is_none(value):
            return value
        seen = [shape_of(value)[axis] for axis in order]
        x = ctx.as_type(value, element)
        return do.step(label, tpu.PermuteOp, [x], seen, element, order=order)

    a, b = turned("r_factors", op.a), turned("r_summands", op.b)
    operands = [a, b, turned("r_initial", op.initial)]
    states = do.step("r_states", tpu.LinearScanOp, operands, shape_of(a), element, axis=2)
    return [do.last(tpu.PermuteOp, [states], element, order=order)]


LOWERINGS: Lowerings = {
    top.GRUOp: _layer,
    top.LSTMOp: _layer,
    top.LinearScanOp: _scan,
}
