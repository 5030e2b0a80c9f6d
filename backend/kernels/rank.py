"""`tpu.Rank` and `tpu.Ranked`: comparisons of each element with all others of its row, on the chip.

Each lane has some neighbouring elements (or places) of its own, and the whole row. For one of its
own at a time it marks those of the row that count, and adds the marks up. Longer rows come in
blocks, whose sums are added up.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter
from xdsl_tpu.backend.kernels.best import numbered
from xdsl_tpu.backend.kernels.reduction import plan_rows
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, LocalMemory, where
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
    rows.blocks[0].end_in_zeros(marks[2])
    numbered(e, mine, 0, 1)
    e.arith(Arith.SUB, ahead, mine, rows.first_places())
    for number in range(math.prod(x.shape[:-1])):
        rows.fetch(own, x, number)
        result = rows.result()
        for block in rows.blocks:
            first, *lines = (block.of(line) for line in (row, mine, ahead, *marks))
            block.load(first, x, number, marks[2])
            for place in range(rows.each):
                _, by_c, by_h, _ = own.strides
                e.copy(lines[0], strided(own.at(h=place), lines[0].shape, (0, by_c, by_h, 0), F32))
                more, less = (first, lines[0]) if op.largest.value.data else (lines[0], first)
                _mark(e, (more, less), lines[2:], lines[1], place - block.start)
                block.total(place, marks[2])
            block.add(result)
        rows.put(out, number, result)


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
    rows.blocks[0].end_in_zeros(marks)
    first = rows.first_places()
    for number in range(math.prod(x.shape[:-1])):
        result = rows.result()
        for block in rows.blocks:
            values, orders, picks, found = (block.of(line) for line in (row, order, other, marks))
            block.load(values, x, number, marks)
            block.load(picks, ranks, number)
            e.arith(Arith.SUB, orders, picks, first)
            for place in range(rows.each):
                e.select(Compare.GREATER, picks, orders, place - 0.5, values, 0.0)
                e.select(Compare.GREATER, found, orders, place + 0.5, 0.0, picks)
                block.total(place, marks)
            block.add(result)
        rows.put(out, number, result)


def _check(op: Operation, *values: DdrValue) -> None:
    if any(value.dtype is not F32 for value in values):
        raise NoKernel(f"{where(op)}: only rows of f32 have an order here")


class _Rows:
    """Rows of `size` elements, block by block in every lane; `made` results of each row, over the
    lanes."""

    def __init__(self, context: KernelContext, size: int, made: int) -> None:
        self.context, self.size, self.made = context, size, made
        self._memory: LocalMemory = context.memory()
        self.each = -(-made // min(context.chip.lanes, made))
        self.lanes = -(-made // self.each)
        count = -(-size // LONGEST_BLOCK)
        self.longest = -(-size // count)
        self.plan = plan_rows(self.longest, 1, context.chip.eu(F32.bytes))
        self.stages = [
            self._memory.aligned(kind.shape((1, self.lanes, 1, 1)), F32)
            for kind in self.plan.stages(F32)
        ]
        self._results = [self.own() for _ in range(2)]
        starts = range(0, size, self.longest)
        self.part = self.own() if len(starts) > 1 else None
        self.blocks = [_Block(self, at, min(self.longest, size - at)) for at in starts]

    def line(self) -> LocalTensor:
        """Room for a block of a row in every lane."""
        line = self._memory.aligned((1, self.lanes, 1, self.plan.slot), F32)
        return aligned(self.context.chip, line.address, (1, self.lanes, 1, self.longest), F32)

    def own(self) -> LocalTensor:
        """Room for a number for each result."""
        return self._memory.aligned((1, self.lanes, self.each, 1), F32)

    def result(self) -> LocalTensor:
        """Room for the results of a row, while those of the row before are stored."""
        self._results.reverse()
        return self._results[0]

    @property
    def latest(self) -> LocalTensor:
        """What `result` gave last."""
        return self._results[0]

    def fetch(self, own: LocalTensor, source: DdrValue, number: int) -> None:
        """Bring each lane its own elements of row `number`."""
        for local, ddr in self._parts(own, source, number):
            fetch(self.context.emitter, local, ddr)

    def put(self, target: DdrValue, number: int, result: LocalTensor) -> None:
        """Store the results of row `number`."""
        for local, ddr in self._parts(result, target, number):
            put(self.context.emitter, ddr, local)

    def _parts(
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
            local = own.window((0, lane, 0, 0), shape, self.context.chip)
            yield local, contiguous(address, shape, F32)

    def first_places(self) -> LocalTensor:
        """The number of the first result of each lane."""
        first = self._memory.aligned((1, self.lanes, 1, 1), F32)
        for lane in range(self.lanes):
            address = lane << self.context.chip.lane_shift | first.address
            one = strided(address, (1, 1, 1, 1), (1, 1, 1, 1), F32)
            place = min(lane * self.each, self.made - self.each)
            self.context.emitter.copy(one, float(place))
        return first


@dataclass(frozen=True)
class _Block:
    """Elements [start, start + size) of rows."""

    rows: _Rows
    start: int
    size: int

    def end_in_zeros(self, line: LocalTensor) -> None:
        """Zeros behind the block, in every lane."""
        rest = (1, line.shape[1], 1, self.rows.plan.slot - self.size)
        if rest[3]:
            zeros = strided(line.at(w=self.size), rest, line.strides, F32)
            self.rows.context.emitter.copy(zeros, 0.0)

    def of(self, line: LocalTensor) -> LocalTensor:
        """As much of a line as the block takes."""
        lanes = line.shape[1]
        return strided(line.address, (1, lanes, 1, self.size), line.strides, F32)

    def load(
        self, target: LocalTensor, source: DdrValue, number: int, sums: LocalTensor | None = None
    ) -> None:
        """Bring its part of row `number` to every lane, and zeros behind what will be added up in
        the line `sums` where blocks are not all as long."""
        emitter = self.rows.context.emitter
        start = source.address + (number * self.rows.size + self.start) * F32.bytes
        emitter.load_broadcast(target, contiguous(start, (1, 1, 1, self.size), F32))
        if sums is not None and self.size < self.rows.longest:
            self.end_in_zeros(sums)

    def total(self, place: int, marks: LocalTensor) -> None:
        """Add up a line of marks, for one result in each lane."""
        rows, e = self.rows, self.rows.context.emitter
        sums = rows.part if self.start else rows.latest
        assert sums is not None
        line = aligned(e.chip, marks.address, (1, rows.lanes, 1, rows.plan.slot), F32)
        total = rows.plan.reduce(e, line, rows.stages)
        e.copy(sums.window((0, 0, place, 0), (1, rows.lanes, 1, 1), e.chip), total)

    def add(self, result: LocalTensor) -> None:
        """Add its sums to those of the blocks before."""
        if self.start and self.rows.part is not None:
            self.rows.context.emitter.arith(Arith.ADD, result, result, self.rows.part)
