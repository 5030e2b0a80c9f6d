"""Arithmetic, comparison and choice, element by element."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.integers import INTEGER, is_integer_tensor
from xdsl_tpu.passes.half_range import LEAST_SUBNORMAL
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import F16, Lowering, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import shape_of


def _sum(target: type[tpu.AddOp] | type[tpu.SubOp]) -> Lowering:
    """add(x, y) -> the same; what has a coefficient is multiplied first."""

    def lower(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
        assert isinstance(op, top.AddOp | top.SubOp)
        factors = (1.0,) * len(op.inputs) if op.coeff is None else floats(op.coeff)
        if set(factors) == {1.0}:
            return same(target)(op, ctx)
        do, operands = Steps(op, ctx), list[SSAValue]()
        for index, (value, factor) in enumerate(zip(op.inputs, factors, strict=True)):
            if factor != 1:
                x, shape = ctx.as_type(value, ctx.element), shape_of(value)
                label, times = f"times{index}", {"const_val": factor}
                value = do.step(label, tpu.MulConstOp, [x], shape, ctx.element, **times)
            operands.append(value)
        operands = [ctx.as_type(value, ctx.element) for value in operands]
        return build(op, ctx, target, operands, ctx.element, coeff=None)

    return lower


def _compare(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """compare(x, y) -> the same; integers are compared as such."""
    if not any(map(is_integer_tensor, op.operands)):
        return same(tpu.CompareOp)(op, ctx)
    operands = [ctx.as_type(operand, INTEGER) for operand in op.operands]
    return build(op, ctx, tpu.CompareOp, operands, ctx.element)


def _max_const(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """max(x, c) -> the same; a c too small for f16 becomes its least number."""
    assert isinstance(op, top.MaxConstOp)
    number = _kept(op.const_val.value.data, ctx)
    return build(op, ctx, tpu.MaxConstOp, op.operands, ctx.element, const_val=number)


def _clip(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """clip(x) -> the same; a lower end too small for f16 becomes its least number."""
    assert isinstance(op, top.ClipOp)
    lowest = _kept(op.min.value.data, ctx)
    return build(op, ctx, tpu.ClipOp, op.operands, ctx.element, min=lowest)


def _kept(number: float, ctx: LoweringContext) -> float:
    """A lower bound that stays above 0 in f16: something may divide by what it bounds."""
    vanishes = 0 < number < LEAST_SUBNORMAL and ctx.element == F16
    return LEAST_SUBNORMAL if vanishes else number


LOWERINGS: Lowerings = {
    top.AddOp: _sum(tpu.AddOp),
    top.SubOp: _sum(tpu.SubOp),
    top.MulOp: same(tpu.MulOp),
    top.DivOp: same(tpu.DivOp, in_f32=True),
    top.MaxOp: same(tpu.MaxOp),
    top.MinOp: same(tpu.MinOp),
    top.AddConstOp: same(tpu.AddConstOp),
    top.SubConstOp: same(tpu.SubConstOp),
    top.MulConstOp: same(tpu.MulConstOp),
    top.MaxConstOp: _max_const,
    top.MinConstOp: same(tpu.MinConstOp),
    top.ReciprocalOp: same(tpu.ReciprocalOp, in_f32=True),
    top.CompareOp: _compare,
    top.CompareConstOp: same(tpu.CompareConstOp),
    top.LogicalAndOp: same(tpu.LogicalAndOp),
    top.MaskedFillOp: same(tpu.MaskedFillOp),
    top.ClipOp: _clip,
    top.ScaleOp: same(tpu.ScaleOp),
    top.WhereOp: same(tpu.WhereOp),
}
