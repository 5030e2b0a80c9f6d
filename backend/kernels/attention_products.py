"""The two products of a fused attention on operands in local memory.

16 bits: MM2, which takes the keys as they lie. f32: convolutions of 1x1, whose left operand is
compact and which want the keys turned (docs/hardware/instructions.md#sconv).
"""

import math
from dataclasses import dataclass

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.product import multiply
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    Shape4,
    align,
    aligned,
    aligned_bytes,
    ceil_div,
    compact,
    strided,
)

F16, F32 = DType.F16, DType.F32


def turn_keys(e: Emitter, target: int, keys: LocalTensor) -> None:
    """Turn the keys (heads, rows, 1, columns) of each head."""
    heads, rows, _, columns = keys.shape
    size = aligned_bytes(e.chip, (1, columns, 1, rows), F32)
    for head in range(heads):
        matrix = aligned(e.chip, keys.at(head), (1, rows, 1, columns), F32)
        turned = aligned(e.chip, target + head * size, (1, columns, 1, rows), F32)
        transpose(e, turned, matrix)


def left_slots(chip: Chip, address: int, shape: Shape4, dtype: DType) -> LocalTensor:
    """Room for (heads, rows, 1, columns) where each head's matrix is a left operand."""
    if dtype is not F32:
        return aligned(chip, address, shape, dtype)
    _, rows, _, columns = shape
    step = ceil_div(rows, chip.lanes) * columns
    return strided(address, shape, (step, columns, columns, 1), dtype)


@dataclass(frozen=True, slots=True)
class Keys:
    """Which of the loaded keys are seen: those of a block, from the start of a lane group on."""

    block: Piece
    seen: Piece

    def skipped(self, chip: Chip) -> int:
        """Lane groups in front of them."""
        return (self.seen.start - self.block.start) // chip.lanes


def times_keys(
    e: Emitter, out: LocalTensor, queries: int, keys: int, which: Keys, depth: int, dtype: DType
) -> None:
    """out (1, rows, 1, keys) = one head's queries times its keys, of which those of f32 are
    turned."""
    chip, rows = e.chip, out.shape[1]
    if dtype is F32:
        turned = aligned(chip, keys, (1, depth, 1, which.block.size), F32)
        start = which.seen.start - which.block.start
        part = turned.window((0, 0, 0, start), (1, depth, 1, which.seen.size), chip)
        right = turned if part.shape == turned.shape else part
        multiply(e, out, compact(chip, queries, (1, rows, 1, depth), F32), right)
        return
    pitch = align(depth, chip.eu(dtype.bytes)) * dtype.bytes
    right = aligned(chip, keys + which.skipped(chip) * pitch, (1, which.seen.size, 1, depth), dtype)
    e.mm2(out, aligned(chip, queries, (1, rows, 1, depth), dtype), right, right_transpose=True)


def times_values(
    e: Emitter,
    out: LocalTensor,
    powers: int,
    values: int,
    which: Keys,
    dtype: DType,
    accumulate: bool,
) -> None:
    """out (1, rows, 1, columns) = (or +=) one head's powers times its values."""
    chip, (_, rows, _, width) = e.chip, out.shape
    pitch = align(width, chip.eu(dtype.bytes)) * dtype.bytes
    shape = (1, which.seen.size, 1, width)
    right = aligned(chip, values + which.skipped(chip) * pitch, shape, dtype)
    make = compact if dtype is F32 else aligned
    left = make(chip, powers, (1, rows, 1, which.seen.size), dtype)
    multiply(e, out, left, right, accumulate=accumulate)


def scale_factors(scale: float, dtype: DType) -> tuple[float, float]:
    """Two numbers of a type whose product is `scale`, to several digits more than one has."""
    if dtype is F32:
        return scale, 1.0
    bits = 10 if dtype is F16 else 7
    second = np.arange(1 << bits, 2 << bits, dtype=np.float64) / (1 << bits)
    fractions, exponents = np.frexp(abs(scale) / second)
    first = np.ldexp(np.round(fractions * (2 << bits)) / (2 << bits), exponents)
    best = int(np.argmin(np.abs(first * second - abs(scale))))
    return math.copysign(float(first[best]), scale), float(second[best])
