"""Rounding to the element types of the chip, and its rounding modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
F32 = npt.NDArray[np.float32]


def to_f16(x: F32) -> F32:
    """The nearest f16 (ties to even), held as float32; beyond 65504 an infinity."""
    return x.astype(np.float16).astype(np.float32)


def to_bf16(x: F32) -> F32:
    """The nearest bf16 (ties to even), held as float32.

    bf16 is the upper half of an f32; adding 0x7fff plus the lowest kept bit before cutting
    rounds to nearest even and carries into the exponent, up to infinity. NaN stays NaN.
    """
    bits = np.asarray(x, np.float32, order="C").view(np.uint32)  # keeps a scalar a scalar
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), np.float32(np.nan), rounded.view(np.float32))


_BLOCK: Final = 1 << 16
"""Elements rounded at once where a tensor is rounded in place, so temporaries stay in cache."""


def round_in_place(x: F32, rounding: Callable[[F32], F32]) -> F32:
    """`rounding(x)`, written over `x` where it is one writeable block of memory.

    A tensor of a gigabyte is then rounded without a second one.
    """
    if x.size <= _BLOCK or not (x.flags.c_contiguous and x.flags.writeable):
        return rounding(x)
    flat = x.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        flat[start : start + _BLOCK] = rounding(flat[start : start + _BLOCK])
    return x


def half_away_from_zero(x: Array) -> Array:
    """1.5 -> 2, -1.5 -> -2; C's `round`."""
    return np.trunc(x + np.copysign(0.5, x))


def _half_to_odd(x: Array) -> Array:
    even = np.rint(x)
    tie = np.abs(x - np.trunc(x)) == 0.5
    return np.where(tie, np.floor(x) + np.ceil(x) - even, even)


ROUND_MODES: Final[Mapping[str, Callable[[Array], Array]]] = {
    "HalfAwayFromZero": half_away_from_zero,
    "HalfUp": lambda x: np.floor(x + 0.5),
    "HalfDown": lambda x: np.ceil(x - 0.5),
    "HalfToEven": np.rint,
    "HalfToOdd": _half_to_odd,
    "HalfTowardsZero": lambda x: np.copysign(np.ceil(np.abs(x) - 0.5), x),
    "TowardsZero": np.trunc,
    "Up": np.ceil,
    "Down": np.floor,
}
"""The rounding modes by the names the IR gives them: real number -> integer-valued number."""
