"""Element types: what the precision codes of the commands mean in numpy.

docs/hardware/machine.md#precisions.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.isa.codes import Precision
from xdsl_tpu.dialects.errors import TpuError

Array: TypeAlias = npt.NDArray[Any]
"""An array of any element type."""

FLOAT32_TINY = np.float32(2.0**-126)
_ROUNDS_TO_TINY = 2.0**-126 * (1 - 2.0**-25)
"""The smallest normal f32."""

_ABSOLUTE = np.uint32(0x7FFF_FFFF)
_LARGEST_SUBNORMAL = np.uint32(0x007F_FFFF)
_NAN_16 = np.uint16(0x7FFF)
_INFINITY_16 = np.uint16(0x7C00)
_MANY = 1 << 12
"""Values for which it pays to look them up in a table."""
_NEW_NAN = np.uint32(0xFFC0_0000)
_QUIET = np.uint32(0x0040_0000)


@dataclass(frozen=True)
class Element:
    """An element type: how it lies in memory (`storage`) and what numpy computes with.

    bf16 has no numpy type: it is stored as uint16 and computed as float32. Of `packed` elements
    (int4) there are two in a byte of memory; numpy holds each in a byte of its own.
    """

    name: str
    storage: np.dtype[Any]
    is_float: bool = False
    packed: bool = False

    @property
    def size(self) -> int:
        """Bytes of one element (of a packed one: in numpy)."""
        return self.storage.itemsize

    @property
    def limits(self) -> tuple[int, int]:
        """The smallest and the largest integer."""
        info = np.iinfo(self.storage)
        return (int(info.min) >> 4, int(info.max) >> 4) if self.packed else (info.min, info.max)

    @property
    def lowest(self) -> Array:
        """The lowest finite number of a float type, as `load` gives it, shape ()."""
        return self.immediate(
            {2: 0xFBFF, 4: 0xFF7F_FFFF}[self.size] if self is not BF16 else 0xFF7F
        )

    def load(self, stored: Array) -> Array:
        """Values of stored elements (the same array unless the type is bf16)."""
        return bfloat16_to_float32(stored) if self is BF16 else stored

    def store(self, values: Array) -> Array:
        """Stored elements of values; floats are rounded to nearest even, integers wrap.

        In 16 bits there is one NaN, 0x7fff.
        """
        if self is BF16:
            return float32_to_bfloat16(values.astype(np.float32, copy=False))
        stored = values.astype(self.storage, copy=False)
        return _one_nan(stored) if self is F16 else stored

    def pack(self, values: Array) -> Array:
        """Stored elements of values that came out of `load`: no bit changes."""
        if self is BF16:
            return (np.ascontiguousarray(values).view(np.uint32) >> 16).astype(np.uint16)
        return values

    def immediate(self, bits: int) -> Array:
        """The value of a constant operand: the low bits of its address field, shape ()."""
        if self.packed:
            low, high = self.limits
            value = bits & 15
            return np.asarray(value - 16 if value > high and low else value, self.storage)
        raw = (bits & ((1 << 8 * self.size) - 1)).to_bytes(self.size, "little")
        return self.load(np.frombuffer(raw, self.storage))[0:1].reshape(())


I8 = Element("i8", np.dtype(np.int8))
U8 = Element("u8", np.dtype(np.uint8))
I16 = Element("i16", np.dtype(np.int16))
U16 = Element("u16", np.dtype(np.uint16))
I32 = Element("i32", np.dtype(np.int32))
U32 = Element("u32", np.dtype(np.uint32))
F16 = Element("f16", np.dtype(np.float16), is_float=True)
BF16 = Element("bf16", np.dtype(np.uint16), is_float=True)
F32 = Element("f32", np.dtype(np.float32), is_float=True)
I4 = Element("i4", np.dtype(np.int8), packed=True)
U4 = Element("u4", np.dtype(np.uint8), packed=True)

_BY_CODE: dict[int, tuple[Element, Element]] = {
    Precision.I8: (U8, I8),
    Precision.F16: (F16, F16),
    Precision.F32: (F32, F32),
    Precision.I16: (U16, I16),
    Precision.I32: (U32, I32),
    Precision.BF16: (BF16, BF16),
}

_BY_SIZE: dict[int, Element] = {1: U8, 2: U16, 4: U32}


def element(code: int, signed: int = 1) -> Element:
    """The element type of a precision code; raises TpuError for int4 and unknown codes."""
    if code == Precision.I4:
        raise TpuError(
            "int4 here is not simulated: its layout and numerics are known only for operands of "
            "sCONV, sMM and sMM2 and for EU-aligned casts and copies of sAR"
        )
    if code not in _BY_CODE:
        raise TpuError(f"precision code {code} does not exist: codes 0 to 6")
    return _BY_CODE[code][signed]


def element_or_int4(code: int, signed: int = 1) -> Element:
    """As `element`, for operands that may be int4."""
    return (U4, I4)[signed] if code == Precision.I4 else element(code, signed)


def raw_element(code: int) -> Element:
    """An unsigned type of the same size, for commands that only move bits."""
    return _BY_SIZE[element(code).size]


def bfloat16_to_float32(stored: Array) -> Array:
    """bf16 bits (uint16) as f32; exact."""
    return (stored.astype(np.uint32) << 16).view(np.float32)


def float32_to_bfloat16(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """f32 as bf16 bits, rounded to nearest even; a NaN stays a NaN."""
    bits = np.ascontiguousarray(values).view(np.uint32).reshape(values.shape)
    rounded = (bits + (((bits >> 16) & 1) + 0x7FFF)) >> 16
    return np.where(np.isnan(values), 0x7FFF, rounded).astype(np.uint16)


def _one_nan(stored: Array) -> Array:
    """f16 with every NaN replaced by 0x7fff; the same array if there is none."""
    magnitude = stored.view(np.uint16) & _NAN_16
    unordered = magnitude > _INFINITY_16
    if not unordered.any():
        return stored
    return np.where(unordered, _NAN_16, np.ascontiguousarray(stored).view(np.uint16)).view(
        np.float16
    )


def widened(values: Array) -> Array:
    """f16 as f32; other arrays as they are. Exact, and many in a fraction of numpy's time."""
    if values.dtype != np.float16:
        return values
    if values.size < _MANY:
        return values.astype(np.float32)
    return _all_widened().take(values.view(np.uint16))


