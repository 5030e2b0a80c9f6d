"""Arithmetic, comparison and choice, element by element."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.integers import INTEGER, is_integer_tensor
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import LoweringContext, Lowerings


def _compare(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """compare(x, y) -> the same; integers are compared as such."""
    if not any(map(is_integer_tensor, op.operands)):
        return same(tpu.CompareOp)(op, ctx)
    operands = [ctx.as_type(operand, INTEGER) for operand in op.operands]
    return build(op, ctx, tpu.CompareOp, operands, ctx.element)


LOWERINGS: Lowerings = {
    top.AddOp: same(tpu.AddOp),
    top.SubOp: same(tpu.SubOp),
    top.MulOp: same(tpu.MulOp),
    top.DivOp: same(tpu.DivOp, in_f32=True),
    top.MaxOp: same(tpu.MaxOp),
    top.MinOp: same(tpu.MinOp),
    top.AddConstOp: same(tpu.AddConstOp),
    top.SubConstOp: same(tpu.SubConstOp),
    top.MulConstOp: same(tpu.MulConstOp),
    top.MaxConstOp: same(tpu.MaxConstOp),
    top.MinConstOp: same(tpu.MinConstOp),
    top.ReciprocalOp: same(tpu.ReciprocalOp, in_f32=True),
    top.CompareOp: _compare,
    top.CompareConstOp: same(tpu.CompareConstOp),
    top.LogicalAndOp: same(tpu.LogicalAndOp),
    top.MaskedFillOp: same(tpu.MaskedFillOp),
    top.ClipOp: same(tpu.ClipOp),
    top.ScaleOp: same(tpu.ScaleOp),
    top.WhereOp: same(tpu.WhereOp),
}
