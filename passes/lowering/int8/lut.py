"""Functions of one 8-bit number: a table of the results of all 256."""

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.families.activation import (
    ACTIVE_MODES,
    ACTIVE_MODES_WITH_COEFFICIENTS,
)
from xdsl_tpu.dialects.precision import Precision, precision_of
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.steps import Step, result_element, step_of
from xdsl_tpu.passes.lowering.activation import GELU_MODES, IN_F32, IN_MODE
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import F16, INT8, LoweringContext
from xdsl_tpu.passes.lowering.int8.by_floats import float_mode_of, function_of, is_near
from xdsl_tpu.passes.lowering.int8.scales import Array, round_half_away, saturate
from xdsl_tpu.passes.lowering.int8.soft_ramp import (
    Ramp,
    float_ramp_of,
    is_level_step,
    ramp_of,
)
from xdsl_tpu.passes.lowering.int8.types import SI8, UI8, new_weight
from xdsl_tpu.passes.tensors import element_of, required_name

Function = Callable[[Array], Array]

NOT_BY_TABLE = (top.ArccosOp, top.ArctanhOp, top.TanOp, top.AbsOp)
"""Functions too steep for 8 bits, and Abs, which needs no table."""


def _gelu(op: Operation) -> Function:
    assert isinstance(op, top.GELUOp)
    return ACTIVE_MODES[GELU_MODES[op.approx_mode.data]]


def _sigmoid(op: Operation) -> Function:
    assert isinstance(op, top.SigmoidOp)
    function = ACTIVE_MODES["LOG_SIGMOID" if op.log.value.data else "SIGMOID"]
    scale, bias = op.scale.value.data, op.bias.value.data
    return lambda x: scale * function(x) + bias


def _elu(op: Operation) -> Function:
    assert isinstance(op, top.EluOp)
    return _with_coefficients("ELU", op.alpha.value.data)


def _leaky_relu(op: Operation) -> Function:
    assert isinstance(op, top.LeakyReluOp)
    alpha = op.alpha.value.data
    return lambda x: np.where(x < 0, alpha * x, x)


def _swish(op: Operation) -> Function:
    assert isinstance(op, top.SwishOp)
    return _with_coefficients("SWISH", op.beta.value.data)


def _hard_sigmoid(op: Operation) -> Function:
    assert isinstance(op, top.HardSigmoidOp)
    return _with_coefficients("HSIGMOID", op.beta.value.data, op.alpha.value.data)


def _pow(op: Operation) -> Function:
    assert isinstance(op, top.PowOp)
    exponent = op.exponent.value.data
    return lambda x: np.power(x, exponent)


def _pow2(op: Operation) -> Function:
    assert isinstance(op, top.Pow2Op)
    base = op.const_val.value.data
    return lambda x: np.power(base, x)


def _reciprocal(op: Operation) -> Function:
    assert isinstance(op, top.ReciprocalOp)
    numerator = op.const_val.value.data
    return lambda x: numerator / x


def _with_coefficients(mode: str, *coefficients: float) -> Function:
    function = ACTIVE_MODES_WITH_COEFFICIENTS[mode][1]
    return lambda x: function(x, coefficients)


def _fixed(mode: str) -> Callable[[Operation], Function]:
    return lambda op: ACTIVE_MODES[mode]


def _times(op: Operation) -> Function:
    assert isinstance(op, top.MulConstOp)
    factor = op.const_val.value.data
    return lambda x: x * factor


def _plus(op: Operation) -> Function:
    assert isinstance(op, top.AddConstOp | top.SubConstOp)
    constant = op.const_val.value.data
    if isinstance(op, top.AddConstOp):
        return lambda x: x + constant
    return (lambda x: constant - x) if op.is_reverse.value.data else (lambda x: x - constant)


def _relu(op: Operation) -> Function:
    assert isinstance(op, top.ReluOp)
    limit = op.relu_limit.value.data
    return lambda x: np.clip(x, 0, limit if limit >= 0 else np.inf)


