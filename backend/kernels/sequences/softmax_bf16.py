"""Softmax along rows in bf16: differences in f32, powers as `exp_bf16`, one rounding to bf16."""

from collections.abc import Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.kernels.sequences.exp_bf16 import exp2_bf16, narrowed
from xdsl_tpu.backend.kernels.sequences.row_room import RowRoom, RowShape, row_scratch
from xdsl_tpu.backend.kernels.sequences.row_set import (
    RowSet,
    fill_gaps,
    fill_tail,
    lines_of,
    reduce_rows,
    rows_at,
    rows_of,
    sum_rows,
)
from xdsl_tpu.backend.kernels.sequences.softmax import moves_rows
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned

BF16, F16, F32 = DType.BF16, DType.F16, DType.F32

LOWEST = -3.3895313892515355e38
"""The lowest finite number of bf16."""

LONGEST = 8192
"""Rows whose sums of powers have normal inverses in f16."""

SCALES = 2**-8, 2**8
"""Between these, differences beyond the range of f16 have powers of 0, and those below its normal
numbers such that differ from 1 by less than f16 holds."""

_TILES = (F32, F32)


def takes(shape: RowShape, scale: float) -> bool:
    """Whether `softmax_bf16` works on such rows with such a scale."""
    low, high = SCALES
    return shape.length <= LONGEST and low <= scale <= high


def softmax_scratch_bf16(chip: Chip, shape: RowShape) -> tuple[Scratch, ...]:
    """The scratch tensors of `softmax_bf16`."""
    return row_scratch(chip, shape, (*_TILES, *(BF16,) * moves_rows(chip, shape)))


def softmax_bf16(
    e: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    shape: RowShape,
    scratch: Sequence[LocalTensor],
    table: LocalTensor,
    scale: float,
) -> None:
    """As `softmax_f16` of bf16 rows, up to `LONGEST`: 23 cycles per 32 elements.

    Rounded once; before that the relative error is up to 1.5e-3, and where 2 ** s is the power of
    an element, s as an f16 number has one of 2 ** -11 s more. Rows without a number above minus
    infinity become zeros.
    """
    chip, lines = e.chip, lines_of(x)
    moves = moves_rows(chip, shape)
    rows = rows_at(scratch[len(_TILES)].address if moves else x.address, x, chip)
    room = RowRoom(chip, rows, len(_TILES) + moves, scratch)
    if moves:
        e.copy(rows.seen(lines, chip), aligned(chip, x.address, lines, BF16))
    s, *others = (tile.flat(chip) for tile in _exponents(e, rows, room, scale))
    power = exp2_bf16(e, s, others, table)
    first, second = power.free
    powers = rows.placed(first.address, BF16)
    e.arith(Arith.MUL, first, narrowed(e, second, power.mantissa), power.scale)
    total, inverse = room.dense(0, F32), room.dense(1, F32)
    sum_rows(e, powers, room.ones, room.sums, total)
    e.div(inverse, 1.0, total)
    factor = room.dense(0, F16)
    e.cast(factor, inverse)
    shares, mantissas = (rows.placed(t.address, F16) for t in (second, power.mantissa))
    e.arith(Arith.MUL, shares.grid(chip), mantissas.grid(chip), rows.beside(factor))
    narrowed(e, first, shares.flat(chip))
    scales = rows.placed(power.scale.address, BF16)
    if moves:
        target = aligned(chip, out.address, lines, BF16)
        left, right = powers.seen(lines, chip), scales.seen(lines, chip)
    else:
        target = rows_of(out, chip).grid(chip)
        left, right = powers.grid(chip), scales.grid(chip)
    e.arith(Arith.MUL, target, left, right)


def _exponents(e: Emitter, x: RowSet, room: RowRoom, scale: float) -> Sequence[RowSet]:
    """scale (x - max) of each row in f16, and room for three more such."""
    chip = e.chip
    fill_tail(e, x, 0.0)
    fill_gaps(e, x, LOWEST)
    largest = reduce_rows(e, x, room.stages, maximum=True)
    wide, below = (x.placed(tile.address, F32) for tile in room.tiles[: len(_TILES)])
    e.cast(wide.flat(chip), x.flat(chip))
    most = room.dense(0, F32)
    e.cast(most, largest)
    e.arith(Arith.SUB, below.slots(chip), wide.slots(chip), x.beside(most))
    half = x.count * x.pitch * F16.bytes
    starts = (wide.address, wide.address + half, below.address, below.address + half)
    first, second, third, fourth = (x.placed(start, F16) for start in starts)
    e.cast(first.flat(chip), below.flat(chip))
    if scale == 1:
        return first, second, third, fourth
    e.arith(Arith.MUL, second.flat(chip), first.flat(chip), scale)
    return second, first, third, fourth
