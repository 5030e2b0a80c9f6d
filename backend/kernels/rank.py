"""`tpu.Rank` and `tpu.Ranked`: comparisons of each element with all others of its row, on the chip.

Each lane has some neighbouring elements (or places) of its own, and the whole row. For one of its
own at a time it marks those of the row that count, and adds the marks up. Longer rows come in
blocks, whose sums are added up.
"""

import math
from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter
from xdsl_tpu.backend.kernels.best import numbered
from xdsl_tpu.backend.kernels.reduction import plan_rows
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, LocalMemory, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    aligned,
    contiguous,
    strided,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel

F32 = DType.F32

LONGEST_BLOCK = 8960
"""Elements of a row that are compared at a time: six lines of them are in every lane."""


def rank(context: KernelContext, op: Operation) -> None:
    """Emit the ranks of f32 rows; NoKernel for other types."""
    assert isinstance(op, tpu.RankOp)
    x, out = context.value(op.input), context.value(op.output)
    _check(op, x, out)
    e, rows = context.emitter, _Rows(context, x.shape[-1], x.shape[-1])
    own, row, mine, ahead = rows.own(), rows.line(), rows.line(), rows.line()
    marks = rows.line(), rows.line(), rows.line()
    rows.end_in_zeros(marks[2], rows.blocks[0])
    numbered(e, mine, 0, 1)
    e.arith(Arith.SUB, ahead, mine, rows.first_places())
    for number in range(math.prod(x.shape[:-1])):
        for local, ddr in rows.parts(own, x, number):
            fetch(e, local, ddr)
        for block, sums in rows.summed(out, number, marks[2]):
            first, *lines = (rows.of(line, block) for line in (row, mine, ahead, *marks))
            rows.load(first, x, number, block)
            for place in range(rows.each):
                _, by_c, by_h, _ = own.strides
                e.copy(lines[0], strided(own.at(h=place), lines[0].shape, (0, by_c, by_h, 0), F32))
                more, less = (first, lines[0]) if op.largest.value.data else (lines[0], first)
                _mark(e, (more, less), lines[2:], lines[1], place - block.start)
                rows.total(sums, place, marks[2])


def _mark(
    e: Emitter,
    values: tuple[LocalTensor, LocalTensor],
    marks: Sequence[LocalTensor],
    ahead: LocalTensor,
    place: int,
) -> None:
    """1, in the last of `marks`, for what comes before element `place` of each lane: what is
    more, and up to the element itself what is not less. Numbers obey no other condition."""
    more, less = values
    before, same, found = marks
    e.select(Compare.GREATER, before, more, less, 1.0, 0.0)
    e.select(Compare.GREATER, same, less, more, 0.0, 1.0)
    e.select(Compare.GREATER, found, ahead, place - 0.5, before, same)


def ranked(context: KernelContext, op: Operation) -> None:
    """Emit the picks of f32 rows; NoKernel for other types."""
    assert isinstance(op, tpu.RankedOp)
    x, ranks, out = (context.value(v) for v in (op.input, op.ranks, op.output))
    _check(op, x, ranks, out)
    e, rows = context.emitter, _Rows(context, x.shape[-1], out.shape[-1])
    row, order, other, marks = (rows.line() for _ in range(4))
    rows.end_in_zeros(marks, rows.blocks[0])
    first = rows.first_places()
    for number in range(math.prod(x.shape[:-1])):
        for block, sums in rows.summed(out, number, marks):
            values, orders, picks, found = (
                rows.of(line, block) for line in (row, order, other, marks)
            )
            rows.load(values, x, number, block)
            rows.load(picks, ranks, number, block)
            e.arith(Arith.SUB, orders, picks, first)
            for place in range(rows.each):
                e.select(Compare.GREATER, picks, orders, place - 0.5, values, 0.0)
                e.select(Compare.GREATER, found, orders, place + 0.5, 0.0, picks)
                rows.total(sums, place, marks)


def _check(op: Operation, *values: DdrValue) -> None:
    if any(value.dtype is not F32 for value in values):
        raise NoKernel(f"{where(op)}: only rows of f32 have an order here")


