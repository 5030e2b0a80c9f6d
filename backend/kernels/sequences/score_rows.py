"""Softmax of rows of scores that stay in local memory, not yet divided by its sums.

Scores are powers of two: whoever makes them multiplies by log2 e. Rows lie on lanes, several of
them in each lane. A block of keys at a time may be given; then the largest score so far and the
sum are carried along, and what was summed before is scaled (online softmax).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.sequences.exp import exp2_f16, exp2_f32
from xdsl_tpu.backend.kernels.sequences.row_set import (
    RowSet,
    fill_gaps,
    reduce_rows,
    rests_of,
)
from xdsl_tpu.backend.tensor import DType, LocalTensor, align, aligned, ceil_div, strided

F16, F32, I8 = DType.F16, DType.F32, DType.I8

LOWEST = {F16: -65504.0, F32: -3e38}
_SMALLEST_SUM = 1e-30
"""Rows all of whose scores are minus infinity become 0 instead of a NaN."""


def scores_bytes(
    chip: Chip, lines: int, keys: int, dtype: DType = F16
) -> tuple[int, int, int, int]:
    """Bytes per lane of the buffers of `ScoreRows`, for `lines` rows per lane."""
    pitch = align(keys, chip.eu(dtype.bytes))
    stages = sum(align(lines * n * dtype.bytes, chip.eu_bytes) for n in rests_of(pitch))
    full = lines * pitch * dtype.bytes
    sums = lines * chip.eu_bytes
    exponents = align(lines * pitch * dtype.bytes // 2, chip.eu_bytes)
    return full, full, max(full, stages, sums), exponents


def scores_cycles(chip: Chip, lines: int, keys: int, masked: int, dtype: DType = F16) -> int:
    """About what a softmax of so many rows costs, its mask included."""
    eu = chip.eu(dtype.bytes)
    pitch = align(keys, eu)
    full = ceil_div(lines * pitch, eu)
    sums = lines * ceil_div(keys, eu)
    mask = 2 * lines * ceil_div(masked, eu)
    steps = 12 if dtype is F16 else 15
    return steps * full + full // 8 + sums + mask + 3 * lines + 40 * ceil_div(lines, 16) + 20


@dataclass(frozen=True, slots=True)
class Buffers:
    """Addresses of four tiles as `scores_bytes` has them, and of a column of ones."""

    scores: int
    below: int
    spare: int
    exponents: int
    ones: int

    def exchanged(self) -> "Buffers":
        """The first two in each other's place."""
        return replace(self, scores=self.below, below=self.scores)


@dataclass(frozen=True, slots=True)
class Running:
    """What is known of rows after a block of keys: largest score and sum, dense."""

    largest: LocalTensor
    total: LocalTensor


class ScoreRows:
    """The rows of one tile: `lines` of them in each of `lanes` lanes, `keys` long.

    `dtype` is that of the scores, F16 or F32, `product` what powers are multiplied as.
    """

    def __init__(
        self,
        chip: Chip,
        grid: tuple[int, int, int],
        buffers: Buffers,
        dtype: DType = F16,
        product: DType = F16,
    ) -> None:
        lanes, lines, keys = grid
        pitch = align(keys, chip.eu(dtype.bytes))
        self.chip = chip
        self.buffers = buffers
        self.dtype, self.product = dtype, product
        self.rows = RowSet(buffers.scores, lanes, lines, keys, pitch, dtype)

    def statistic(self, address: int, dtype: DType) -> LocalTensor:
        """One number per row."""
        return self.rows.statistic(self.chip, address, dtype)

    def powers(
        self, e: Emitter, table: LocalTensor, running: Running, before: LocalTensor | None
    ) -> RowSet:
        """2 ** (score - largest) of each row, and into `running` the largest score and the sum.

        `before` is the largest score of blocks before this one. The scores are overwritten.
        """
        chip, rows, buffers = self.chip, self.rows, self.buffers
        fill_gaps(e, rows, LOWEST[self.dtype])
        largest = reduce_rows(e, rows, self._stages(), maximum=True)
        if before is None:
            e.copy(running.largest, largest)
        else:
            e.arith(Arith.MAX, running.largest, largest, before)
        below = rows.placed(buffers.below, self.dtype)
        e.arith(Arith.SUB, below.slots(chip), rows.slots(chip), rows.beside(running.largest))
        narrow = self.dtype is F16
        work = [
            rows.placed(address, dtype).flat(chip)
            for address, dtype in (
                (buffers.scores, self.dtype),
                (buffers.spare, self.dtype),
                (buffers.exponents, I8 if narrow else DType.I16),
            )
        ]
        flat = below.flat(chip)
        (exp2_f16 if narrow else exp2_f32)(e, flat, flat, work, table)
        if narrow:
            self._sum(e, below, running.total)
            return below
        total = reduce_rows(e, below, self._stages(), maximum=False)
        e.arith(Arith.MAX, running.total, total, _SMALLEST_SUM)
        return self._operand(e, below)

    def _operand(self, e: Emitter, powers: RowSet) -> RowSet:
        """Powers of f32 as the left operand of a product: of 16 bits, or compact."""
        if self.product is F32:
            if powers.pitch == powers.length:
                return powers
            target = powers.placed(self.buffers.scores, F32, powers.length)
            e.copy(target.grid(self.chip), powers.grid(self.chip))
            return target
        pitch = align(powers.length, self.chip.eu(self.product.bytes))
        target = powers.placed(self.buffers.scores, self.product, pitch)
        e.cast(target.grid(self.chip), powers.grid(self.chip))
        return target

    def _stages(self) -> Sequence[LocalTensor]:
        """Room for what is left of the rows after each step to their maximum."""
        address, found = self.buffers.spare, list[LocalTensor]()
        for rest in rests_of(self.rows.pitch):
            shape = (1, self.rows.lanes, 1, self.rows.count * rest)
            found.append(aligned(self.chip, address, shape, self.dtype))
            address += align(self.rows.count * rest * self.dtype.bytes, self.chip.eu_bytes)
        return found

    def _sum(self, e: Emitter, powers: RowSet, total: LocalTensor) -> None:
        """The sum of each row, a product with a column of ones."""
        chip, lanes = self.chip, powers.lanes
        ones = aligned(chip, self.buffers.ones, (1, powers.length, 1, 1), F16)
        at_once = powers.count if lanes == chip.lanes else 1
        for first in range(0, powers.count, at_once):
            left = powers.address + first * powers.pitch * F16.bytes
            target = self.buffers.spare + first * chip.eu_bytes
            count = at_once * lanes
            e.mm2(
                aligned(chip, target, (1, count, 1, 1), F32),
                aligned(chip, left, (1, count, 1, powers.length), F16),
                ones,
            )
        width = chip.eu(F32.bytes)
        shape = (1, lanes, powers.count, 1)
        sums = strided(self.buffers.spare, shape, (0, 0, width, 1), F32)
        dense = aligned(chip, total.address, shape, F32)
        e.arith(Arith.MAX, dense, sums, _SMALLEST_SUM)
