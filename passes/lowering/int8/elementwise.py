"""Arithmetic on integers of different scales: each operand is scaled to that of the result."""

from collections.abc import Sequence
from math import floor, log2
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.steps import (
    SIGNED_MAX,
    UNSIGNED_MAX,
    Step,
    result_element,
    step_of,
)
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import INT8, LoweringContext
from xdsl_tpu.passes.lowering.int8.lut import table_of
from xdsl_tpu.passes.lowering.int8.scales import (
    multiplier_and_shift,
    positive_multiplier_and_shift,
    round_half_away,
    saturate,
)
from xdsl_tpu.passes.lowering.int8.types import (
    SI8,
    UI8,
    new_weight,
    numbers_of,
    unlimited,
)
from xdsl_tpu.passes.tensors import is_weight, required_name, shape_of

MOST = 2.0**30
"""What a constant may be for 32 bits to hold it with a product of 8 bits added."""


def add_or_sub(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """add(x..) -> Add(x..) {multipliers, rshifts}: the sum of (x_i * m_i) >> r_i, saturated.

    None with coefficients that are not positive: multipliers have no sign.
    """
    assert isinstance(op, top.AddOp | top.SubOp)
    coefficients = (1.0,) * len(op.inputs) if op.coeff is None else floats(op.coeff)
    found = _operands(op, ctx) if min(coefficients) > 0 else None
    if found is None:
        return None
    operands, steps = found
    out_scale = result_element(op.output, ctx.asymmetric).scale
    pairs = [
        positive_multiplier_and_shift(factor * step.scale / out_scale)
        for factor, step in zip(coefficients, steps, strict=True)
    ]
    target, extra = (tpu.AddOp, {}) if isinstance(op, top.AddOp) else (tpu.SubOp, _reverse(op))
    results = build(
        op,
        ctx,
        target,
        operands,
        INT8,
        keep=False,
        do_relu=op.do_relu,
        multipliers=[multiplier for multiplier, _ in pairs],
        rshifts=[shift for _, shift in pairs],
        **extra,
    )
    # Broadcasting is up to the operands' shapes here; the flag of float ops is not used.
    made = results[0].owner
    assert isinstance(made, Operation)
    made.attributes.pop("is_scalar", None)
    return results


def _reverse(op: top.SubOp) -> dict[str, Any]:
    return {"is_reverse": op.is_reverse}


def mul(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """mul(x, y) -> Mul(x, y) {multiplier, rshift}."""
    assert isinstance(op, top.MulOp)
    found = _operands(op, ctx)
    if found is None or len(op.inputs) != 2:
        return None
    operands, (one, other) = found
    scale = one.scale * other.scale / result_element(op.output, ctx.asymmetric).scale
    multiplier, shift = multiplier_and_shift(scale, 8)
    return build(
        op,
        ctx,
        tpu.MulOp,
        operands,
        INT8,
        multiplier=multiplier,
        rshift=shift,
        **unlimited(op),
    )


def mul_const(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """mulconst(x, c) -> MulShift(x): the constant is part of the scale."""
    assert isinstance(op, top.MulConstOp)
    step = step_of(op.input, ctx.asymmetric)
    if step is None:
        return None
    out_scale = result_element(op.output, ctx.asymmetric).scale
    scale = step.scale / out_scale * op.const_val.value.data
    multiplier, shift = multiplier_and_shift(scale, 8)
    return build(
        op,
        ctx,
        tpu.MulShiftOp,
        (op.input,),
        INT8,
        multiplier=multiplier,
        rshift=shift,
        **unlimited(op),
    )


def leaky_relu(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """leaky_relu(x, a) -> Max(x, MulShift(x)), which is a x; Min where a is above 1.

    Both are scaled where the result has another scale than x.
    """
    assert isinstance(op, top.LeakyReluOp)
    step, alpha = step_of(op.input, ctx.asymmetric), op.alpha.value.data
    if step is None or alpha < 0:
        return None
    wanted = result_element(op.output, ctx.asymmetric)
    alike = step == Step(wanted.scale, wanted.storage == SI8)
    whole = op.input if alike else _scaled(op, op.input, step.scale, wanted, "whole", ctx)
    sloped = _scaled(op, op.input, step.scale * alpha, wanted, "sloped", ctx)
    target = tpu.MaxOp if alpha <= 1 else tpu.MinOp
    return build(op, ctx, target, (whole, sloped), INT8, keep=False)


def _scaled(
    op: Operation,
    value: SSAValue,
    scale: float,
    wanted: UniformType,
    label: str,
    ctx: LoweringContext,
) -> SSAValue:
    """Integers of `scale` as those of another type, a step of `op`."""
    multiplier, shift = multiplier_and_shift(scale / wanted.scale, 8)
    moved = tpu.MulShiftOp.make(
        f"{required_name(op)}_{label}",
        (value,),
        result_types=(TensorType(wanted, shape_of(value)),),
        multiplier=multiplier,
        rshift=shift,
    )
    return ctx.add(moved)[0]


def add_const(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """addconst(x, c) -> AddConst(x) {multiplier, rshift}, (x * m + const) >> r.

    The constant is in units of the result, shifted left as far as the product is. 32 bits must hold
    it, so beside a large one small steps of x are told apart less well. A difference x - c is the
    sum with -c; c - x has no 8-bit form.
    """
    assert isinstance(op, top.AddConstOp | top.SubConstOp)
    constant = op.const_val.value.data
    if isinstance(op, top.SubConstOp):
        if op.is_reverse.value.data:
            return None
        constant = -constant
    step = step_of(op.input, ctx.asymmetric)
    if step is None:
        return None
    out_scale = result_element(op.output, ctx.asymmetric).scale
    scale = step.scale / out_scale
    multiplier, shift = multiplier_and_shift(scale, 8)
    units = float(np.clip(round_half_away(np.array(constant / out_scale)), -MOST, MOST))
    if abs(units) * 2.0**shift > MOST:
        shift = floor(log2(MOST / abs(units)))
        multiplier = int(round_half_away(np.array(scale * 2.0**shift)))
    return build(
        op,
        ctx,
        tpu.AddConstOp,
        (op.input,),
        INT8,
        const_val=units * 2.0**shift,
        multiplier=multiplier,
        rshift=shift,
        is_reverse=None,
        **unlimited(op),
    )


def same_scale(target: type[tpu.MaxOp | tpu.MinOp]) -> Any:
    """Max and Min choose among integers: only when all have the scale of the result."""

    def lower(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
        wanted = result_element(op.results[0], ctx.asymmetric)
        if any(is_weight(value) for value in op.operands):
            return None
        steps = [step_of(value, ctx.asymmetric) for value in op.operands]
        if any(step is None or step.scale != wanted.scale for step in steps):
            return None
        if len({step.signed for step in steps if step is not None}) > 1:
            return None
        return build(op, ctx, target, tuple(op.operands), INT8)

    return lower


def concat(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """concat(x..) -> Concat(x..), with a MulShift in front of operands of another scale.

    Where there are zero points, with a table in front of them.
    """
    assert isinstance(op, top.ConcatOp)
    steps = [None if is_weight(value) else step_of(value, ctx.asymmetric) for value in op.inputs]
    if any(step is None for step in steps):
        return None
    wanted = result_element(op.output, ctx.asymmetric)
    signed = wanted.storage == SI8
    operands: list[SSAValue] = []
    for place, (value, step) in enumerate(zip(op.inputs, steps, strict=True)):
        assert step is not None
        if step == Step(wanted.scale, signed, wanted.zero_point):
            operands.append(value)
            continue
        name = f"{required_name(op)}_{place}_requant"
        result = TensorType(wanted, shape_of(value))
        if step.zero_point or wanted.zero_point:
            table = table_of(lambda x: x, step, wanted, name, ctx)
            operands += ctx.add(tpu.LutOp.make(name, (value, table), result_types=(result,)))
            continue
        operands.append(_scaled(op, value, step.scale, wanted, f"{place}_requant", ctx))
    return build(op, ctx, tpu.ConcatOp, operands, INT8)


def _operands(op: Operation, ctx: LoweringContext) -> tuple[list[SSAValue], list[Step]] | None:
    """All operands with their steps, weights among them quantised to their own range."""
    operands: list[SSAValue] = []
    steps: list[Step] = []
    for value in op.operands:
        if is_weight(value):
            value, step = _quantised_weight(value, ctx)
        else:
            step = step_of(value, ctx.asymmetric)
        if step is None:
            return None
        operands.append(value)
        steps.append(step)
    return operands, steps


def _quantised_weight(value: SSAValue, ctx: LoweringContext) -> tuple[SSAValue, Step]:
    numbers = numbers_of(value, ctx).astype(np.float64)
    signed = float(numbers.min(initial=0)) < 0
    largest = float(np.abs(numbers).max(initial=0))
    step = Step((largest / (SIGNED_MAX if signed else UNSIGNED_MAX)) or 1.0, signed)
    element, suffix = (SI8, "i8") if signed else (UI8, "u8")
    stored = saturate(numbers / step.scale, signed)
    copy = ctx.once(
        (value, element),
        lambda: new_weight(ctx, f"{required_name(value)}_{suffix}", stored, element),
    )
    return copy, step
