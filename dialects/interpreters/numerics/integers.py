"""Exact arithmetic of quantised ops: products, rounding shifts, saturation.

docs/hardware/quantization.md#scales: a real factor s is multiplier / 2^shift, and
result = saturate(round(x * multiplier / 2^shift)).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.numerics.rounding import to_bf16, to_f16

Array = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

_WIDEST_SHIFT: Final = 62

_SHIFTS: Final[Mapping[str, Callable[[Int64, Int64, Int64], Int64]]] = {
    "HalfAwayFromZero": lambda x, s, half: np.sign(x) * ((np.abs(x) + half) >> s),
    "HalfUp": lambda x, s, half: (x + half) >> s,
    "HalfDown": lambda x, s, half: (x + half - 1) >> s,
    "TowardsZero": lambda x, s, half: np.sign(x) * (np.abs(x) >> s),
    "Up": lambda x, s, half: -((-x) >> s),
    "Down": lambda x, s, half: x >> s,
}


def shift_right(values: Array, shift: Array | int, mode: str) -> Int64:
    """`values / 2^shift` rounded by a mode of the IR; a negative shift multiplies.

    `shift` broadcasts against `values`, which need room for half of the divisor in 64 bits.
    ValueError for a mode that the chip's shifts do not know.
    """
    if mode not in _SHIFTS:
        raise ValueError(f"integers are not shifted with round mode {mode}")
    wide = np.asarray(values, np.int64)
    amount = np.minimum(np.asarray(shift, np.int64), _WIDEST_SHIFT)
    down = np.maximum(amount, 0)
    half = (np.int64(1) << down) >> 1
    rounded = np.where(down > 0, _SHIFTS[mode](wide, down, half), wide)
    shifted: Int64 = rounded.astype(np.int64) << np.maximum(-amount, 0)
    return shifted


def saturate(values: Array, dtype: np.dtype[Any]) -> Array:
    """`values` limited to what an integer type holds, in that type."""
    limits = np.iinfo(dtype)
    return np.clip(values, limits.min, limits.max).astype(dtype)


def scaled(x: Array, multiplier: Array | int, shift: Array | int, mode: str) -> Int64:
    """round(x * multiplier / 2^shift), not limited."""
    return shift_right(np.asarray(x, np.int64) * np.asarray(multiplier, np.int64), shift, mode)


_SMALLEST_NORMAL: Final = 2.0**-14
_LARGEST: Final = 65504.0


def fits_f16(scale: float) -> bool:
    """Whether a factor is a normal f16: casts of f16 tensors then multiply in f16."""
    return _SMALLEST_NORMAL <= abs(scale) <= _LARGEST


def round_half_away(x: Array) -> Array:
    """The nearest whole number, ties away from zero, as float64."""
    wide = np.asarray(x, np.float64)
    whole = np.trunc(wide)
    return whole + np.copysign(np.abs(wide - whole) >= 0.5, wide)


def quantize(x: Array, scale: float, kind: str, dtype: np.dtype[Any], zero: int = 0) -> Array:
    """saturate(round(x / scale + zero)), ties away from zero; NaN becomes 0.

    The division is a multiplication by the rounded reciprocal: for `kind` "f16" in f16, both
    operands, the product and the sum rounded, when the reciprocal is a normal f16; else in f32.
    """
    reciprocal = 1.0 / scale
    if kind == "f16" and fits_f16(reciprocal):
        product = to_f16(x * to_f16(np.full(1, reciprocal, np.float32)))
        product = to_f16(product + np.float32(zero)) if zero else product
    else:
        product = np.asarray(x, np.float32) * np.float32(reciprocal)
        product = product + np.float32(zero) if zero else product
    limits = np.iinfo(dtype)
    bounded = np.clip(np.where(np.isnan(product), 0, product), limits.min, limits.max)
    return saturate(round_half_away(bounded), dtype)


def dequantize(x: Array, scale: float, kind: str, zero: int = 0) -> Array:
    """(x - zero) * scale as float32 numbers of `kind` "f32", "f16" or "bf16".

    Of f16 the scale and the product are rounded to f16 when the scale is a normal f16; else the
    product is made in f32.
    """
    singles = np.asarray(x, np.float32) - np.float32(zero)
    if kind == "f16":
        factor = np.full(1, scale, np.float32)
        return to_f16(singles * (to_f16(factor) if fits_f16(scale) else factor))
    product = singles * np.float32(scale)
    return to_bf16(product) if kind == "bf16" else product
