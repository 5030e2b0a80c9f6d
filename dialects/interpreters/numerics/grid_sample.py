"""Images read at computed positions (ONNX operators, GridSample)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

BILINEAR, NEAREST, CUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2

SHARPNESS: Final = -0.75
"""The parameter of the cubic kernel."""


@dataclass(frozen=True)
class _Tap:
    """Pixels along one axis: which, and how much of each."""

    index: Array
    weight: Array


def grid_sample(x: Array, grid: Array, mode: int, padding_mode: int, align_corners: bool) -> Array:
    """`x` `[n, c, *sizes]` read at `grid` `[n, *out, rank]`, whose last entry is x, y(, z).

    `mode` 0 is linear, 1 nearest, 2 cubic. `padding_mode` 0 reads zeros outside, 1 the border,
    2 the reflection.
    """
    sizes = x.shape[2:]
    batch: Array = np.expand_dims(np.arange(len(x), dtype=np.intp), tuple(range(1, grid.ndim - 1)))
    taps = [
        _taps(grid[..., -1 - i], size, mode, padding_mode, align_corners)
        for i, size in enumerate(sizes)
    ]
    out = np.zeros((x.shape[0], *grid.shape[1:-1], x.shape[1]), x.dtype)
    for corner in itertools.product(*taps):
        weight = np.ones(grid.shape[:-1], x.dtype)
        index: list[npt.NDArray[np.intp]] = []
        for tap, size in zip(corner, sizes, strict=True):
            weight = weight * tap.weight * ((tap.index >= 0) & (tap.index < size))
            index.append(np.clip(tap.index, 0, size - 1).astype(np.intp))
        out += x[(batch, slice(None), *index)] * weight[..., None]
    return np.moveaxis(out, -1, 1)


def _taps(grid: Array, size: int, mode: int, padding: int, align: bool) -> list[_Tap]:
    edges = size - 1 if align else size
    position = grid * np.float32(edges / 2) + np.float32((size - 1) / 2)
    if mode == CUBIC:
        floor = np.floor(position)
        rest = position - floor
        places = ((k, _cubic(np.abs(rest - k))) for k in range(-1, 3))
        return [_Tap(np.rint(_inside(floor + k, size, padding, align)), w) for k, w in places]
    position = _inside(position, size, padding, align)
    if mode == NEAREST:
        return [_Tap(np.rint(position), np.ones_like(position))]
    floor = np.floor(position)
    rest = position - floor
    return [_Tap(floor, 1 - rest), _Tap(floor + 1, rest)]


def _inside(position: Array, size: int, padding: int, align: bool) -> Array:
    """Where a position is read; outside stays outside where zeros are read."""
    if padding == ZEROS:
        return position
    if padding == REFLECTION:
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        if not span:
            return np.zeros_like(position)
        folded = np.mod(position - low, 2 * span)
        position = low + span - np.abs(folded - span)
    return np.clip(position, 0, size - 1)


def _cubic(away: Array) -> Array:
    """The cubic convolution kernel at distances up to 2 (R. Keys, 1981)."""
    a = SHARPNESS
    near = ((a + 2) * away - (a + 3)) * away**2 + 1
    far = ((a * away - 5 * a) * away + 8 * a) * away - 4 * a
    return np.where(away <= 1, near, far)
