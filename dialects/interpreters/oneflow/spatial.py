"""Convolutions, pools and normalisations; channels may come last."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import oneflow
from xdsl_tpu.dialects.interpreters.call import Call, Value
from xdsl_tpu.dialects.interpreters.families.activation import silu
from xdsl_tpu.dialects.interpreters.numerics import normalization as norm
from xdsl_tpu.dialects.interpreters.numerics.convolution import ConvGeometry, conv
from xdsl_tpu.dialects.interpreters.numerics.pooling import (
    PoolGeometry,
    adaptive_avg_pool,
    avg_pool,
    max_pool_with_mask,
)
from xdsl_tpu.dialects.interpreters.oneflow.operands import (
    along,
    channels_last,
    named,
    plus_rest,
    to_first,
)
from xdsl_tpu.dialects.interpreters.registry import Rules
from xdsl_tpu.dialects.oneflow.norm import BatchNormOp

Array = npt.NDArray[Any]


def _image(call: Call, index: int = 0) -> Array:
    """An operand with channels second."""
    x = call.tensor(index)
    return to_first(x, x.ndim - 1) if channels_last(call) else x


def _placed(call: Call, out: Array) -> Array:
    """A result with channels second, as `data_format` wants it."""
    return np.moveaxis(out, 1, -1) if channels_last(call) else out


def convolution(call: Call) -> Array:
    """in * weight + bias, then what is to be added."""
    pads = call.integers("padding_before") * 2
    dilations = call.integers("dilation_rate")
    geometry = ConvGeometry(call.integers("strides"), pads, dilations, call.integer("groups"))
    out = conv(_image(call), _image(call, 1), named(call, "bias"), geometry)
    return plus_rest(call, _placed(call, out))


def _windows(call: Call, pads: Sequence[int]) -> PoolGeometry:
    kernel, strides = call.integers("kernel_size"), call.integers("stride")
    return PoolGeometry(kernel, strides, pads, call.flag("ceil_mode"))


def maximum_pool(call: Call) -> tuple[Value, ...]:
    """The largest of each window, and where it was."""
    if any(dilation != 1 for dilation in call.integers("dilation")):
        raise ValueError("dilated pooling has no interpreter semantics")
    x = _image(call)
    # Places are counted in the elements' type, so float32 would lose those beyond 2^24.
    values, where = max_pool_with_mask(
        x.astype(np.float64) if math.prod(x.shape[2:]) > 1 << 24 else x,
        _windows(call, call.integers("padding") * 2),
    )
    return _placed(call, values), _placed(call, where.astype(np.int64))


def average_pool(call: Call) -> Array:
    """The mean of each window, or its sum over `divisor_override`."""
    geometry = _windows(call, call.integers("padding") * 2)
    divisor = call.integer("divisor_override")
    out = avg_pool(_image(call), geometry, divisor != 0 or call.flag("count_include_pad"))
    if divisor:
        if geometry.ceil_mode:
            raise ValueError("divisor_override with ceil_mode has no interpreter semantics")
        out = out * np.float32(math.prod(geometry.kernel) / divisor)
    return _placed(call, out)


def adaptive_pool(call: Call) -> Array:
    """Means over parts that divide each dimension as evenly as they can."""
    return _placed(call, adaptive_avg_pool(_image(call), call.integers("output_size")))


def batch_norm(call: Call) -> tuple[Value, ...]:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, then what is to be added."""
    x = call.tensor()
    axis, op = call.axis(x.ndim), cast(BatchNormOp, call.op)
    mean, variance = named(call, "moving_mean"), named(call, "moving_variance")
    if op.uses_batch_statistics:
        others = tuple(dimension for dimension in range(x.ndim) if dimension != axis)
        mean, variance = x.mean(others), x.var(others)
    if mean is None or variance is None:
        raise ValueError("it needs a mean and a variance")
    inverse = np.float32(1.0) / np.sqrt(variance + np.float32(call.number("epsilon")))
    out = (x - along(mean, x.ndim, axis)) * along(inverse, x.ndim, axis)
    gamma, beta = named(call, "gamma"), named(call, "beta")
    out = norm.affine(
        out,
        None if gamma is None else along(gamma, x.ndim, axis),
        None if beta is None else along(beta, x.ndim, axis),
    )
    return (plus_rest(call, out), mean, inverse)[: len(op.results)]


def _statistics(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array]:
    """Mean and 1 / sqrt(variance + eps) over `axes`."""
    return x.mean(axes), 1.0 / np.sqrt(x.var(axes) + np.float32(eps))


def layer_norm(call: Call) -> tuple[Value, ...]:
    """Over `begin_norm_axis` and the dimensions after it; with mean and 1 / deviation."""
    x, eps = call.tensor(), call.number("epsilon")
    axis, first = call.axis(x.ndim, "begin_norm_axis"), call.axis(x.ndim, "begin_params_axis")
    out = norm.layer_norm(x, None, None, axis, eps)
    gamma, beta = named(call, "gamma"), named(call, "beta")
    trailing = x.shape[first:]
    out = norm.affine(
        out,
        None if gamma is None else gamma.reshape(trailing),
        None if beta is None else beta.reshape(trailing),
    )
    return (out, *_statistics(x, tuple(range(axis, x.ndim)), eps))


def group_norm(call: Call) -> tuple[Value, ...]:
    """Over parts of the channels, then the activation; with mean and 1 / deviation."""
    x, groups, eps = _image(call), call.integer("num_groups"), call.number("epsilon")
    out = norm.group_norm(x, named(call, "gamma"), named(call, "beta"), groups, eps)
    if call.text("activation") == "silu":
        out = silu(out)
    parts = x.reshape(x.shape[0], groups, -1)
    return (_placed(call, out), *_statistics(parts, (2,), eps))


def softmax(call: Call) -> Array:
    """Over the last dimension."""
    return norm.softmax(call.tensor(), -1)


def log_softmax(call: Call) -> Array:
    """The logarithm of softmax over the last dimension."""
    return norm.softmax(call.tensor(), -1, log=True)


RULES: Final[Rules] = {
    convolution: (oneflow.Conv2DOp,),
    maximum_pool: (oneflow.MaxPool2DOp,),
    average_pool: (oneflow.AvgPool2DOp,),
    adaptive_pool: (oneflow.AdaptiveAvgPool2DOp,),
    batch_norm: (oneflow.NormalizationOp, oneflow.NormalizationInferOp),
    layer_norm: (oneflow.LayerNormOp,),
    group_norm: (oneflow.GroupNormOp,),
    softmax: (oneflow.SoftmaxOp,),
    log_softmax: (oneflow.LogSoftmaxOp,),
}