@cache
def _all_widened() -> npt.NDArray[np.float32]:
    return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)


def settled(result: Array, first: Array, second: Array) -> Array:
    """The result of an f32 operation with the NaNs of the chip's C model.

    The NaN of the first operand wins over that of the second; a new one is 0xffc00000.
    """
    if result.dtype != np.float32:
        return result
    unordered = np.isnan(result)
    if not unordered.any():
        return result
    bits = np.where(np.isnan(second), _quiet(second), _NEW_NAN)
    bits = np.where(np.isnan(first), _quiet(first), bits)
    return np.where(unordered, bits, result.view(np.uint32)).view(np.float32)


def product(a: Array | np.float32, b: Array) -> Array:
    """a * b; f32 results that are subnormal before they are rounded are zeros of their sign.

    In the coarse steps of subnormals such a product may round up to the least normal number.
    """
    values = a * b
    if values.dtype != np.float32:
        return values
    least = np.abs(values) == FLOAT32_TINY
    if not least.any():
        return values
    below = np.abs(np.multiply(a, b, dtype=np.float64)) < _ROUNDS_TO_TINY
    return np.where(least & below, np.copysign(np.float32(0), values), values)


def _quiet(values: Array) -> npt.NDArray[np.uint32]:
    return np.ascontiguousarray(values).reshape(np.shape(values)).view(np.uint32) | _QUIET


def flushed(values: Array) -> Array:
    """f32 values with subnormals replaced by zeros of the same sign; others unchanged.

    Works in place on contiguous arrays; returns the array to use.
    """
    if values.dtype != np.float32:
        return values
    bits = np.ascontiguousarray(values).view(np.uint32)
    magnitude = bits & _ABSOLUTE
    magnitude -= np.uint32(1)  # zero wraps to the top, so it is no longer below the limit
    subnormal = magnitude < _LARGEST_SUBNORMAL
    if not subnormal.any():
        return values
    sign = bits & ~_ABSOLUTE
    return np.where(subnormal, sign, bits).view(np.float32).reshape(values.shape)
