"""Reciprocal square root and division as the lanes compute them.

docs/hardware/instructions.md#reciprocals-and-roots: a first guess from the exponent bits
and Newton steps, every operation rounded to f32, subnormal results flushed to zero.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.machine.elements import Array, flushed, product, settled

Float32 = npt.NDArray[np.float32]

_FIRST_GUESS = np.uint32(0x5F3759DF)
_HALF = np.float32(0.5)
_THREE_HALVES = np.float32(1.5)


def rsqrt(x: Array, iterations: int) -> Float32:
    """1 / sqrt(x) after `iterations` + 1 Newton steps; garbage for negative x."""
    bits = np.ascontiguousarray(x, np.float32).view(np.int32)
    y: npt.NDArray[Any] = (_FIRST_GUESS - (bits >> 1).view(np.uint32)).view(np.float32)
    y = y.reshape(np.shape(x))
    y = flushed(y)
    half = flushed(product(_HALF, flushed(x)))
    for _ in range(iterations + 1):
        step = flushed(product(flushed(product(half, y)), y))
        y = flushed(product(y, _THREE_HALVES - step))
    return y


def rsqrt_half(bits: npt.NDArray[np.uint16], iterations: int) -> npt.NDArray[np.uint16]:
    """What the chip's C model stores for rsqrt of f16: no reciprocal root at all.

    It takes the 16 bits for those of an f32. That is a subnormal, so every step multiplies the
    first guess by 1.5 and nothing else; the low half of the last f32 is stored.
    """
    wide = bits.astype(np.uint32)
    y: npt.NDArray[Any] = (_FIRST_GUESS - (wide >> np.uint32(1))).view(np.float32)
    for _ in range(iterations + 1):
        y = y * _THREE_HALVES
    return y.view(np.uint32).astype(np.uint16)


def divide(a: Array, b: Array, iterations: int) -> Float32:
    """a / b as (r * r) * a with r = rsqrt(|b|); for a negative b that is a number a is negated."""
    root = rsqrt(np.abs(b), iterations)
    square = flushed(product(root, root))
    signed = np.where(np.signbit(b) & ~np.isnan(b), -a, a)
    return flushed(settled(product(square, signed), square, signed))
