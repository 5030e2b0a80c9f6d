"""Many rows per lane, seen as one long line: what makes statistics of rows cheap.

An instruction on (1, lanes, 1, count * pitch) costs no more than its elements, however short the
rows are. One number per row is kept densely, (1, lanes, 1, count), so that a division or a root
is paid per EU width of rows, not per row.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.tensor import (
    DType,
    Layout,
    LocalTensor,
    Shape4,
    align,
    aligned,
    ceil_div,
    strided,
)
from xdsl_tpu.dialects.errors import NoKernel


@dataclass(frozen=True, slots=True)
class RowSet:
    """`count` rows of `length` elements in each of `lanes` lanes, `pitch` elements apart.

    The rows come as runs, one per image. When the channels are no multiple of the lanes, only
    `tail` lanes hold the last `tail_rows` rows of each run; 0 when all lanes hold all rows.
    """

    address: int
    lanes: int
    count: int
    length: int
    pitch: int
    dtype: DType
    tail: int = 0
    tail_rows: int = 0
    images: int = 1

    @property
    def shape(self) -> Shape4:
        """(1, lanes, rows, elements)."""
        return 1, self.lanes, self.count, self.length

    def flat(self, chip: Chip) -> LocalTensor:
        """Everything in one line, what is between the rows included."""
        return aligned(chip, self.address, (1, self.lanes, 1, self.count * self.pitch), self.dtype)

    def column(self, chip: Chip) -> LocalTensor:
        """As `flat`, along the height: for pools."""
        return aligned(chip, self.address, (1, self.lanes, self.count * self.pitch, 1), self.dtype)

    def grid(self, chip: Chip) -> LocalTensor:
        """The rows as (1, lanes, count, length)."""
        if self.pitch == self.length:
            return aligned(chip, self.address, self.shape, self.dtype)
        strides = (0, 0, self.pitch, 1)
        return strided(self.address, self.shape, strides, self.dtype)

    def slots(self, chip: Chip) -> LocalTensor:
        """The rows with what is between them, as (1, lanes, count, pitch)."""
        return aligned(chip, self.address, (1, self.lanes, self.count, self.pitch), self.dtype)

    def placed(self, address: int, dtype: DType, pitch: int = 0) -> "RowSet":
        """As many and as long rows elsewhere, by default at the same pitch."""
        return replace(self, address=address, dtype=dtype, pitch=pitch or self.pitch)

    def statistic(self, chip: Chip, address: int, dtype: DType) -> LocalTensor:
        """One number per row, dense, (1, lanes, 1, count)."""
        return aligned(chip, address, (1, self.lanes, 1, self.count), dtype)

    def beside(self, statistic: LocalTensor) -> LocalTensor:
        """A dense statistic as an operand next to the rows: (1, lanes, count, 1)."""
        shape = (1, self.lanes, self.count, 1)
        return strided(statistic.address, shape, (0, 0, 1, 0), statistic.dtype)

    def seen(self, shape: Shape4, chip: Chip, dense: bool = False) -> LocalTensor:
        """The rows as (n, c, rows, elements) of the tensor they come from, its lanes only.

        With `dense`, `address` is that of a dense statistic: one number per row.
        """
        n, c, per, length = shape
        groups = ceil_div(c, chip.lanes)
        pitch = 1 if dense else self.pitch
        strides = (groups * per * pitch, per * pitch, pitch, 0 if dense else 1)
        return strided(self.address, (n, c, per, 1 if dense else length), strides, self.dtype)


def lines_of(tensor: LocalTensor) -> Shape4:
    """(n, c, rows, elements) of a tensor (n, c, length, 1) or (n, c, rows, length)."""
    n, c, h, w = tensor.shape
    return (n, c, 1, h) if w == 1 else (n, c, h, w)


def is_packed(tensor: LocalTensor, chip: Chip) -> bool:
    """Whether rows of a lane follow each other with no regard to EU boundaries."""
    _, _, per, length = lines_of(tensor)
    return per > 1 and length % chip.eu(tensor.dtype.bytes) != 0


def rows_at(address: int, tensor: LocalTensor, chip: Chip) -> RowSet:
    """Room for the rows of an EU-aligned tensor, each on EU boundaries."""
    if tensor.layout is not Layout.ALIGNED:
        raise NoKernel(f"a tensor of shape {tensor.shape} with strides has no rows to work on")
    n, c, per, length = lines_of(tensor)
    groups = ceil_div(c, chip.lanes)
    tail = c % chip.lanes if groups > 1 else 0
    pitch = align(length, chip.eu(tensor.dtype.bytes))
    lanes, count = min(c, chip.lanes), n * groups * per
    return RowSet(address, lanes, count, length, pitch, tensor.dtype, tail, per, n)


def rows_of(tensor: LocalTensor, chip: Chip) -> RowSet:
    """The rows of an EU-aligned tensor: (n, c, length, 1), or (n, c, rows, length).

    Raises TpuError when the tensor has strides of its own or rows that begin off EU boundaries.
    """
    rows = rows_at(tensor.address, tensor, chip)
    if is_packed(tensor, chip):
        raise NoKernel(f"rows of {rows.length} elements do not begin on EU boundaries")
    return rows


def fill_tail(e: Emitter, rows: RowSet, value: float) -> None:
    """Give the lanes without rows at the end of each image something to compute with."""
    if not rows.tail:
        return
    chip, per = e.chip, rows.count // rows.images
    skipped = (per - rows.tail_rows) * rows.pitch * rows.dtype.bytes
    address = rows.address + skipped + (rows.tail << chip.lane_shift)
    shape = (rows.images, chip.lanes - rows.tail, 1, rows.tail_rows * rows.pitch)
    e.copy(strided(address, shape, (per * rows.pitch, 0, 0, 1), rows.dtype), value)


def fill_gaps(e: Emitter, rows: RowSet, value: float) -> None:
    """Fill what is between the rows."""
    gap = rows.pitch - rows.length
    if gap:
        start = rows.address + rows.length * rows.dtype.bytes
        shape = (1, rows.lanes, rows.count, gap)
        e.copy(strided(start, shape, (0, 0, rows.pitch, 1), rows.dtype), value)


@cache
def steps_of(pitch: int) -> tuple[int, ...]:
    """Kernel heights that reduce rows of `pitch` elements to one, the cheapest for many rows.

    They multiply to `pitch`; the last one may be beyond the longest stride, in one row of a pool.
    """
    return _cheapest(pitch)[1]


_ROW_BY_ROW = 32
"""How much dearer a pool along the width is, which counts rows instead of EU widths."""


@cache
def _cheapest(size: int) -> tuple[int, tuple[int, ...]]:
    if size == 1:
        return 0, ()
    best = (size * _ROW_BY_ROW, (size,)) if size > LIMITS.window_stride else (size, (size,))
    for step in range(2, LIMITS.window_stride + 1):
        if size % step == 0:
            cost, steps = _cheapest(size // step)
            best = min(best, (size + cost, (step, *steps)))
    return best


def rests_of(pitch: int) -> list[int]:
    """How many elements of a row are left after each of `steps_of`."""
    rests: list[int] = []
    for step in steps_of(pitch):
        pitch //= step
        rests.append(pitch)
    return rests


def reduce_rows(
    e: Emitter, rows: RowSet, stages: Sequence[LocalTensor], maximum: bool
) -> LocalTensor:
    """The maximum or sum of each row, gaps included, dense; `stages` have room for `rests_of`."""
    for step, stage in zip(steps_of(rows.pitch), stages, strict=True):
        left = rows.pitch // step
        after = RowSet(stage.address, rows.lanes, rows.count, left, left, rows.dtype)
        along = step > LIMITS.window_stride
        window = Window((1, step)) if along else Window((step, 1), (step, 1))
        source = rows.slots(e.chip) if along else rows.column(e.chip)
        shape = (1, rows.lanes, rows.count * left, 1)
        target = aligned(e.chip, stage.address, shape, rows.dtype)
        if maximum:
            e.max_pool(target, source, window)
        else:
            e.avg_pool(target, source, window, 1.0)
        rows = after
    return rows.statistic(e.chip, rows.address, rows.dtype)


def sum_rows(
    e: Emitter, rows: RowSet, ones: LocalTensor, room: LocalTensor, out: LocalTensor
) -> None:
    """The sum of each row of 16-bit elements in f32, gaps excluded, into the dense `out`.

    Products with a matrix of ones: a lane's row of `length` elements costs length / 32 cycles,
    and the sums are exact to f32. `room` takes an EU width per row.
    """
    chip = e.chip
    width = chip.eu(DType.F32.bytes)
    e.copy(ones, 1.0)
    lanes, count = rows.lanes, rows.count
    at_once = count if lanes == chip.lanes else 1
    for first in range(0, count, at_once):
        left = rows.address + first * rows.pitch * rows.dtype.bytes
        target = room.address + first * chip.eu_bytes
        shape = (1, at_once * lanes, 1, rows.length)
        e.mm2(
            aligned(chip, target, (1, at_once * lanes, 1, 1), DType.F32),
            aligned(chip, left, shape, rows.dtype),
            ones,
        )
    sums = strided(room.address, (1, lanes, count, 1), (0, 0, width, 1), DType.F32)
    e.copy(aligned(chip, out.address, (1, lanes, count, 1), DType.F32), sums)
