"""LayerNorm and RMSNorm along rows in f16, their statistics in f32.

Squares of f16 numbers overflow from 256 on and lose digits below 0.01. So each row is first
multiplied by the power of two that brings its largest difference from the mean into [2, 4); the
factor cancels, but for epsilon, which is multiplied by its square:

    t = s (x - mean)        y = t / sqrt(mean(t t) + s s epsilon)
"""

from collections.abc import Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.kernels.sequences.row_room import RowRoom, RowShape, row_scratch
from xdsl_tpu.backend.kernels.sequences.row_set import (
    RowSet,
    fill_gaps,
    fill_tail,
    reduce_rows,
    sum_rows,
)
from xdsl_tpu.backend.kernels.sequences.unary import as_type
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned

F16, F32, I16 = DType.F16, DType.F32, DType.I16

EXPONENT = 0x7C00
"""The exponent bits of an f16, and the exponent field's end: infinity."""

SMALLEST_EXPONENT = 0x0400

LEAST_EPSILON = 2.5e-19
"""What must be added to the mean square of a row of zeros, which is multiplied by 2 ** 30, for the
inverse of its root to be an f16. The squares of all other f16 rows are larger."""

_TILES = (F16, F16)


def takes(shape: RowShape, chip: Chip) -> bool:
    """Whether the norms work on such rows: they must begin on EU boundaries."""
    return not shape.along_width or shape.length % chip.eu(F16.bytes) == 0


def norm_scratch(chip: Chip, shape: RowShape) -> tuple[Scratch, ...]:
    """The scratch tensors of `layer_norm_f16` and `rms_norm_f16`."""
    return row_scratch(chip, shape, _TILES)


def layer_norm_f16(
    e: Emitter,
    out: RowSet,
    x: RowSet,
    scratch: Sequence[LocalTensor],
    epsilon: float,
    given: Sequence[tuple[Arith, LocalTensor]],
) -> None:
    """out = (x - mean) / sqrt(variance + epsilon) for each row, then the steps in `given`.

    These are (MUL, weight), (ADD, bias), vectors of a row's length in every lane. x keeps its
    rows, but lanes without rows are written. 8 cycles per 32 elements, and about 5 per row and
    lane.
    """
    chip = e.chip
    room = RowRoom(chip, x, len(_TILES), scratch)
    a, b = (x.placed(t.address, F16) for t in room.tiles)
    fill_tail(e, x, 0.0)
    total, mean = room.dense(0, F32), room.dense(1, F32)
    sum_rows(e, x, room.ones, room.sums, total)
    e.arith(Arith.MUL, mean, total, 1.0 / x.length)
    narrow = room.dense(0, F16)
    e.cast(narrow, mean)
    e.arith(Arith.SUB, a.grid(chip), x.grid(chip), x.beside(narrow))
    scale = _scale(e, room, a, b)
    e.arith(Arith.MUL, b.grid(chip), a.grid(chip), x.beside(scale))
    fill_gaps(e, b, 0.0)
    _finish(e, room, out, (b, a, b), scale, epsilon, given)


def rms_norm_f16(
    e: Emitter,
    out: RowSet,
    x: RowSet,
    scratch: Sequence[LocalTensor],
    epsilon: float,
    given: Sequence[tuple[Arith, LocalTensor]],
) -> None:
    """out = x / sqrt(mean(x x) + epsilon), otherwise as `layer_norm_f16`: 6 cycles."""
    chip = e.chip
    room = RowRoom(chip, x, len(_TILES), scratch)
    a, b = (x.placed(t.address, F16) for t in room.tiles)
    fill_tail(e, x, 0.0)
    scale = _scale(e, room, x, b)
    e.arith(Arith.MUL, a.grid(chip), x.grid(chip), x.beside(scale))
    fill_gaps(e, a, 0.0)
    _finish(e, room, out, (a, b, a), scale, epsilon, given)


def _scale(e: Emitter, room: RowRoom, x: RowSet, magnitude: RowSet) -> LocalTensor:
    """The power of two that brings the largest |x| of each row into [2, 4), as statistic 2.

    Its exponent is 31 less that of the largest; rows of zeros get 2 ** 15.
    """
    e.absolute(magnitude.grid(e.chip), x.grid(e.chip))
    fill_gaps(e, magnitude, 0.0)
    largest = as_type(reduce_rows(e, magnitude, room.stages, maximum=True), I16)
    bits, scale = room.dense(3, I16), room.dense(2, I16)
    e.arith(Arith.AND, bits, largest, EXPONENT)
    e.arith(Arith.MAX, scale, bits, SMALLEST_EXPONENT)
    e.arith(Arith.SUB, bits, EXPONENT, scale)
    return as_type(bits, F16)


def _finish(
    e: Emitter,
    room: RowRoom,
    out: RowSet,
    tiles: tuple[RowSet, RowSet, RowSet],
    scale: LocalTensor,
    epsilon: float,
    given: Sequence[tuple[Arith, LocalTensor]],
) -> None:
    """out = t / sqrt(mean(t t) + scale ** 2 epsilon), t being the first tile, the others free."""
    chip = e.chip
    t, other, third = tiles
    e.arith(Arith.MUL, other.flat(chip), t.flat(chip), t.flat(chip))
    total, mean, root = room.dense(0, F32), room.dense(1, F32), room.dense(2, F32)
    sum_rows(e, other, room.ones, room.sums, total)
    e.arith(Arith.MUL, mean, total, 1.0 / t.length)
    e.cast(root, scale)
    e.arith(Arith.MUL, total, root, root)
    e.arith(Arith.MUL, root, total, max(epsilon, LEAST_EPSILON))
    e.arith(Arith.ADD, total, mean, root)
    e.rsqrt(root, total)
    factor = room.dense(0, F16)
    e.cast(factor, root)
    value, spare, free = t, other, third
    steps = [(Arith.MUL, t.beside(factor)), *((kind, line_beside(e, v, t)) for kind, v in given)]
    for index, (kind, operand) in enumerate(steps):
        target = out if index == len(steps) - 1 else spare
        e.arith(kind, target.grid(chip), value.grid(chip), operand)
        value, spare, free = target, free, spare


def line_beside(e: Emitter, vector: LocalTensor, rows: RowSet) -> LocalTensor:
    """A vector of a row's length in every lane, as an operand beside rows."""
    return aligned(e.chip, vector.address, (1, rows.lanes, 1, rows.length), vector.dtype)
