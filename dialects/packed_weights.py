"""Matrices in 4 or 8 bits, as `A16MatMul` has them: every group of a row shares a scale.

A matrix [N, K] has, for each row n and each group of `group` neighbours k, a scale s and a zero
point z; element q stands for (q - z) * s. The zero point lies within the numbers of q.

    values   uint8 [N, K * bits / 8]; in 4 bits, byte j of a row holds q[2j] in its low half and
             q[2j + 1] in its high half
    scale    float16 [N, K / group]
    zero     uint8 [N, K / group]
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.weight_grids import with_grids

Array = npt.NDArray[Any]

BITS = (4, 8)
FORMATS = {f"W{bits}{floats}": (floats, bits) for floats in ("F16", "BF16") for bits in BITS}
"""Number formats of programs with packed matrices: what they compute in, and bits."""
SMALLEST_RANGE = np.float32(1e-5)
"""Of a group whose weights are all 0."""

_BLOCK = 1 << 18
"""Elements that are worked on at a time: they stay in a processor's cache from step to step."""

_ALMOST_HALF = np.nextafter(np.float32(0.5), np.float32(0))
"""Added to a magnitude and cut off, it rounds halves away from 0 and nothing else up."""


def floats_of(format: str) -> str:
    """In what a number format computes: W4F16 in F16, others in what they say."""
    return FORMATS.get(format, (format, 0))[0]


def bits_of(format: str) -> int:
    """Of the matrices of a number format; 0 where it does not pack them."""
    return FORMATS.get(format, (format, 0))[1]


@dataclass(frozen=True)
class PackedMatrix:
    """A matrix [N, K] in `bits` bits; see the module for the arrays."""

    values: npt.NDArray[np.uint8]
    scale: npt.NDArray[np.float16]
    zero: npt.NDArray[np.uint8]
    bits: int
    group: int

    @property
    def shape(self) -> tuple[int, int]:
        """N and K."""
        rows, bytes_ = self.values.shape
        return rows, bytes_ * 8 // self.bits

    def floats(self) -> npt.NDArray[np.float32]:
        """The numbers that it stands for, float32 [N, K]."""
        return dequantised(self.values, self.scale, self.zero, self.bits, self.group)


def quantise(weights: Array, bits: int, group: int, symmetric: bool = False) -> PackedMatrix:
    """The packed form of a float matrix [N, K]; each group's range includes 0.

    Groups whose numbers are integers of so many bits times one scale already, as those of models
    that bring such matrices are, keep integers and scale (`weight_grids`). Of all others:
    asymmetric: s = max(high - low, 1e-5) / (2^bits - 1), z = round(-low / s); symmetric:
    s = 2 max|w| / (2^bits - 1), z = 2^(bits - 1). q = round(w / s) + z, halves away from 0. The
    scale is rounded to float16 after q and z are computed from it.

    Raises TpuError for other bits, a K that groups do not divide, and scales beyond float16.
    """
    rows, columns = weights.shape
    check_groups(columns, bits, group)
    values = np.empty((rows, columns * bits // 8), np.uint8)
    scale = np.empty((rows, columns // group), np.float16)
    zero = np.empty((rows, columns // group), np.uint8)
    for some in _row_blocks(rows, columns):
        block = np.asarray(weights[some], np.float32).reshape(-1, columns // group, group)
        step, origin = with_grids(block, bits, *_steps(block, bits, symmetric), symmetric)
        with np.errstate(over="ignore"):
            scale[some] = step
        zero[some] = origin
        scaled = block / step[..., None]
        scaled += np.copysign(_ALMOST_HALF, scaled)
        np.trunc(scaled, out=scaled)
        scaled += origin[..., None]
        np.clip(scaled, 0, (1 << bits) - 1, out=scaled)
        values[some] = pack(scaled.astype(np.uint8).reshape(-1, columns), bits)
    if not np.isfinite(scale).all():
        raise TpuError("weights are not finite, or too large for a scale in float16")
    return PackedMatrix(values, scale, zero, bits, group)


def check_groups(columns: int, bits: int, group: int) -> None:
    """Raise TpuError unless rows of `columns` elements can be packed so."""
    if bits not in BITS:
        raise TpuError(f"weights are packed in {' or '.join(map(str, BITS))} bits, not in {bits}")
    if group < 2 or group % 2 or columns % group:
        raise TpuError(f"groups of {group} do not divide rows of {columns} weights")


def _steps(block: Array, bits: int, symmetric: bool) -> tuple[Array, Array]:
    """Scale and zero point, float32, of blocks [.., group]."""
    levels = np.float32((1 << bits) - 1)
    low = np.minimum(block.min(-1), np.float32(0))
    high = np.maximum(block.max(-1), np.float32(0))
    if symmetric:
        span = 2 * np.maximum(high, -low)
        return np.maximum(span, SMALLEST_RANGE) / levels, np.full_like(low, 1 << (bits - 1))
    step = np.maximum(high - low, SMALLEST_RANGE) / levels
    return step, np.clip(np.trunc(-low / step + _ALMOST_HALF), 0, levels)


def pack(numbers: npt.NDArray[np.uint8], bits: int) -> npt.NDArray[np.uint8]:
    """Rows of numbers of `bits` bits as bytes."""
    if bits == 8:
        return numbers
    pairs = np.ascontiguousarray(numbers).view("<u2")
    return (pairs | (pairs >> 4)).astype(np.uint8)


def unpack(values: npt.NDArray[np.uint8], bits: int) -> npt.NDArray[np.uint8]:
    """The numbers in rows of bytes."""
    if bits == 8:
        return values
    numbers = np.empty((values.shape[0], values.shape[1] * 2), np.uint8)
    numbers[:, 0::2], numbers[:, 1::2] = values & 15, values >> 4
    return numbers


def dequantised(
    values: Array, scale: Array, zero: Array, bits: int, group: int
) -> npt.NDArray[np.float32]:
    """(q - z) * s, float32 [N, K]; all three may be arrays of any number type."""
    values = values.astype(np.uint8, copy=False)
    rows = values.shape[0]
    columns = values.shape[1] * 8 // bits
    out = np.empty((rows, columns), np.float32)
    for some in _row_blocks(rows, columns):
        numbers = unpack(values[some], bits).reshape(-1, columns // group, group)
        block = numbers.astype(np.float32) - zero[some].astype(np.float32)[..., None]
        block *= scale[some].astype(np.float32)[..., None]
        out[some] = block.reshape(-1, columns)
    return out


def _row_blocks(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(columns, 1))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))
