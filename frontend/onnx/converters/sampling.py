"""Resizing along one axis: which elements each result is made of, and how much of each.

ONNX operators, Resize: a result's coordinate becomes one of the input, and the elements around
that are weighted by a kernel (nearest, linear, cubic).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sampling:
    """How Resize reads one axis; attributes as in ONNX. `start` and `end` are those of the roi."""

    mode: str
    coordinates: str
    nearest: str = "round_prefer_floor"
    cubic: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False
    start: float = 0.0
    end: float = 1.0


ROUNDINGS: dict[str, Callable[[Positions], Positions]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
}


def positions(how: Sampling, old: int, new: int, scale: float) -> Positions:
    """The coordinate in an axis of `old` elements of each of `new` results.

    Scales are f32 numbers, and so are coordinates: 3 / 0.6 is 5 only then.
    """
    index, kind = np.arange(new, dtype=np.float64), how.coordinates
    if kind == "asymmetric":
        return (index.astype(np.float32) / np.float32(scale)).astype(np.float64)
    if kind == "align_corners":
        # ONNX's reference takes the length before it is rounded down.
        length = old * scale
        return index * (old - 1) / (length - 1) if length != 1 else np.zeros(new)
    if kind == "tf_crop_and_resize":
        if new == 1:
            return np.full(1, (how.start + how.end) * (old - 1) / 2)
        step = (how.end - how.start) * (old - 1) / (new - 1)
        return how.start * (old - 1) + index * step
    if kind == "pytorch_half_pixel" and new == 1:
        return np.zeros(1)
    if kind == "half_pixel_symmetric":
        adjusted = new / (scale * old)
        offset = old / 2 * (1 - adjusted)
        return offset + (index + 0.5) / scale - 0.5
    half = np.float32(0.5)
    centres = (index.astype(np.float32) + half) / np.float32(scale) - half
    return centres.astype(np.float64)


def outside(how: Sampling, old: int, new: int, scale: float) -> npt.NDArray[np.bool_]:
    """Results that lie outside the input, which tf_crop_and_resize sets to a constant."""
    at = positions(how, old, new, scale)
    return (at < 0) | (at > old - 1)


def matrix(how: Sampling, old: int, new: int, scale: float) -> Positions:
    """(old, new): column j holds what the elements contribute to result j."""
    rows, weights = _taps(how, old, new, scale)
    result = np.zeros((old, new))
    np.add.at(result, (rows, np.arange(new)[:, None]), weights)
    return result


def resized(how: Sampling, x: Positions, new: int, scale: float) -> Positions:
    """`x` (any number, old) times the matrix, without making it: (any number, new)."""
    rows, weights = _taps(how, x.shape[1], new, scale)
    return (x[:, rows] * weights).sum(-1)


def _taps(
    how: Sampling, old: int, new: int, scale: float
) -> tuple[npt.NDArray[np.int_], Positions]:
    """The elements that each result is made of, and how much of each: (new, taps)."""
    at = positions(how, old, new, scale)
    if how.mode == "nearest":
        chosen = np.clip(ROUNDINGS[how.nearest](at), 0, old - 1).astype(int)
        return chosen[:, None], np.ones((new, 1))
    # Antialiasing widens the kernel of a shrinking axis to the elements one result stands for.
    stretch = min(scale, 1.0) if how.antialias else 1.0
    reach = int(np.ceil((1.0 if how.mode == "linear" else 2.0) / stretch))
    first = np.floor(at) - reach + 1
    taps = first[:, None] + np.arange(2 * reach)
    away = np.abs(taps - at[:, None]) * stretch
    weights = _linear(away) if how.mode == "linear" else _cubic(away, how.cubic)
    if how.exclude_outside:
        weights = np.where((taps < 0) | (taps >= old), 0.0, weights)
    if how.antialias or how.exclude_outside:
        weights = weights / weights.sum(1, keepdims=True)
    return np.clip(taps, 0, old - 1).astype(int), weights


def _linear(away: Positions) -> Positions:
    return np.clip(1 - away, 0, None)


def _cubic(away: Positions, a: float) -> Positions:
    """The cubic convolution kernel (R. Keys, 1981)."""
    near = ((a + 2) * away - (a + 3)) * away**2 + 1
    far = ((a * away - 5 * a) * away + 8 * a) * away - 4 * a
    return np.where(away <= 1, near, np.where(away < 2, far, 0.0))
