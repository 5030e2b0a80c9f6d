"""Normalisations and softmax."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.numerics import normalization as norm
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def softmax(call: Call) -> Array:
    """exp(beta * x) over its sum along an axis, or the logarithm of that."""
    x = call.tensor()
    return norm.softmax(x, call.axis(x.ndim), call.number("beta"), call.flag("log"))


def layer_norm(call: Call) -> Array:
    """Over `axis` and the dimensions after it."""
    x = call.tensor()
    axis = call.axis(x.ndim)
    return norm.layer_norm(x, call.optional(1), call.optional(2), axis, call.number("eps"))


def group_norm(call: Call) -> Array:
    """Over each of `num_groups` parts of the channels."""
    groups, eps = call.integer("num_groups"), call.number("eps")
    return norm.group_norm(call.tensor(), call.optional(1), call.optional(2), groups, eps)


def instance_norm(call: Call) -> Array:
    """Over each channel."""
    x = call.tensor()
    eps = call.number("eps")
    return norm.group_norm(x, call.optional(1), call.optional(2), x.shape[1], eps)


def pixel_norm(call: Call) -> Array:
    """Over the channels of each pixel."""
    eps = call.number("eps")
    return norm.pixel_norm(call.tensor(), call.optional(1), call.optional(2), eps)


def rms_norm(call: Call) -> Array:
    """Over the last dimension, without a mean."""
    return norm.rms_norm(call.tensor(), call.optional(1), call.number("eps"))


def batch_norm(call: Call) -> Array:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, one of each per channel."""
    x = call.tensor()
    mean, variance, gamma, beta = (norm.per_channel(call.optional(i), x.ndim) for i in range(1, 5))
    if mean is None or variance is None:
        raise ValueError("it needs a mean and a variance")
    deviation = np.sqrt(variance + np.float32(call.number("epsilon")))
    return norm.affine((x - mean) / deviation, gamma, beta)


def l2_normalize(call: Call) -> Array:
    """x over its length, times the scale."""
    return norm.l2_normalize(call.tensor(), call.tensor(1), call.flag("across_spatial"))


def local_response_norm(call: Call) -> Array:
    """x over a power of the squares of its neighbour channels."""
    return norm.local_response_norm(
        call.tensor(),
        call.integer("size"),
        call.number("alpha"),
        call.number("beta"),
        call.number("bias"),
    )


RULES: Final[Rules] = {
    softmax: (top.SoftmaxOp, tpu.SoftmaxOp, tpu.SoftmaxCastOp),
    layer_norm: (top.LayerNormOp, tpu.LayerNormOp, tpu.LayerNormCastOp),
    group_norm: (top.GroupNormOp, tpu.GroupNormOp),
    instance_norm: (top.InstanceNormOp, tpu.InstanceNormOp),
    pixel_norm: (top.PixelNormOp, tpu.PixelNormOp),
    rms_norm: (top.RMSNormOp, tpu.RMSNormOp),
    batch_norm: (top.BatchNormOp,),
    l2_normalize: (top.NormalizeOp,),
    local_response_norm: (top.LRNOp, tpu.LRNOp),
}
