"""Softmax along rows in f16: 2 ** (scale (x - max)), its sum in f32, one division per row."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.kernels.sequences.exp import EXP2_4, exp2_f16
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
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, aligned

F16, F32 = DType.F16, DType.F32

TABLE = EXP2_4
"""The polynomial that `softmax_f16` wants, in f16."""

LOWEST = -65504.0
_TILES = (F16, F16, F16, DType.I8)


def softmax_scratch(chip: Chip, shape: RowShape) -> tuple[Scratch, ...]:
    """The scratch tensors of `softmax_f16`."""
    return row_scratch(chip, shape, (*_TILES, *(F16,) * moves_rows(chip, shape)))


def moves_rows(chip: Chip, shape: RowShape) -> bool:
    """Whether rows must be moved to EU boundaries first."""
    return shape.along_width and shape.length % chip.eu(F16.bytes) != 0


def softmax_f16(
    e: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    shape: RowShape,
    scratch: Sequence[LocalTensor],
    table: LocalTensor,
    scale: float,
) -> None:
    """out = 2 ** (scale x) over its sum along each row; scale > 0, log2(e) for the usual one.

    Both are EU-aligned. x keeps its elements, but its padding may be overwritten. Error up to
    3e-3 of 1, in the mean 1e-5. About 15 cycles per 32 elements and 8 per row and lane, once
    there are many rows; one more per 32 elements for rows that must be moved.
    """
    chip, lines = e.chip, lines_of(x)
    moves = moves_rows(chip, shape)
    rows = rows_at(scratch[len(_TILES)].address if moves else x.address, x, chip)
    room = RowRoom(chip, rows, len(_TILES) + moves, scratch)
    if moves:
        e.copy(rows.seen(lines, chip), _as_lines(x, lines, chip))
    powers, factor = _powers(e, rows, room, table, scale)
    if moves:
        factors = replace(rows, address=factor.address).seen(lines, chip, dense=True)
        e.arith(Arith.MUL, _as_lines(out, lines, chip), powers.seen(lines, chip), factors)
    else:
        target = rows_of(out, chip).grid(chip)
        e.arith(Arith.MUL, target, powers.grid(chip), rows.beside(factor))


def _as_lines(tensor: LocalTensor, lines: Shape4, chip: Chip) -> LocalTensor:
    return aligned(chip, tensor.address, lines, tensor.dtype)


def _powers(
    e: Emitter, x: RowSet, room: RowRoom, table: LocalTensor, scale: float
) -> tuple[RowSet, LocalTensor]:
    """2 ** (scale (x - max)) for each row, and one over its sum."""
    chip = e.chip
    first, second, third, exponents = room.tiles[: len(_TILES)]
    fill_tail(e, x, 0.0)
    fill_gaps(e, x, LOWEST)
    largest = reduce_rows(e, x, room.stages, maximum=True)
    below = x.placed(first.address, F16, x.length)
    e.arith(Arith.SUB, below.grid(chip), x.grid(chip), x.beside(largest))
    if scale != 1:
        scaled = below.placed(second.address, F16)
        e.arith(Arith.MUL, scaled.flat(chip), below.flat(chip), scale)
        first, second, below = second, first, scaled
    work = [below.placed(t.address, t.dtype).flat(chip) for t in (second, third, exponents)]
    powers = x.placed(first.address, F16)
    exp2_f16(e, powers.grid(chip), below.flat(chip), work, table)
    totals, inverse = room.dense(0, F32), room.dense(1, F32)
    sum_rows(e, powers, room.ones, room.sums, totals)
    e.div(inverse, 1.0, totals)
    factor = room.dense(0, F16)
    e.cast(factor, inverse)
    return powers, factor
