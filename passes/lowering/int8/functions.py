"""Functions of one 8-bit number, on doubles, and which of them are straight lines."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters.families.activation import (
    ACTIVE_MODES,
    ACTIVE_MODES_WITH_COEFFICIENTS,
)
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX, SIGNED_MIN, UNSIGNED_MAX, Step
from xdsl_tpu.passes.lowering.activation import IN_F32, IN_MODE, function_of
from xdsl_tpu.passes.lowering.int8.scales import multiplier_and_shift
from xdsl_tpu.passes.lowering.int8.types import SI8

Array = npt.NDArray[Any]

Values = Callable[[Array], Array]

CLOSE = 0.25
"""Steps of the result that what is computed in a function's place may be off."""

NOT_BY_TABLE = (top.ArccosOp, top.ArctanhOp, top.TanOp, top.AbsOp)
"""Functions too steep for 8 bits, and Abs, which needs no table."""


def _active(op: Operation) -> Values:
    """What a `tpu.Active` computes."""
    function = function_of(op)
    assert function is not None
    mode, coeffs = function.mode.value, function.coeffs
    if not coeffs:
        return ACTIVE_MODES[mode]
    _, values = ACTIVE_MODES_WITH_COEFFICIENTS[mode]
    return lambda x: values(x, coeffs)


def _sigmoid(op: Operation) -> Values:
    assert isinstance(op, top.SigmoidOp)
    function = ACTIVE_MODES["LOG_SIGMOID" if op.log.value.data else "SIGMOID"]
    scale, bias = op.scale.value.data, op.bias.value.data
    return lambda x: scale * function(x) + bias


def _leaky_relu(op: Operation) -> Values:
    assert isinstance(op, top.LeakyReluOp)
    alpha = op.alpha.value.data
    return lambda x: np.where(x < 0, alpha * x, x)


def _pow(op: Operation) -> Values:
    assert isinstance(op, top.PowOp)
    exponent = op.exponent.value.data
    return lambda x: np.power(x, exponent)


def _pow2(op: Operation) -> Values:
    assert isinstance(op, top.Pow2Op)
    base = op.const_val.value.data
    return lambda x: np.power(base, x)


def _reciprocal(op: Operation) -> Values:
    assert isinstance(op, top.ReciprocalOp)
    numerator = op.const_val.value.data
    return lambda x: numerator / x


def _times(op: Operation) -> Values:
    assert isinstance(op, top.MulConstOp)
    factor = op.const_val.value.data
    return lambda x: x * factor


def _plus(op: Operation) -> Values:
    assert isinstance(op, top.AddConstOp | top.SubConstOp)
    constant = op.const_val.value.data
    if isinstance(op, top.AddConstOp):
        return lambda x: x + constant
    return (lambda x: constant - x) if op.is_reverse.value.data else (lambda x: x - constant)


def _relu(op: Operation) -> Values:
    assert isinstance(op, top.ReluOp)
    limit = op.relu_limit.value.data
    return lambda x: np.clip(x, 0, limit if limit >= 0 else np.inf)


WITH_ZERO_POINTS: dict[type[Operation], Callable[[Operation], Values]] = {
    top.AbsOp: lambda op: np.abs,
    top.AddConstOp: _plus,
    top.LeakyReluOp: _leaky_relu,
    top.MulConstOp: _times,
    top.ReluOp: _relu,
    top.SubConstOp: _plus,
}
"""Ops that have commands of their own, which know no zero points."""

FUNCTIONS: dict[type[Operation], Callable[[Operation], Values]] = {
    **{kind: _active for kind in IN_F32 | IN_MODE if kind not in NOT_BY_TABLE},
    **dict.fromkeys((top.EluOp, top.GELUOp, top.HardSigmoidOp, top.SwishOp), _active),
    top.PowOp: _pow,
    top.Pow2Op: _pow2,
    top.ReciprocalOp: _reciprocal,
    top.SigmoidOp: _sigmoid,
}
"""Top op -> the function it computes."""

_FUNCTIONS = FUNCTIONS | WITH_ZERO_POINTS


def values_of(op: Operation) -> Values:
    """The function that an op with a table computes, with the ReLU behind it."""
    values = _FUNCTIONS[type(op)](op)
    if is_rectified(op):
        return lambda x: np.maximum(values(x), 0)
    return values


def is_rectified(op: Operation) -> bool:
    """Whether an op has a ReLU behind it."""
    return "do_relu" in op.attributes and str(op.attributes["do_relu"]) == "true"


def line_of(op: Operation, step: Step, wanted: UniformType) -> tuple[int, int] | None:
    """Multiplier and shift of a factor that a function is as good as on all integers, as HardSwish
    and Tanh are close to 0; None for others, and with zero points.

    `step` and `wanted` are what integers of the operand and of the result stand for.
    """
    if type(op) not in FUNCTIONS or step.zero_point or wanted.zero_point:
        return None
    lowest, highest = (SIGNED_MIN, SIGNED_MAX) if step.signed else (0, UNSIGNED_MAX)
    integers = np.arange(lowest, highest + 1)
    with np.errstate(all="ignore"):
        exact = values_of(op)(integers * step.scale) / wanted.scale
    if not np.isfinite(exact).all():
        return None
    multiplier, shift = multiplier_and_shift(float(integers @ exact / (integers @ integers)), 8)
    bounds = np.iinfo(np.int8 if wanted.storage == SI8 else np.uint8)
    line = integers * multiplier * 2.0**-shift
    off = np.clip(line, bounds.min, bounds.max) - np.clip(exact, bounds.min, bounds.max)
    return (multiplier, shift) if multiplier > 0 and np.abs(off).max() <= CLOSE else None
