"""Convolution and its transpose, over any number of spatial dimensions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.numerics.windows import (
    pad_spatial,
    tap,
    window_counts,
    windows,
)

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ConvGeometry:
    """How a kernel moves: one number per spatial dimension; `pads` begins, then ends."""

    strides: Sequence[int]
    pads: Sequence[int]
    dilations: Sequence[int]
    group: int = 1


def _check(x: Array, filter_: Array, channels: int, geometry: ConvGeometry) -> None:
    if x.ndim != filter_.ndim or x.ndim - 2 != len(geometry.strides):
        raise ValueError(
            f"an input {x.shape}, a filter {filter_.shape} and {len(geometry.strides)} strides "
            "do not go together"
        )
    if x.shape[1] != channels:
        raise ValueError(f"the filter {filter_.shape} needs {channels} channels, not {x.shape[1]}")


def conv(x: Array, filter_: Array, bias: Array | None, geometry: ConvGeometry) -> Array:
    """Cross-correlation of `x` `[n, ic, *sizes]` with `filter_` `[oc, ic/group, *kernel]`.

    Returns `[n, oc, *counts]`; `bias` has oc elements in any shape. ValueError when the shapes
    do not fit.
    """
    group = geometry.group
    _check(x, filter_, filter_.shape[1] * group, geometry)
    x = pad_spatial(x, geometry.pads, 0.0)
    if group > 1 and filter_.shape[1] == 1 and filter_.shape[0] == group:
        out = _depthwise(x, filter_, geometry)
    else:
        out = _as_matmul(x, filter_, geometry)
    if bias is not None:
        out += bias.reshape(-1, *(1,) * (x.ndim - 2))
    return out


def _depthwise(x: Array, filter_: Array, geometry: ConvGeometry) -> Array:
    """One multiply-add of the whole tensor per kernel position."""
    kernel = filter_.shape[2:]
    counts = window_counts(x.shape[2:], kernel, geometry.strides, geometry.dilations)
    out = np.zeros((*x.shape[:2], *counts), x.dtype)
    product = np.empty_like(out)
    for position in itertools.product(*map(range, kernel)):
        weight = filter_[(slice(None), 0, *position)].reshape(-1, *(1,) * len(kernel))
        seen = tap(x, position, counts, geometry.strides, geometry.dilations)
        out += np.multiply(seen, weight, out=product)
    return out


def _as_matmul(x: Array, filter_: Array, geometry: ConvGeometry) -> Array:
    """Unfold the windows of one image at a time and multiply by the filter matrix."""
    kernel, group = filter_.shape[2:], geometry.group
    view = windows(x, kernel, geometry.strides, geometry.dilations)
    counts = view.shape[2 + len(kernel) :]
    depth = filter_[0].size
    matrix = filter_.reshape(group, -1, depth)
    out = np.empty((x.shape[0], group, matrix.shape[1], int(np.prod(counts))), x.dtype)
    for image, result in zip(view, out, strict=True):
        np.matmul(matrix, image.reshape(group, depth, -1), out=result)
    return out.reshape(x.shape[0], filter_.shape[0], *counts)


def deconv(
    x: Array,
    filter_: Array,
    bias: Array | None,
    geometry: ConvGeometry,
    output_padding: Sequence[int] | None = None,
) -> Array:
    """The transpose of `conv`: `x` `[n, ic, *sizes]`, `filter_` `[oc, ic/group, *kernel]`.

    The filter has the output channels first (the group's index is the upper part of both
    channel numbers), unlike ONNX's `[ic, oc/group, ..]`. Each output size is
    `(size - 1) * stride + dilation * (kernel - 1) + 1 + output_padding - pads`.
    """
    group, rank = geometry.group, x.ndim - 2
    _check(x, filter_, filter_.shape[1] * group, geometry)
    kernel, extra = filter_.shape[2:], output_padding or (0,) * rank
    reach = [
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(
            x.shape[2:], geometry.strides, geometry.dilations, kernel, strict=True
        )
    ]
    out_channels = filter_.shape[0] // group
    matrix = filter_.reshape(group, out_channels, filter_.shape[1], -1).transpose(0, 1, 3, 2)
    columns = np.matmul(
        matrix.reshape(group, -1, filter_.shape[1]),
        x.reshape(x.shape[0], group, filter_.shape[1], -1),
    ).reshape(x.shape[0], filter_.shape[0], *kernel, *x.shape[2:])
    full = np.zeros((x.shape[0], filter_.shape[0], *reach), x.dtype)
    for position in itertools.product(*map(range, kernel)):
        target = tap(full, position, x.shape[2:], geometry.strides, geometry.dilations)
        target += columns[(slice(None), slice(None), *position)]
    out = pad_spatial(full, _crop(geometry.pads, extra), 0.0)
    return out if bias is None else out + bias.reshape(-1, *(1,) * rank)


def _crop(pads: Sequence[int], extra: Sequence[int]) -> tuple[int, ...]:
    """The pads that cut the full result to size; `extra` grows the ends."""
    rank = len(extra)
    begins = tuple(-p for p in pads[:rank])
    ends = tuple(e - p for e, p in zip(extra, pads[rank:], strict=True))
    return begins + ends
