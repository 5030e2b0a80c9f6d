"""Softmax along rows in f16: 2 ** (scale (x - max)), its sum in f32, one division per row."""

from collections.abc import Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.kernels.sequences.exp import EXP2_4, exp2_f16
from xdsl_tpu.backend.kernels.sequences.row_room import RowRoom, RowShape, row_scratch
from xdsl_tpu.backend.kernels.sequences.row_set import (
    RowSet,
    fill_gaps,
    fill_tail,
    reduce_rows,
    sum_rows,
)
from xdsl_tpu.backend.tensor import DType, LocalTensor

F16, F32 = DType.F16, DType.F32

TABLE = EXP2_4
"""The polynomial that `softmax_f16` wants, in f16."""

LOWEST = -65504.0
_TILES = (F16, F16, F16, DType.I8)


def softmax_scratch(chip: Chip, shape: RowShape) -> tuple[Scratch, ...]:
    """The scratch tensors of `softmax_f16`."""
    return row_scratch(chip, shape, _TILES)


def softmax_f16(
    e: Emitter,
    out: RowSet,
    x: RowSet,
    scratch: Sequence[LocalTensor],
    table: LocalTensor,
    scale: float,
) -> None:
    """out = 2 ** (scale x) over its sum along each row; scale > 0, log2(e) for the usual one.

    x keeps its rows, but what is between them is overwritten. Error up to 1.1e-3 of 1. About
    16 cycles per 32 elements and 8 per row and lane, once there are many rows.
    """
    chip = e.chip
    room = RowRoom(chip, x, len(_TILES), scratch)
    first, second, third, exponents = room.tiles
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
    e.arith(Arith.MUL, out.grid(chip), powers.grid(chip), x.beside(factor))