class _Rows:
    """Rows of `size` elements, block by block in every lane; `made` results of each row, over the
    lanes."""

    def __init__(self, context: KernelContext, size: int, made: int) -> None:
        self.e, self.size, self.made = context.emitter, size, made
        self._memory, chip = LocalMemory(context.chip), context.chip
        self.each = -(-made // min(chip.lanes, made))
        self.lanes = -(-made // self.each)
        self.blocks = cut(size, -(-size // -(-size // LONGEST_BLOCK)))
        self.plan = plan_rows(self.blocks[0].size, 1, chip.eu(F32.bytes))
        self.stages = [
            self._memory.aligned(kind.shape((1, self.lanes, 1, 1)), F32)
            for kind in self.plan.stages(F32)
        ]
        self._results = [self.own() for _ in range(2)]
        self._part = self.own() if len(self.blocks) > 1 else self._results[0]

    def line(self) -> LocalTensor:
        """Room for a block of a row in every lane."""
        line = self._memory.aligned((1, self.lanes, 1, self.plan.slot), F32)
        shape = (1, self.lanes, 1, self.blocks[0].size)
        return aligned(self.e.chip, line.address, shape, F32)

    def own(self) -> LocalTensor:
        """Room for a number for each result."""
        return self._memory.aligned((1, self.lanes, self.each, 1), F32)

    def parts(
        self, own: LocalTensor, value: DdrValue, number: int
    ) -> Iterator[tuple[LocalTensor, GlobalTensor]]:
        """Row `number` in DDR, a part for each lane. Where they are not even the last lane has the
        last ones, of which the lane before has some, too."""
        start = value.address + number * self.made * F32.bytes
        whole = self.made // self.each
        ends = [(0, whole, start)]
        if whole < self.lanes:
            ends.append((whole, 1, start + (self.made - self.each) * F32.bytes))
        for lane, lanes, address in ends:
            shape = (1, lanes, self.each, 1)
            yield own.window((0, lane, 0, 0), shape, self.e.chip), contiguous(address, shape, F32)

    def first_places(self) -> LocalTensor:
        """The number of the first result of each lane."""
        first = self._memory.aligned((1, self.lanes, 1, 1), F32)
        for lane in range(self.lanes):
            address = lane << self.e.chip.lane_shift | first.address
            one = strided(address, (1, 1, 1, 1), (1, 1, 1, 1), F32)
            self.e.copy(one, float(min(lane * self.each, self.made - self.each)))
        return first

    def summed(
        self, out: DdrValue, number: int, marks: LocalTensor
    ) -> Iterator[tuple[Piece, LocalTensor]]:
        """Each block, and where its sums of `marks` go, which are added to those of the blocks
        before; then results are stored, as row `number`, while the next row is worked on."""
        self._results.reverse()
        result = self._results[0]
        for block in self.blocks:
            if block.size < self.blocks[0].size:
                self.end_in_zeros(marks, block)
            yield block, self._part if block.start else result
            if block.start:
                self.e.arith(Arith.ADD, result, result, self._part)
        for local, ddr in self.parts(result, out, number):
            put(self.e, ddr, local)

    def end_in_zeros(self, line: LocalTensor, block: Piece) -> None:
        """Zeros behind a block, in every lane."""
        rest = (1, self.lanes, 1, self.plan.slot - block.size)
        if rest[3]:
            self.e.copy(strided(line.at(w=block.size), rest, line.strides, F32), 0.0)

    def of(self, line: LocalTensor, block: Piece) -> LocalTensor:
        """As much of a line as a block takes."""
        return strided(line.address, (1, self.lanes, 1, block.size), line.strides, F32)

    def load(self, target: LocalTensor, source: DdrValue, number: int, block: Piece) -> None:
        """Bring a block of row `number` to every lane."""
        start = source.address + (number * self.size + block.start) * F32.bytes
        self.e.load_broadcast(target, contiguous(start, (1, 1, 1, block.size), F32))

    def total(self, sums: LocalTensor, place: int, marks: LocalTensor) -> None:
        """Add up a line of marks, for one result in each lane."""
        line = aligned(self.e.chip, marks.address, (1, self.lanes, 1, self.plan.slot), F32)
        total = self.plan.reduce(self.e, line, self.stages)
        self.e.copy(sums.window((0, 0, place, 0), (1, self.lanes, 1, 1), self.e.chip), total)
