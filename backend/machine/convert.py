"""Casts between element types (sAR data_convert).

docs/hardware/instructions.md#sar.
"""

from functools import lru_cache

import numpy as np

from xdsl_tpu.backend.isa.codes import Rounding
from xdsl_tpu.backend.machine.elements import BF16, F16, F32, I32, Array, Element
from xdsl_tpu.backend.machine.rounding import (
    round_integer_to_float,
    round_to_float,
    round_to_integer,
)

_MANY = 1 << 16
"""Values that are looked up in a table of all."""

_NAN_16 = np.uint16(0x7FFF)
_SIGN_16 = np.uint16(0x8000)
_NAN_32 = np.uint32(0x7FFF_FFFF)


def convert(values: Array, source: Element, target: Element, mode: int) -> Array:
    """Stored elements of `target` for values of `source`, rounded by `mode`.

    Floats become integers rounded, then saturated, a NaN becoming 0; a cast to the same float
    type rounds to integer values; integers saturate.
    """
    if values.size >= _MANY and source.size <= 2 and values.dtype == source.storage:
        bits = values.view(f"u{source.size}")
        return _all_converted(source, target, mode).take(bits)
    return _converted(values, source, target, mode)


@lru_cache(maxsize=64)
def _all_converted(source: Element, target: Element, mode: int) -> Array:
    """What becomes of every value of a short type, by its bits."""
    every = np.arange(1 << 8 * source.size, dtype=f"u{source.size}").view(source.storage)
    with np.errstate(all="ignore"):
        return _converted(every, source, target, mode)


def _converted(values: Array, source: Element, target: Element, mode: int) -> Array:
    if not target.is_float:
        return _to_integer(values, source, target, mode)
    if source is target:
        return _rounded(values, target, mode)
    if source is BF16 and target is F32:
        return values
    if source is F16 and target is F32:
        return _widened(values)
    return _to_float(values, source, target, mode)


def _rounded(values: Array, kind: Element, mode: int) -> Array:
    """Integer values in the same float type; a NaN keeps its bits."""
    rounded = round_to_integer(values, mode)
    return np.where(np.isnan(values), kind.pack(values), kind.store(rounded))


def _widened(values: Array) -> Array:
    """f32 of f16; a NaN keeps only its sign."""
    wide = values.astype(np.float32)
    unordered = np.isnan(wide)
    if unordered.any():
        wide.view(np.uint32)[unordered] |= _NAN_32
    return wide


def _to_integer(values: Array, source: Element, target: Element, mode: int) -> Array:
    low, high = target.limits
    if not source.is_float:
        return np.clip(values.astype(np.int64), low, high).astype(target.storage)
    whole = round_to_integer(values.astype(np.float64), mode)
    whole = np.where(np.isnan(whole), 0.0, whole)
    return np.clip(whole, float(low), float(high)).astype(target.storage)


def _to_float(values: Array, source: Element, target: Element, mode: int) -> Array:
    """Short integers are exact in f32, so they round like floats; 32-bit ones do not."""
    if not source.is_float and source.size == I32.size:
        rounded = round_integer_to_float(values, target, mode)
        return target.store(rounded.astype(np.float32))
    values = values.astype(np.float32, copy=False)
    if mode == Rounding.HALF_EVEN:
        stored = target.store(values)
    else:
        stored = target.store(round_to_float(values, target, mode).astype(np.float32))
    unordered = np.isnan(values)
    if target is not F32 and unordered.any():
        nan = np.where(np.signbit(values), _NAN_16 | _SIGN_16, _NAN_16).view(stored.dtype)
        stored = np.where(unordered, nan, stored)
    return stored
