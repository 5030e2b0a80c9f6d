"""Resizing and sampling of images."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def _source_positions(count: int, size: int, scale: float, coord_mode: str) -> Array:
    """Where each of `count` outputs lies in an input of `size` (ONNX specification, Resize).

    Scales are f32 numbers, and so are positions made of them; a ratio of sizes is not rounded.
    """
    out = np.arange(count, dtype=np.float32)
    if coord_mode == "align_corners":
        return np.arange(count) * (size - 1) / max(count - 1, 1)
    if coord_mode == "asymmetric":
        return out / np.float32(scale)
    if coord_mode == "pytorch_half_pixel" and count == 1:
        return np.zeros_like(out)
    return (out + np.float32(0.5)) / np.float32(scale) - np.float32(0.5)


def interpolate_axis(
    x: Array, axis: int, count: int, scale: float, mode: str, coord_mode: str
) -> Array:
    """Resize one dimension to `count`; `scale` <= 0 stands for count / size.

    `nearest` takes the position below for `asymmetric` coordinates (what PyTorch exports) and
    otherwise the nearest with ties downwards, ONNX's default.
    """
    size = x.shape[axis]
    if count == size and (scale <= 0 or scale == 1):
        return x
    below, share = neighbours(size, count, scale, mode, coord_mode)
    low = np.take(x, below, axis)
    if mode == "nearest":
        return low
    above = np.minimum(below + 1, size - 1)
    weight = share.astype(x.dtype).reshape(-1, *(1,) * (x.ndim - 1 - axis % x.ndim))
    return low + weight * (np.take(x, above, axis) - low)


def neighbours(
    size: int, count: int, scale: float, mode: str, coord_mode: str
) -> tuple[npt.NDArray[np.intp], Array]:
    """Of each result of `interpolate_axis`, the element below it, and how far it is above that."""
    position = _source_positions(count, size, scale if scale > 0 else count / size, coord_mode)
    if mode == "nearest":
        chosen = np.floor(position) if coord_mode == "asymmetric" else np.ceil(position - 0.5)
        return np.clip(chosen, 0, size - 1).astype(np.intp), np.zeros(count)
    position = np.clip(position, 0, size - 1)
    below = np.floor(position).astype(np.intp)
    return below, position - below


def upsample(x: Array, scale_h: int, scale_w: int) -> Array:
    """Each pixel of `[.., h, w]` repeated."""
    return x.repeat(scale_h, axis=-2).repeat(scale_w, axis=-1)


def max_unpool(x: Array, mask: Array, scale_h: int, scale_w: int) -> Array:
    """`[n, c, h, w]` put at the positions `mask` names in the larger, else zero, image."""
    n, c, h, w = x.shape
    out = np.zeros((n, c, h * scale_h * w * scale_w), x.dtype)
    np.put_along_axis(out, mask.reshape(n, c, -1).astype(np.intp), x.reshape(n, c, -1), -1)
    return out.reshape(n, c, h * scale_h, w * scale_w)
