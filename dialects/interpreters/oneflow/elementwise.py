"""Element by element: functions, arithmetic, biases and dropout."""

from __future__ import annotations

from functools import reduce
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.interpreters.call import Call, Value
from xdsl_tpu.dialects.interpreters.families.activation import (
    elu_rule,
    leaky_relu,
    silu,
    unary,
)
from xdsl_tpu.dialects.interpreters.families.elementwise import binary
from xdsl_tpu.dialects.interpreters.numerics.special import (
    erf,
    gelu,
    hard_sigmoid,
    hard_swish,
    mish,
    quick_gelu,
    sigmoid,
    tanh_gelu,
)
from xdsl_tpu.dialects.interpreters.oneflow.operands import along, plus_rest
from xdsl_tpu.dialects.interpreters.registry import Rules, relu
from xdsl_tpu.dialects.oneflow.arithmetic import ScalarOp
from xdsl_tpu.dialects.random_masks import random_mask

Array = npt.NDArray[Any]


def _number(call: Call) -> np.float32:
    return np.float32(cast(ScalarOp, call.op).number)


def scalar_add(call: Call) -> Array:
    """x plus a number."""
    return call.tensor() + _number(call)


def scalar_mul(call: Call) -> Array:
    """x times a number."""
    return call.tensor() * _number(call)


def scalar_div(call: Call) -> Array:
    """x divided by a number."""
    return call.tensor() / _number(call)


def scalar_pow(call: Call) -> Array:
    """x to the power of a number."""
    return np.power(call.tensor(), _number(call))


def total(call: Call) -> Array:
    """The sum of all operands."""
    return reduce(np.add, call.tensors())


def hardtanh(call: Call) -> Array:
    """x within two bounds."""
    return np.clip(call.tensor(), call.number("min_val"), call.number("max_val"))


def identity(call: Call) -> Array:
    """x; the interpreter converts it to the type of the result."""
    return call.tensor()


def _biased(call: Call) -> Array:
    a, b = call.tensor(0), call.tensor(1)
    return a + along(b, a.ndim, call.axis(a.ndim))


def bias_gelu(call: Call) -> Array:
    """gelu(a + b)."""
    return gelu(_biased(call))


def bias_mask_scale(call: Call) -> Array:
    """(a + b) * mask * scale, then what is to be added; in this order, as f32 rounds it."""
    mask = call.tensor(2).astype(np.float32)
    return plus_rest(call, _biased(call) * mask * np.float32(call.number("scale")))


def _mask(call: Call) -> Array:
    return random_mask(call.tensor().shape, call.integer("seed"), call.number("rate"))


def dropout(call: Call) -> tuple[Value, ...]:
    """x * mask / (1 - rate), then what is to be added; and the mask."""
    mask, scale = _mask(call), np.float32(oneflow.dropout_scale(call.number("rate")))
    return plus_rest(call, call.tensor() * mask.astype(np.float32) * scale), mask


RULES: Final[Rules] = {
    unary(np.abs): (oneflow.AbsOp,),
    unary(erf): (oneflow.ErfOp,),
    unary(np.exp): (oneflow.ExpOp,),
    unary(tanh_gelu): (oneflow.FastGeluOp,),
    unary(gelu): (oneflow.GeluOp,),
    unary(lambda x: hard_sigmoid(x, 1.0 / 6.0, 0.5)): (oneflow.HardsigmoidOp,),
    unary(hard_swish): (oneflow.HardswishOp,),
    unary(np.log): (oneflow.LogOp,),
    unary(mish): (oneflow.MishOp,),
    unary(np.negative): (oneflow.NegativeOp,),
    unary(quick_gelu): (oneflow.QuickGeluOp,),
    unary(np.reciprocal): (oneflow.ReciprocalOp,),
    unary(lambda x: relu(x, -1.0)): (oneflow.ReluOp,),
    unary(lambda x: 1.0 / np.sqrt(x)): (oneflow.RsqrtOp,),
    unary(sigmoid): (oneflow.SigmoidOp,),
    unary(silu): (oneflow.SiluOp,),
    unary(np.sqrt): (oneflow.SqrtOp,),
    unary(np.square): (oneflow.SquareOp,),
    unary(np.tanh): (oneflow.TanhOp,),
    elu_rule: (oneflow.EluOp,),
    hardtanh: (oneflow.HardtanhOp,),
    leaky_relu: (oneflow.LeakyReluOp,),
    identity: (oneflow.IdentityOp, oneflow.CastOp),
    binary(np.add): (oneflow.BroadcastAddOp,),
    binary(np.subtract): (oneflow.BroadcastSubOp,),
    binary(np.multiply): (oneflow.BroadcastMulOp,),
    binary(np.divide): (oneflow.BroadcastDivOp,),
    binary(np.maximum): (oneflow.BroadcastMaximumOp,),
    binary(np.minimum): (oneflow.BroadcastMinimumOp,),
    total: (oneflow.AddN2Op, oneflow.AddNOp),
    scalar_add: (oneflow.ScalarAddOp,),
    scalar_mul: (oneflow.ScalarMulOp,),
    scalar_div: (oneflow.ScalarDivOp,),
    scalar_pow: (oneflow.ScalarPowOp,),
    _biased: (oneflow.BiasAddOp,),
    bias_gelu: (oneflow.FusedBiasAddGeluOp,),
    bias_mask_scale: (oneflow.FusedBiasAddMaskScaleOp,),
    dropout: (oneflow.DropoutOp,),
    _mask: (oneflow.RandomMaskLikeOp,),
}
