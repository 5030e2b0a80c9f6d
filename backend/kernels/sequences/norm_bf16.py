"""LayerNorm and RMSNorm along rows of bf16: in f32, on rows that follow each other.

Each rounding to bf16 on the way would be as large as that of the result, so there is none: only the
sum for the mean is one of bf16 numbers, which products with ones make exact to f32. The mean is
that rounded to bf16, m, and the rest, of which both parts are exact for a row of equal numbers:

    mean = m + (sum(x) - length m) / length        so that such rows become zeros
"""

from collections.abc import Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.kernels.sequences.norm import line_beside
from xdsl_tpu.backend.kernels.sequences.row_room import RowRoom, RowShape, row_scratch
from xdsl_tpu.backend.kernels.sequences.row_set import (
    RowSet,
    fill_gaps,
    fill_tail,
    reduce_rows,
    rests_of,
    sum_rows,
)
from xdsl_tpu.backend.tensor import DType, LocalTensor, align, aligned

BF16, F32 = DType.BF16, DType.F32

_TILES = (F32, F32)


def norm_scratch_bf16(chip: Chip, shape: RowShape) -> tuple[Scratch, ...]:
    """The scratch tensors of `layer_norm_bf16` and `rms_norm_bf16`."""
    line = Scratch(F32, fixed=(1, chip.lanes, 1, shape.length))
    stages = rests_of(_pitch(chip, shape.length))
    more = (shape.scratch(F32, rest) for rest in stages)
    return line, *more, *row_scratch(chip, shape, _TILES)


def layer_norm_bf16(
    e: Emitter,
    out: RowSet,
    x: RowSet,
    scratch: Sequence[LocalTensor],
    epsilon: float,
    given: Sequence[tuple[Arith, LocalTensor]],
) -> None:
    """As `layer_norm_f16` of bf16 rows, rounded once: 18 cycles per 32 elements with a weight and
    a bias."""
    chip = e.chip
    line, stages, room = _rooms(e, x, scratch)
    fill_tail(e, x, 0.0)
    total, wide, rest, mean = (room.dense(index, F32) for index in range(4))
    sum_rows(e, x, room.ones, room.sums, total)
    e.arith(Arith.MUL, wide, total, 1.0 / x.length)
    narrow = room.dense(3, BF16)
    e.cast(narrow, wide)
    e.cast(wide, narrow)
    e.arith(Arith.MUL, rest, wide, float(x.length))
    e.arith(Arith.SUB, mean, total, rest)
    e.arith(Arith.MUL, rest, mean, 1.0 / x.length)
    e.arith(Arith.ADD, mean, wide, rest)
    a, b = _widened(e, room, x)
    e.arith(Arith.SUB, b.grid(chip), a.grid(chip), x.beside(mean))
    _finish(e, room, out, (b, a), stages, epsilon, given, line)


def rms_norm_bf16(
    e: Emitter,
    out: RowSet,
    x: RowSet,
    scratch: Sequence[LocalTensor],
    epsilon: float,
    given: Sequence[tuple[Arith, LocalTensor]],
) -> None:
    """out = x / sqrt(mean(x x) + epsilon), otherwise as `layer_norm_bf16`: 13 cycles."""
    line, stages, room = _rooms(e, x, scratch)
    fill_tail(e, x, 0.0)
    _finish(e, room, out, _widened(e, room, x), stages, epsilon, given, line)


def _pitch(chip: Chip, length: int) -> int:
    """How far rows of f32 are apart."""
    return align(length, chip.eu(F32.bytes))


def _rooms(
    e: Emitter, x: RowSet, scratch: Sequence[LocalTensor]
) -> tuple[LocalTensor, Sequence[LocalTensor], RowRoom]:
    """Scratch tensors by purpose: for a parameter, the stages of a sum, and all else."""
    line, *others = scratch
    stages = len(rests_of(_pitch(e.chip, x.length)))
    return line, others[:stages], RowRoom(e.chip, x, len(_TILES), others[stages:])


def _widened(e: Emitter, room: RowRoom, x: RowSet) -> tuple[RowSet, RowSet]:
    """x in f32, and as much room."""
    pitch = _pitch(e.chip, x.length)
    wide, other = (x.placed(tile.address, F32, pitch) for tile in room.tiles)
    e.cast(wide.grid(e.chip), x.grid(e.chip))
    return wide, other


def _finish(
    e: Emitter,
    room: RowRoom,
    out: RowSet,
    tiles: tuple[RowSet, RowSet],
    stages: Sequence[LocalTensor],
    epsilon: float,
    given: Sequence[tuple[Arith, LocalTensor]],
    line: LocalTensor,
) -> None:
    """out = t / sqrt(mean(t t) + epsilon), then the steps in `given`; t is the first tile, the
    other one is free."""
    chip = e.chip
    value, spare = tiles
    fill_gaps(e, value, 0.0)
    e.arith(Arith.MUL, spare.flat(chip), value.flat(chip), value.flat(chip))
    total = reduce_rows(e, spare, stages, maximum=False)
    mean, root = room.dense(0, F32), room.dense(1, F32)
    e.arith(Arith.MUL, mean, total, 1.0 / value.length)
    e.arith(Arith.ADD, root, mean, epsilon)
    e.rsqrt(mean, root)
    for kind, operand in ((Arith.MUL, value.beside(mean)), *given):
        if operand.dtype is BF16:
            wide = aligned(chip, line.address, (1, value.lanes, 1, value.length), F32)
            e.cast(wide, line_beside(e, operand, value))
            operand = wide
        e.arith(kind, spare.grid(chip), value.grid(chip), operand)
        value, spare = spare, value
    e.cast(out.grid(chip), value.grid(chip))
