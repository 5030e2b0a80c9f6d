"""Rounding by mode: integer right shifts, float to integer, float to narrower float.

docs/hardware/instructions.md#rounding-and-special-values.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.isa.codes import Rounding
from xdsl_tpu.backend.machine.elements import BF16, F16, F32, Array, Element
from xdsl_tpu.dialects.errors import TpuError

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

_WIDEST_RESULT = 32


def _half_even(x: Int64, s: Int64, half: Int64) -> Int64:
    floor = x >> s
    rest = x - (floor << s)
    return floor + ((rest > half) | ((rest == half) & ((floor & 1) == 1)))


SHIFT_MODES: dict[int, Callable[[Int64, Int64, Int64], Int64]] = {
    Rounding.HALF_EVEN: _half_even,
    Rounding.HALF_AWAY: lambda x, s, half: np.sign(x) * ((np.abs(x) + half) >> s),
    Rounding.TOWARD_ZERO: lambda x, s, half: np.sign(x) * (np.abs(x) >> s),
    Rounding.FLOOR: lambda x, s, half: x >> s,
    Rounding.CEIL: lambda x, s, half: -((-x) >> s),
    Rounding.HALF_UP: lambda x, s, half: (x + half) >> s,
    Rounding.HALF_DOWN: lambda x, s, half: (x + half - 1) >> s,
}


def shift_right(values: Array, amount: Array, mode: int) -> Array:
    """values / 2**amount rounded to an integer; an amount of 0 changes nothing.

    `amount` broadcasts against `values`, whose type has a bit more than they need.
    """
    widest = 8 * values.dtype.itemsize - 2
    amount = np.minimum(amount, widest).astype(values.dtype)
    if not amount.any():
        return values
    half = (np.ones((), values.dtype) << amount) >> 1
    return np.where(amount > 0, _by_mode(SHIFT_MODES, mode)(values, amount, half), values)


def shift(values: Int64, amount: Array, mode: int, low: int, high: int) -> Array:
    """values * 2**amount limited to [low, high]; negative amounts round by `mode`."""
    amount = np.asarray(amount, np.int64)
    right = shift_right(values, np.maximum(-amount, 0), mode)
    left = np.clip(amount, 0, _WIDEST_RESULT)
    if left.any():
        # Limiting first keeps the product inside 64 bits without changing the limited result.
        right = np.clip(right, (low >> left) - 1, (high >> left) + 1) << left
    return np.clip(right, low, high)


def wrapped(sums: Array) -> npt.NDArray[np.int32]:
    """Integers as 32 bits hold them (measured of sums of products)."""
    return sums.astype(np.uint32).view(np.int32)


def _half_away(x: Float64) -> Float64:
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x)


def _half_zero(x: Float64) -> Float64:
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) > 0.5, x)


FLOAT_MODES: dict[int, Callable[[Any], Any]] = {
    Rounding.HALF_EVEN: np.rint,
    Rounding.HALF_AWAY: _half_away,
    Rounding.TOWARD_ZERO: np.trunc,
    Rounding.FLOOR: np.floor,
    Rounding.CEIL: np.ceil,
    Rounding.HALF_UP: _half_away,
    Rounding.HALF_DOWN: _half_zero,
}


INTEGER_TO_FLOAT_MODES: dict[int, Callable[[Any], Any]] = {
    **FLOAT_MODES,
    Rounding.HALF_UP: lambda x: np.floor(x + 0.5),
    Rounding.HALF_DOWN: lambda x: np.ceil(x - 0.5) + 0.0,  # no negative zero
}


def round_to_integer(values: Array, mode: int) -> Array:
    """Floats with integer values, in the dtype of `values`; NaN and infinities stay."""
    return _by_mode(FLOAT_MODES, mode)(values)


_FORMATS: dict[Element, tuple[int, int, float]] = {
    F16: (10, -14, 65504.0),
    BF16: (7, -126, float(np.uint32(0x7F7F0000).view(np.float32))),
    F32: (23, -126, float(np.finfo(np.float32).max)),
}
"""Stored mantissa bits, smallest exponent, largest finite value."""


def round_to_float(values: Array, kind: Element, mode: int) -> Array:
    """Floats rounded by `mode` to what `kind` can hold, as float64.

    Beyond the largest finite value the result is infinite: rounding toward zero keeps only what
    is still in the last binade.
    """
    rounded = _on_grid(values.astype(np.float64), kind, _by_mode(FLOAT_MODES, mode))
    largest = _FORMATS[kind][2]
    return np.where(np.abs(rounded) > largest, np.copysign(np.inf, rounded), rounded)


def round_integer_to_float(values: Array, kind: Element, mode: int) -> Array:
    """Integers rounded by `mode` to what `kind` can hold, as float64.

    The modes are those of the integer shifts (5 half up, 6 half down); a mode that rounds
    an overflowing value toward zero gives the largest finite value.
    """
    wide = values.astype(np.float64)
    rounded = _on_grid(wide, kind, _by_mode(INTEGER_TO_FLOAT_MODES, mode))
    largest = _FORMATS[kind][2]
    infinite = np.inf * np.ones_like(wide)
    above = largest if mode in (Rounding.TOWARD_ZERO, Rounding.FLOOR) else infinite
    below = -largest if mode in (Rounding.TOWARD_ZERO, Rounding.CEIL) else -infinite
    return np.where(rounded > largest, above, np.where(rounded < -largest, below, rounded))


def _on_grid(wide: Float64, kind: Element, rounding: Callable[[Any], Any]) -> Float64:
    """Values rounded to the mantissa of `kind` at their exponent, without an upper limit."""
    bits, smallest, _ = _FORMATS[kind]
    _, exponent = np.frexp(wide)
    step = np.maximum(exponent - 1, smallest) - bits
    return np.ldexp(rounding(np.ldexp(wide, -step)), step)


def _by_mode(table: dict[int, Callable[..., Any]], mode: int) -> Callable[..., Any]:
    if mode not in table:
        raise TpuError(f"rounding mode {mode} does not exist: modes 0 to 6")
    return table[mode]
