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
from xdsl_tpu.backend.kernels.sequences.exp_bf16 import exp2_bf16, narrowed
from xdsl_tpu.backend.kernels.sequences.row_set import (
    RowSet,
    fill_gaps,
    reduce_rows,
    rests_of,
)
from xdsl_tpu.backend.tensor import DType, LocalTensor, align, aligned, strided

BF16, F16, F32, I8 = DType.BF16, DType.F16, DType.F32, DType.I8

LOWEST = {F16: -65504.0, F32: -3e38}
_SMALLEST_SUM = 1e-30
"""Rows all of whose scores are minus infinity become 0 instead of a NaN."""


def scores_bytes(
    chip: Chip, lines: int, keys: int, dtype: DType = F16, powers: DType = F16
) -> tuple[int, int, int, int]:
    """Bytes per lane of the buffers of `ScoreRows`, for `lines` rows per lane."""
    pitch = align(keys, chip.eu(dtype.bytes))
    stages = sum(align(lines * n * dtype.bytes, chip.eu_bytes) for n in rests_of(pitch))
    full = lines * pitch * dtype.bytes
    sums = lines * chip.eu_bytes
    exponents = align(lines * pitch * dtype.bytes // 2, chip.eu_bytes)
    if powers is BF16:
        exponents = lines * align(keys, chip.eu(powers.bytes)) * powers.bytes
    return full, full, max(full, stages, sums), exponents


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

    `dtypes` are those of the scores, of their powers, and what these are multiplied as. Powers are
    computed in the type of the scores, or of scores in F32 from exponents in F16: as F16, where
    what is below 2 ** -14 of the largest is 0, or as BF16.
    """

    def __init__(
        self,
        chip: Chip,
        grid: tuple[int, int, int],
        buffers: Buffers,
        dtypes: tuple[DType, DType, DType] = (F16, F16, F16),
    ) -> None:
        lanes, lines, keys = grid
        self.chip = chip
        self.buffers = buffers
        self.dtype, self._powers, self.product = dtypes
        pitch = align(keys, chip.eu(self.dtype.bytes))
        self.rows = RowSet(buffers.scores, lanes, lines, keys, pitch, self.dtype)

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
        if self.dtype is self._powers:
            powers = self._raised(e, below, (buffers.scores, buffers.spare), table)
        else:
            exponents = self._narrowed(e, below, buffers.scores)
            if self._powers is BF16:
                powers = self._raised_bf16(e, exponents, table)
            else:
                powers = self._raised(e, exponents, (buffers.below, buffers.spare), table)
        if self._powers is not F32:
            self._sum(e, powers, running.total)
            return powers
        total = reduce_rows(e, powers, self._stages(), maximum=False)
        e.arith(Arith.MAX, running.total, total, _SMALLEST_SUM)
        return powers

    def _narrowed(self, e: Emitter, rows: RowSet, address: int) -> RowSet:
        """Rows of f32 in f16 elsewhere."""
        pitch = align(rows.length, self.chip.eu(F16.bytes))
        target = rows.placed(address, F16, pitch)
        if pitch != rows.pitch:
            fill_gaps(e, target, LOWEST[F16])
        self._cast(e, target, rows)
        return target

    def _cast(self, e: Emitter, target: RowSet, source: RowSet) -> None:
        """With what is between the rows, where both have as much."""
        if target.pitch == source.pitch:
            e.cast(target.flat(self.chip), source.flat(self.chip))
        else:
            e.cast(target.grid(self.chip), source.grid(self.chip))

    def _raised(
        self, e: Emitter, rows: RowSet, room: tuple[int, int], table: LocalTensor
    ) -> RowSet:
        """2 ** x in the place of each element."""
        narrow = rows.dtype is F16
        work = [
            rows.placed(address, dtype).flat(self.chip)
            for address, dtype in (
                (room[0], rows.dtype),
                (room[1], rows.dtype),
                (self.buffers.exponents, I8 if narrow else DType.I16),
            )
        ]
        flat = rows.flat(self.chip)
        (exp2_f16 if narrow else exp2_f32)(e, flat, flat, work, table)
        return rows

    def _raised_bf16(self, e: Emitter, rows: RowSet, table: LocalTensor) -> RowSet:
        """2 ** x in bf16 in the place of each element, which lie where the scores did."""
        buffers, chip = self.buffers, self.chip
        places = buffers.below, buffers.spare, buffers.exponents
        scratch = [rows.placed(address, F16).flat(chip) for address in places]
        power = exp2_bf16(e, rows.flat(chip), scratch, table)
        spare, place = power.free
        e.arith(Arith.MUL, place, narrowed(e, spare, power.mantissa), power.scale)
        return rows.placed(place.address, BF16)

    def other(self, rows: RowSet) -> int:
        """Which of the two places that powers and their operand lie in `rows` are not."""
        buffers = self.buffers
        return buffers.scores if rows.address == buffers.below else buffers.below

    def operand(self, e: Emitter, powers: RowSet) -> RowSet:
        """Powers as the left operand of a product: in its type, those of f32 compact."""
        compact = self.product is F32
        pitch = powers.length if compact else align(powers.length, self.chip.eu(self.product.bytes))
        if powers.dtype is self.product and powers.pitch == pitch:
            return powers
        target = powers.placed(self.other(powers), self.product, pitch)
        if powers.dtype is self.product:
            e.copy(target.grid(self.chip), powers.grid(self.chip))
            return target
        if F32 not in (powers.dtype, self.product):
            # Between the types of 16 bits there is no cast.
            wide = powers.placed(self.buffers.spare, F32, self.rows.pitch)
            self._cast(e, wide, powers)
            powers = wide
        self._cast(e, target, powers)
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
        dtype = powers.dtype
        ones = aligned(chip, self.buffers.ones, (1, powers.length, 1, 1), dtype)
        at_once = powers.count if lanes == chip.lanes else 1
        for first in range(0, powers.count, at_once):
            left = powers.address + first * powers.pitch * dtype.bytes
            target = self.buffers.spare + first * chip.eu_bytes
            count = at_once * lanes
            e.mm2(
                aligned(chip, target, (1, count, 1, 1), F32),
                aligned(chip, left, (1, count, 1, powers.length), dtype),
                ones,
            )
        width = chip.eu(F32.bytes)
        shape = (1, lanes, powers.count, 1)
        sums = strided(self.buffers.spare, shape, (0, 0, width, 1), F32)
        dense = aligned(chip, total.address, shape, F32)
        e.arith(Arith.MAX, dense, sums, _SMALLEST_SUM)
