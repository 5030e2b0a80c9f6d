"""Numbers of the quantised domain: scales, and multiplier-and-shift pairs that stand for them."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


LARGEST_BIAS = 2.0**30
"""Of biases in units of a sum: half of what 32 bits hold, the rest is for zero points."""


def least_scale(bias: Array, in_scale: float) -> Array:
    """For each bias, the least scale of weights with which 32 bits hold it in units of the sum."""
    return np.abs(bias).astype(np.float64) / (in_scale * LARGEST_BIAS)


def round_half_away(values: Array) -> Array:
    """To the nearest integer, halves away from zero, as doubles."""
    doubles = values.astype(np.float64)
    return np.copysign(np.floor(np.abs(doubles) + 0.5), doubles)


def saturate(values: Array, signed: bool) -> Array:
    """Rounded and clipped to int8 or uint8."""
    rounded = round_half_away(values)
    if signed:
        return np.clip(rounded, -128, 127).astype(np.int8)
    return np.clip(rounded, 0, 255).astype(np.uint8)


def multipliers_and_shifts(
    scales: npt.ArrayLike, bits: int = 32, *, first_shift: int = -32
) -> tuple[list[int], list[int]]:
    """Integers m and n with m / 2^n nearest to each scale, the smallest n where several are.

    `scales` are taken as float32, and so is the error that is compared. m stays below 2^31 - 1
    for 32 bits and below 127 for 8, n in `first_shift`..30.
    """
    targets = np.atleast_1d(np.asarray(scales, np.float64)).astype(np.float32).astype(np.float64)
    limit = 2**31 - 1 if bits == 32 else 127
    best = np.full(targets.shape, np.finfo(np.float32).max, np.float32)
    multipliers = np.zeros(targets.shape, np.int64)
    shifts = np.zeros(targets.shape, np.int64)
    for shift in range(first_shift, 31):
        candidates = round_half_away(targets * 2.0**shift)
        errors = np.abs(candidates * 2.0**-shift - targets).astype(np.float32)
        better = (errors < best) & (np.abs(candidates) < limit)
        best = np.where(better, errors, best)
        multipliers = np.where(better, candidates, multipliers).astype(np.int64)
        shifts = np.where(better, shift, shifts)
    return [int(m) for m in multipliers], [int(n) for n in shifts]


@functools.cache
def multiplier_and_shift(scale: float, bits: int = 32) -> tuple[int, int]:
    """As `multipliers_and_shifts`, for one scale."""
    (multiplier,), (shift,) = multipliers_and_shifts([scale], bits)
    return multiplier, shift


@functools.cache
def positive_multiplier_and_shift(scale: float, bits: int = 8) -> tuple[int, int]:
    """As `multiplier_and_shift`, with a shift to the right only."""
    (multiplier,), (shift,) = multipliers_and_shifts([scale], bits, first_shift=0)
    return multiplier, shift
