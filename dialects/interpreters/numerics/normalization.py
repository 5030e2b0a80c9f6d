"""Normalisations and softmax; statistics are taken in two passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def softmax(x: Array, axis: int, beta: float = 1.0, log: bool = False) -> Array:
    """exp(beta * x) over its sum along `axis`, or the logarithm of that."""
    last = x.max(axis, keepdims=True) if beta >= 0 else x.min(axis, keepdims=True)
    shifted = x - last
    if beta != 1.0:
        shifted *= x.dtype.type(beta)
    if log:
        return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))
    out = np.exp(shifted, out=shifted)
    out /= out.sum(axis, keepdims=True)
    return out


def standardise(x: Array, axes: Sequence[int] | int, eps: float) -> Array:
    """(x - mean) / sqrt(variance + eps) over `axes`."""
    axes = axes if isinstance(axes, int) else tuple(axes)
    out = x - x.mean(axes, keepdims=True)
    variance = np.square(out).mean(axes, keepdims=True)
    out /= np.sqrt(variance + x.dtype.type(eps))
    return out


def affine(x: Array, weight: Array | None, bias: Array | None) -> Array:
    """x * weight + bias, either of which may be absent."""
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


def per_channel(values: Array | None, rank: int) -> Array | None:
    """A vector of C elements in any shape as `[C, 1, .., 1]` for a tensor `[n, C, ..]`."""
    return None if values is None else values.reshape(-1, *(1,) * (rank - 2))


def layer_norm(x: Array, weight: Array | None, bias: Array | None, axis: int, eps: float) -> Array:
    """Standardised over `axis` and all dimensions after it; weight and bias span those."""
    axis %= x.ndim
    trailing = x.shape[axis:]
    weight = None if weight is None else weight.reshape(trailing)
    bias = None if bias is None else bias.reshape(trailing)
    return affine(standardise(x, range(axis, x.ndim), eps), weight, bias)


def group_norm(
    x: Array, weight: Array | None, bias: Array | None, groups: int, eps: float
) -> Array:
    """`[n, C, ..]` standardised over each of `groups` parts of the channels."""
    if x.shape[1] % groups:
        raise ValueError(f"{x.shape[1]} channels do not divide into {groups} groups")
    parts = standardise(x.reshape(x.shape[0], groups, -1), 2, eps).reshape(x.shape)
    return affine(parts, per_channel(weight, x.ndim), per_channel(bias, x.ndim))


def pixel_norm(x: Array, weight: Array | None, bias: Array | None, eps: float) -> Array:
    """`[n, C, ..]` standardised over the channels of each pixel."""
    return affine(standardise(x, 1, eps), per_channel(weight, x.ndim), per_channel(bias, x.ndim))


def rms_norm(x: Array, gamma: Array | None, eps: float) -> Array:
    """x / sqrt(mean of squares over the last dimension + eps) * gamma."""
    mean = np.square(x).mean(-1, keepdims=True)
    out = x / np.sqrt(mean + x.dtype.type(eps))
    return out if gamma is None else out * gamma.reshape(-1)


def local_response_norm(x: Array, size: int, alpha: float, beta: float, bias: float) -> Array:
    """x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ** beta.

    The neighbours are floor((size-1)/2) channels before and ceil((size-1)/2) after (ONNX
    operator specification, LRN).
    """
    squares = np.square(x)
    before, after = (size - 1) // 2, size // 2
    total = np.zeros_like(x)
    for channel in range(x.shape[1]):
        near = squares[:, max(channel - before, 0) : channel + after + 1]
        total[:, channel] = near.sum(1)
    return x / np.power(bias + alpha / size * total, beta)


def l2_normalize(x: Array, scale: Array, across_spatial: bool) -> Array:
    """`[n, C, ..]` over its length (per pixel, or of the whole image), times `scale`."""
    axes = tuple(range(1, x.ndim)) if across_spatial else 1
    length = np.sqrt(np.square(x).sum(axes, keepdims=True) + 1e-10)
    factor = scale if scale.size == 1 else per_channel(scale, x.ndim)
    return x / length * factor


def variance(x: Array, axes: Sequence[int], correction: float, keep_dims: bool) -> Array:
    """Sum of squared deviations over `count - correction`; no axes means all of them."""
    over = tuple(axes) or tuple(range(x.ndim))
    count = math.prod(x.shape[axis] for axis in over)
    deviation = x - x.mean(over, keepdims=True)
    return np.square(deviation).sum(over, keepdims=keep_dims) / (count - correction)
