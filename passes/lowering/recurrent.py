"""Recurrent layers stay one op, whose kernel keeps states and weights in local memory."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings

BIAS = 3


def _layer(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """LSTM, GRU -> the same in the mode's elements; biases stay f32, as sums of products are."""
    target = tpu.LSTMOp if isinstance(op, top.LSTMOp) else tpu.GRUOp
    operands = [
        ctx.as_type(operand, F32 if place == BIAS else ctx.element)
        for place, operand in enumerate(op.operands)
    ]
    return build(op, ctx, target, operands, ctx.element)


LOWERINGS: Lowerings = {
    top.GRUOp: _layer,
    top.LSTMOp: _layer,
    top.LinearScanOp: same(tpu.LinearScanOp),
}
