"""Functions of one tensor, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call, Rule
from xdsl_tpu.dialects.interpreters.numerics.special import (
    elu,
    erf,
    gelu,
    hard_sigmoid,
    hard_swish,
    mish,
    quick_gelu,
    sigmoid,
    softplus,
    tanh_gelu,
)
from xdsl_tpu.dialects.interpreters.registry import Rules, relu

Array = npt.NDArray[Any]
Unary = Callable[[Array], Array]


def _reciprocal_root(x: Array) -> Array:
    return 1.0 / np.sqrt(x)


def silu(x: Array) -> Array:
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def softsign(x: Array) -> Array:
    """x / (1 + |x|)."""
    return x / (1.0 + np.abs(x))


def _absolute(x: Array) -> Array:
    """|x|; of -128 in 8 bits 127."""
    if x.dtype != np.int8:
        return np.abs(x)
    return np.minimum(np.abs(x.astype(np.int16)), 127).astype(np.int8)


def log_sigmoid(x: Array) -> Array:
    """log(sigmoid(x)), without overflow."""
    return -softplus(-x)


GELU_FORMS: Final[Mapping[str, Unary]] = {
    "normal": gelu,
    "tanh": tanh_gelu,
    "sigm": quick_gelu,
}

ACTIVE_MODES: Final[Mapping[str, Unary]] = {
    "TANH": np.tanh,
    "SIGMOID": sigmoid,
    "RELU": lambda x: relu(x, -1.0),
    "EXP": np.exp,
    "SQRT": np.sqrt,
    "SQUARE": np.square,
    "RSQRT": _reciprocal_root,
    "ABSVAL": _absolute,
    "LN": np.log,
    "ROUND": np.rint,
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "SIN": np.sin,
    "COS": np.cos,
    "IS_FINITE": np.isfinite,
    "MISH": mish,
    "HSWISH": hard_swish,
    "SILU": silu,
    "ARCSIN": np.arcsin,
    "ARCCOS": np.arccos,
    "ARCSINH": np.arcsinh,
    "ARCCOSH": np.arccosh,
    "ARCTANH": np.arctanh,
    "SINH": np.sinh,
    "COSH": np.cosh,
    "TAN": np.tan,
    "SIGN": np.sign,
    "GELU": gelu,
    "ERF": erf,
    "LOG_SIGMOID": log_sigmoid,
    "SOFT_PLUS": softplus,
    "SOFT_SIGN": softsign,
    "LOG2": np.log2,
    "TGELU": tanh_gelu,
    "QGELU": quick_gelu,
}

ACTIVE_MODES_WITH_COEFFICIENTS: Final[
    Mapping[str, tuple[int, Callable[[Array, Sequence[float]], Array]]]
] = {
    "ELU": (1, lambda x, c: elu(x, c[0])),
    "SWISH": (1, lambda x, c: x * sigmoid(c[0] * x)),
    "HSIGMOID": (2, lambda x, c: hard_sigmoid(x, alpha=c[1], beta=c[0])),
}
"""Modes of tpu.Active that read `coeffs`, and how many: ELU alpha; SWISH beta; HSIGMOID beta, then
alpha (the order in which tpu-mlir stores them)."""


def unary(function: Unary) -> Rule:
    """One operand through `function`."""
    return lambda call: function(call.tensor())


def active(call: Call) -> Array:
    """The function `mode` names."""
    mode = call.text("mode")
    if mode in ACTIVE_MODES:
        return ACTIVE_MODES[mode](call.tensor())
    count, function = ACTIVE_MODES_WITH_COEFFICIENTS[mode]
    coefficients = call.numbers("coeffs")
    if len(coefficients) != count:
        raise ValueError(f"mode {mode} needs {count} coeffs, it has {len(coefficients)}")
    return function(call.tensor(), coefficients)


def gelu_rule(call: Call) -> Array:
    """GELU in the form `approx_mode` names."""
    return GELU_FORMS[call.text("approx_mode")](call.tensor())


def sigmoid_rule(call: Call) -> Array:
    """scale * sigmoid(x) + bias, or log(sigmoid(x))."""
    if call.flag("log"):
        return log_sigmoid(call.tensor())
    return sigmoid(call.tensor()) * call.number("scale") + call.number("bias")


def relu_rule(call: Call) -> Array:
    """max(x, 0), clipped at `relu_limit` unless that is negative."""
    return relu(call.tensor(), call.number("relu_limit"))


def elu_rule(call: Call) -> Array:
    """ELU with attribute `alpha`."""
    return elu(call.tensor(), call.number("alpha"))


def swish(call: Call) -> Array:
    """x * sigmoid(beta * x)."""
    return call.tensor() * sigmoid(call.number("beta") * call.tensor())


def hard_sigmoid_rule(call: Call) -> Array:
    """clip(alpha * x + beta, 0, 1)."""
    return hard_sigmoid(call.tensor(), call.number("alpha"), call.number("beta"))


def leaky_relu(call: Call) -> Array:
    """x, or alpha * x where negative."""
    x = call.tensor()
    return np.where(x > 0, x, x * np.float32(call.number("alpha")))


def p_relu(call: Call) -> Array:
    """x, or slope * x where negative; a slope of one number per channel, or broadcastable."""
    x, slope = call.tensors()
    if slope.ndim == 1 and x.ndim > 1 and slope.size == x.shape[1]:
        slope = slope.reshape(-1, *(1,) * (x.ndim - 2))
    return np.where(x > 0, x, x * slope)


def log_base(call: Call) -> Array:
    """The logarithm to the integer base of the op."""
    return np.log(call.tensor()) / math.log(call.integer("base"))


RULES: Final[Rules] = {
    unary(np.abs): (top.AbsOp,),
    unary(np.arccos): (top.ArccosOp,),
    unary(np.arctanh): (top.ArctanhOp,),
    unary(np.ceil): (top.CeilOp,),
    unary(np.cos): (top.CosOp,),
    unary(np.cosh): (top.CoshOp,),
    unary(erf): (top.ErfOp,),
    unary(np.exp): (top.ExpOp,),
    unary(np.floor): (top.FloorOp,),
    unary(hard_swish): (top.HardSwishOp,),
    unary(np.log): (top.LogOp,),
    unary(mish): (top.MishOp,),
    unary(np.rint): (top.RoundOp,),
    unary(_reciprocal_root): (top.RsqrtOp,),
    unary(silu): (top.SiLUOp,),
    unary(np.sign): (top.SignOp,),
    unary(np.sin): (top.SinOp,),
    unary(np.sinh): (top.SinhOp,),
    unary(softplus): (top.SoftplusOp,),
    unary(softsign): (top.SoftsignOp,),
    unary(np.sqrt): (top.SqrtOp,),
    unary(np.tan): (top.TanOp,),
    unary(np.tanh): (top.TanhOp,),
    active: (tpu.ActiveOp, tpu.FusedActiveCastOp),
    elu_rule: (top.EluOp,),
    gelu_rule: (top.GELUOp,),
    hard_sigmoid_rule: (top.HardSigmoidOp,),
    leaky_relu: (top.LeakyReluOp, tpu.LeakyReluOp),
    log_base: (top.LogBOp,),
    p_relu: (top.PReluOp, tpu.PReluOp),
    relu_rule: (top.ReluOp, tpu.ReluOp),
    sigmoid_rule: (top.SigmoidOp,),
    swish: (top.SwishOp,),
}
