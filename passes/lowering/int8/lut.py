"""Functions of one 8-bit number: a table of the results of all 256, or what is faster."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.precision import Precision, precision_of
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.steps import Step, result_element, step_of
from xdsl_tpu.passes.lowering.activation import build_active
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import F16, INT8, LoweringContext
from xdsl_tpu.passes.lowering.int8.by_floats import float_function_of, is_near, plain_function
from xdsl_tpu.passes.lowering.int8.functions import Values, line_of, values_of
from xdsl_tpu.passes.lowering.int8.scales import round_half_away, saturate
from xdsl_tpu.passes.lowering.int8.soft_ramp import (
    Ramp,
    float_ramp_of,
    is_level_step,
    ramp_of,
)
from xdsl_tpu.passes.lowering.int8.types import SI8, UI8, new_weight
from xdsl_tpu.passes.tensors import element_of, required_name


def look_up(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """f(x) -> Lut(x, table): entry i, 256 + i for negative i, is f(i * in_scale) / out_scale.

    With zero points, f((i - in_zero) * in_scale) / out_scale + out_zero. A function that is
    faster as a ramp less a polynomial, or in F16 with casts, is computed so, and one that is a
    straight line by its factor (`MulShift`).
    """
    step = step_of(op.operands[0], ctx.asymmetric)
    if step is None:
        return None
    wanted = result_element(op.results[0], ctx.asymmetric)
    if not isinstance(element_of(op.operands[0]), UniformType):
        short = short_in_floats(op, ctx)
        if short is not None:
            return short
    if not ctx.by_tables and (computed := _computed(op, step, wanted, ctx)) is not None:
        return computed
    table = table_of(values_of(op), step, wanted, required_name(op), ctx)
    return build(op, ctx, tpu.LutOp, (op.operands[0], table), INT8, keep=False)


def _computed(
    op: Operation, step: Step, wanted: UniformType, ctx: LoweringContext
) -> Sequence[SSAValue] | None:
    """A function without a table, where that is faster."""
    line = line_of(op, step, wanted)
    if line is not None:
        factor = dict(zip(("multiplier", "rshift"), line, strict=True))
        return build(op, ctx, tpu.MulShiftOp, op.operands[:1], INT8, keep=False, **factor)
    ramp = _ramp(op, step, wanted, ctx)
    if ramp is not None:
        attributes = ramp._asdict()
        return build(op, ctx, tpu.SoftRampOp, op.operands[:1], INT8, keep=False, **attributes)
    function = float_function_of(op, ctx.chip, ctx.asymmetric, ramps=False)
    return None if function is None else build_active(op, ctx, F16, function)


def short_in_floats(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """A function of floats for whose result 8 bits would be enough, as a ramp less a polynomial in
    F16; None where it is none, a range is not known or beyond F16, or the module asks for exact
    sequences."""
    function = plain_function(op)
    if function is None or ctx.by_tables or ctx.asymmetric:
        return None
    if precision_of(op) is not Precision.FAST:
        return None
    step, made = step_of(op.operands[0]), step_of(op.results[0])
    if step is None or not is_near(step) or not is_near(made):
        return None
    ramp = float_ramp_of(function.mode, step, result_element(op.results[0]))
    if ramp is None:
        return None
    return build(op, ctx, tpu.SoftRampOp, op.operands[:1], F16, keep=False, **ramp._asdict())


def _ramp(op: Operation, step: Step, wanted: UniformType, ctx: LoweringContext) -> Ramp | None:
    """The ramp less a polynomial that a function of integers is, where that is fastest."""
    function = plain_function(op)
    if function is None or not isinstance(element_of(op.operands[0]), UniformType):
        return None
    level = is_level_step(step, wanted)
    if float_function_of(op, ctx.chip, ctx.asymmetric, level=level) is not None:
        return None
    return ramp_of(function.mode, step, wanted)


def table_of(
    function: Values, step: Step, wanted: UniformType, name: str, ctx: LoweringContext
) -> SSAValue:
    """A weight of the results for all integers, those from 128 on for negative ones."""
    places = np.arange(256)
    inputs = np.where(places > 127, places - 256, places) if step.signed else places
    with np.errstate(all="ignore"):
        real = (inputs - step.zero_point) * step.scale
        values = function(real) / wanted.scale
    signed = wanted.storage == SI8
    finite = np.nan_to_num(values, nan=0.0, posinf=512.0, neginf=-512.0)
    whole = round_half_away(finite) + wanted.zero_point
    stored = saturate(whole, signed).reshape(1, 1, 1, 256)
    element = SI8 if signed else UI8
    return new_weight(ctx, f"{name}_table", stored, element)