WITH_ZERO_POINTS: dict[type[Operation], Callable[[Operation], Function]] = {
    top.AbsOp: lambda op: np.abs,
    top.AddConstOp: _plus,
    top.LeakyReluOp: _leaky_relu,
    top.MulConstOp: _times,
    top.ReluOp: _relu,
    top.SubConstOp: _plus,
}
"""Ops that have commands of their own, which know no zero points."""

FUNCTIONS: dict[type[Operation], Callable[[Operation], Function]] = {
    **{kind: _fixed(mode) for kind, mode in (IN_F32 | IN_MODE).items() if kind not in NOT_BY_TABLE},
    top.GELUOp: _gelu,
    top.SigmoidOp: _sigmoid,
    top.EluOp: _elu,
    top.SwishOp: _swish,
    top.HardSigmoidOp: _hard_sigmoid,
    top.PowOp: _pow,
    top.Pow2Op: _pow2,
    top.ReciprocalOp: _reciprocal,
}
"""Top op -> the function it computes, on doubles."""

_FUNCTIONS = FUNCTIONS | WITH_ZERO_POINTS


def look_up(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """f(x) -> Lut(x, table): entry i, 256 + i for negative i, is f(i * in_scale) / out_scale.

    With zero points, f((i - in_zero) * in_scale) / out_scale + out_zero. A function that is
    faster as a ramp less a polynomial, or in F16 with casts, is computed so.
    """
    step = step_of(op.operands[0], ctx.asymmetric)
    if step is None:
        return None
    wanted = result_element(op.results[0], ctx.asymmetric)
    if not isinstance(element_of(op.operands[0]), UniformType):
        short = short_in_floats(op, ctx)
        if short is not None:
            return short
    ramp = None if ctx.by_tables else _ramp(op, step, wanted, ctx)
    if ramp is not None:
        attributes = ramp._asdict()
        return build(op, ctx, tpu.SoftRampOp, op.operands[:1], INT8, keep=False, **attributes)
    mode = None if ctx.by_tables else float_mode_of(op, ctx.chip, ctx.asymmetric, ramps=False)
    if mode is not None:
        return build(op, ctx, tpu.ActiveOp, op.operands, F16, keep=False, mode=mode)
    values = _FUNCTIONS[type(op)](op)
    if "do_relu" in op.attributes and str(op.attributes["do_relu"]) == "true":
        values = _rectified(values)
    table = table_of(values, step, wanted, required_name(op), ctx)
    return build(op, ctx, tpu.LutOp, (op.operands[0], table), INT8, keep=False)


def short_in_floats(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """A function of floats for whose result 8 bits would be enough, as a ramp less a polynomial in
    F16; None where it is none, a range is not known or beyond F16, or the module asks for exact
    sequences."""
    mode = function_of(op)
    if mode is None or ctx.by_tables or ctx.asymmetric or precision_of(op) is not Precision.FAST:
        return None
    step, made = step_of(op.operands[0]), step_of(op.results[0])
    if step is None or not is_near(step) or not is_near(made):
        return None
    ramp = float_ramp_of(mode, step, result_element(op.results[0]))
    if ramp is None:
        return None
    return build(op, ctx, tpu.SoftRampOp, op.operands[:1], F16, keep=False, **ramp._asdict())


def _ramp(op: Operation, step: Step, wanted: UniformType, ctx: LoweringContext) -> Ramp | None:
    """The ramp less a polynomial that a function of integers is, where that is fastest."""
    mode = function_of(op)
    if mode is None or not isinstance(element_of(op.operands[0]), UniformType):
        return None
    level = is_level_step(step, wanted)
    if float_mode_of(op, ctx.chip, ctx.asymmetric, level=level) is not None:
        return None
    return ramp_of(mode, step, wanted)


def _rectified(function: Function) -> Function:
    return lambda x: np.maximum(function(x), 0)


def table_of(
    function: Function, step: Step, wanted: UniformType, name: str, ctx: LoweringContext
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
