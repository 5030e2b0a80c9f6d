"""Functions of one variable: most become `tpu.Active` with a mode."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import Value
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.tpu import ActiveMode
from xdsl_tpu.passes.lowering.channels import log_softmax, softmax_over_channels
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import (
    F32,
    CannotLowerError,
    LoweringContext,
    Lowerings,
)
from xdsl_tpu.passes.tensors import required_name, shape_of

IN_F32: dict[type[Operation], ActiveMode] = {
    top.ArccosOp: ActiveMode.ARCCOS,
    top.ArctanhOp: ActiveMode.ARCTANH,
    top.CosOp: ActiveMode.COS,
    top.CoshOp: ActiveMode.COSH,
    top.ErfOp: ActiveMode.ERF,
    top.LogOp: ActiveMode.LN,
    top.MishOp: ActiveMode.MISH,
    top.RsqrtOp: ActiveMode.RSQRT,
    top.SiLUOp: ActiveMode.SILU,
    top.SinOp: ActiveMode.SIN,
    top.SinhOp: ActiveMode.SINH,
    top.SoftplusOp: ActiveMode.SOFT_PLUS,
    top.SoftsignOp: ActiveMode.SOFT_SIGN,
    top.SqrtOp: ActiveMode.SQRT,
    top.TanOp: ActiveMode.TAN,
    top.TanhOp: ActiveMode.TANH,
}
"""Functions the BM1684X computes in f32 whatever the mode."""

IN_MODE: dict[type[Operation], ActiveMode] = {
    top.AbsOp: ActiveMode.ABSVAL,
    top.CeilOp: ActiveMode.CEIL,
    top.ExpOp: ActiveMode.EXP,
    top.FloorOp: ActiveMode.FLOOR,
    top.HardSwishOp: ActiveMode.HSWISH,
    top.RoundOp: ActiveMode.ROUND,
    top.SignOp: ActiveMode.SIGN,
}
"""Functions with a 16-bit version."""

LOWEST_LOG = -1e38
"""Stands for the logarithm of 0, so that a power of 0 is 1 and others vanish."""

GELU_MODES = {"normal": ActiveMode.GELU, "tanh": ActiveMode.TGELU, "sigm": ActiveMode.QGELU}


class Function(NamedTuple):
    """What a `tpu.Active` computes."""

    mode: ActiveMode
    coeffs: tuple[float, ...] = ()


def function_of(op: Operation) -> Function | None:
    """The function that an op of `top` is; None for one that no `tpu.Active` computes.

    max(0, min(1, alpha * x + beta)) has the coefficients (beta, alpha), in this order.
    """
    match op:
        case top.GELUOp():
            return Function(GELU_MODES[op.approx_mode.data])
        case top.EluOp():
            return Function(ActiveMode.ELU, (op.alpha.value.data,))
        case top.SwishOp():
            return Function(ActiveMode.SWISH, (op.beta.value.data,))
        case top.HardSigmoidOp():
            coeffs = (op.beta.value.data, op.alpha.value.data)
            return Function(ActiveMode.HSIGMOID, coeffs)
        case top.SigmoidOp():
            plain = (op.scale.value.data, op.bias.value.data) == (1, 0)
            mode = ActiveMode.LOG_SIGMOID if op.log.value.data else ActiveMode.SIGMOID
            return Function(mode) if plain else None
        case _:
            mode = (IN_F32 | IN_MODE).get(type(op))
            return None if mode is None else Function(mode)


def _active(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    function = function_of(op)
    if function is None:
        raise CannotLowerError(f"{op.name} '{required_name(op)}': scale is not 1 or bias is not 0")
    element = ctx.element if type(op) in IN_MODE else F32
    return build_active(op, ctx, element, function)


def build_active(
    op: Operation, ctx: LoweringContext, element: Attribute, function: Function
) -> Sequence[SSAValue]:
    """The `tpu.Active` of these elements that takes the place of an op of one operand."""
    coeffs: Value | None = function.coeffs or None
    mode, operand = function.mode, ctx.as_type(op.operands[0], element)
    return build(op, ctx, tpu.ActiveOp, (operand,), element, keep=False, mode=mode, coeffs=coeffs)


def _pow(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """pow(x, n) -> exp(n * ln(x)) in f32.

    The logarithm needs a positive x: an even n takes |x|, an odd one x * |x|^(n-1).
    """
    assert isinstance(op, top.PowOp)
    exponent, name, base = op.exponent.value.data, required_name(op), op.input
    step = _f32_steps(op, ctx)
    if not exponent.is_integer():
        logarithm = step(tpu.ActiveOp, f"{name}_log", base, mode=ActiveMode.LN)
        product = step(tpu.MulConstOp, f"{name}_mul_const", logarithm, const_val=exponent)
        return [step(tpu.ActiveOp, name, product, mode=ActiveMode.EXP)]
    odd = exponent % 2 != 0
    magnitude = step(tpu.ActiveOp, f"{name}_abs", base, mode=ActiveMode.ABSVAL)
    logarithm = step(tpu.ActiveOp, f"{name}_log", magnitude, mode=ActiveMode.LN)
    even = exponent - odd
    product = step(tpu.MulConstOp, f"{name}_mul_const", logarithm, const_val=even)
    power = step(tpu.ActiveOp, f"{name}_exp" if odd else name, product, mode=ActiveMode.EXP)
    if not odd:
        return [power]
    return [step(tpu.MulOp, name, base, power)]


def _cast(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """Cast of integers to floats, in f32; of floats to integers towards zero that are still
    called floats -> sign(x) * floor(|x|)."""
    assert isinstance(op, top.CastOp)
    name, step = required_name(op), _f32_steps(op, ctx)
    if is_integer_tensor(op.input) and "INT" not in op.to.data:
        return build(op, ctx, tpu.CastOp, (op.input,), F32, keep=False)
    if "INT" not in op.to.data or op.round_mode.data != "TowardsZero":
        raise CannotLowerError(f"{op.name} '{name}': only a cast to integers towards zero")
    sign = step(tpu.ActiveOp, f"{name}_sign", op.input, mode=ActiveMode.SIGN)
    size = step(tpu.ActiveOp, f"{name}_abs", op.input, mode=ActiveMode.ABSVAL)
    whole = step(tpu.ActiveOp, f"{name}_floor", size, mode=ActiveMode.FLOOR)
    return [step(tpu.MulOp, name, whole, sign)]


def _softmax(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """Softmax(x) of the same name; its logarithm is x - max - ln(sum(exp(x - max))), in f32."""
    assert isinstance(op, top.SoftmaxOp)
    turned = softmax_over_channels(op, ctx)
    if turned is not None:
        return turned
    return log_softmax(op, ctx) if op.log.value.data else same(tpu.SoftmaxOp)(op, ctx)


def _pow2(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """c ^ x -> exp(x * ln(c)) in f32, for c > 0."""
    assert isinstance(op, top.Pow2Op)
    base, name = op.const_val.value.data, required_name(op)
    if base <= 0:
        raise CannotLowerError(f"{op.name} '{name}': the base {base} is not positive")
    step = _f32_steps(op, ctx)
    product = step(tpu.MulConstOp, f"{name}_mul_const", op.input, const_val=math.log(base))
    return [step(tpu.ActiveOp, name, product, mode=ActiveMode.EXP)]


def _pow3(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """x ^ y -> exp(y * ln|x|) in f32, times -1 where x < 0 and y is odd.

    The sign is 1 - 2 (x < 0) (y mod 2). A negative x to a power that is no integer gives NaN: that
    of the logarithm of 1 - 2 (x < 0) (y mod 1 > 0).
    """
    assert isinstance(op, top.Pow3Op)
    (base, exponent), name = op.inputs, required_name(op)

    def step(target: type[NamedOp], label: str, *operands: SSAValue, **attrs: Any) -> SSAValue:
        kind = TensorType(F32, np.broadcast_shapes(*map(shape_of, operands)))
        made = target.make(f"{name}_{label}", operands, result_types=(kind,), **attrs)
        return ctx.add(made)[0]

    magnitude = step(tpu.ActiveOp, "abs", base, mode=ActiveMode.ABSVAL)
    logarithm = step(tpu.ActiveOp, "log", magnitude, mode=ActiveMode.LN)
    finite = step(tpu.MaxConstOp, "finite", logarithm, const_val=LOWEST_LOG)  # of x = 0
    product = step(tpu.MulOp, "mul", exponent, finite)
    power = step(tpu.ActiveOp, "exp", product, mode=ActiveMode.EXP)
    half = step(tpu.MulConstOp, "half", exponent, const_val=0.5)
    whole = step(tpu.ActiveOp, "whole", half, mode=ActiveMode.FLOOR)
    rest = step(tpu.SubOp, "rest", half, whole)  # 0 or 0.5
    sign = step(tpu.ActiveOp, "sign", base, mode=ActiveMode.SIGN)
    below = step(tpu.MinConstOp, "below", sign, const_val=0.0)  # 0 or -1
    odd = step(tpu.MulOp, "odd", rest, below)
    factor = step(tpu.MulConstOp, "scaled", odd, const_val=4.0)
    floor = step(tpu.ActiveOp, "floor", exponent, mode=ActiveMode.FLOOR)
    fraction = step(tpu.SubOp, "fraction", exponent, floor)
    broken = step(tpu.ActiveOp, "broken", fraction, mode=ActiveMode.SIGN)
    undefined = step(tpu.MulOp, "undefined", broken, below)
    doubled = step(tpu.MulConstOp, "doubled", undefined, const_val=2.0)
    argument = step(tpu.AddConstOp, "argument", doubled, const_val=1.0)
    valid = step(tpu.ActiveOp, "valid", argument, mode=ActiveMode.LN)  # 0 or NaN
    plus_one = step(tpu.AddConstOp, "one", factor, const_val=1.0)
    signed = step(tpu.AddOp, "factor", plus_one, valid)
    return [_f32_steps(op, ctx)(tpu.MulOp, name, power, signed)]


def _f32_steps(op: Operation, ctx: LoweringContext) -> Callable[..., SSAValue]:
    """A builder of f32 ops of the shape of `op`; the one of its name keeps a calibrated range."""
    between = TensorType(F32, shape_of(op.results[0]))
    last = ctx.tensor_type(op.results[0], F32)

    def step(target: type[NamedOp], name: str, *operands: SSAValue, **attrs: Any) -> SSAValue:
        result_type = last if name == required_name(op) else between
        return ctx.add(target.make(name, operands, result_types=(result_type,), **attrs))[0]

    return step


LOWERINGS: Lowerings = {
    **dict.fromkeys((*IN_F32, *IN_MODE, top.EluOp, top.GELUOp, top.HardSigmoidOp), _active),
    **dict.fromkeys((top.SigmoidOp, top.SwishOp), _active),
    top.CastOp: _cast,
    top.LeakyReluOp: same(tpu.LeakyReluOp),
    top.PReluOp: same(tpu.PReluOp),
    top.PowOp: _pow,
    top.Pow2Op: _pow2,
    top.Pow3Op: _pow3,
    top.ReluOp: same(tpu.ReluOp),
    top.SoftmaxOp: _softmax,
}
