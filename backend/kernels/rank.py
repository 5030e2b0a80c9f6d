"""`tpu.Rank` and `tpu.Ranked`: comparisons of each element with all others of its row, on the chip.

Each lane has some neighbouring elements (or places) of its own, and the whole row. For one of its
own at a time it marks those of the row that count, and adds the marks up by halves.
"""

import math
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, LocalMemory, where
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    align,
    aligned,
    contiguous,
    strided,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel

F32 = DType.F32

_UNIT = 64
"""Elements that lines are made of, so that they can be halved several times."""


def rank(context: KernelContext, op: Operation) -> None:
    """Emit the ranks of f32 rows; NoKernel for other types, DoesNotFit for longer rows."""
    assert isinstance(op, tpu.RankOp)
    x, out = context.value(op.input), context.value(op.output)
    _check(op, x, out)
    e, rows = context.emitter, _Rows(context, x.shape[-1], x.shape[-1])
    own, row, mine, ahead = rows.own(), rows.line(), rows.line(), rows.line()
    marks = rows.line(), rows.line(), rows.sums()
    _count(e, mine)
    e.arith(Arith.SUB, ahead, mine, rows.first_places())
    for number in range(math.prod(x.shape[:-1])):
        rows.load(row, x, number)
        fetch(e, own, rows.parts(x, number))
        result = rows.result()
        for place in range(rows.each):
            _, by_c, by_h, _ = own.strides
            e.copy(mine, strided(own.at(h=place), mine.shape, (0, by_c, by_h, 0), F32))
            more, less = (row, mine) if op.largest.value.data else (mine, row)
            _mark(e, (more, less), marks, ahead, place)
            _total(e, rows.at(result, place), marks[2], mine, rows.padded)
        put(e, rows.parts(out, number), result)


def _mark(
    e: Emitter,
    values: tuple[LocalTensor, LocalTensor],
    marks: tuple[LocalTensor, LocalTensor, LocalTensor],
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
    """Emit the picks of f32 rows; NoKernel for other types, DoesNotFit for longer rows."""
    assert isinstance(op, tpu.RankedOp)
    x, ranks, out = (context.value(v) for v in (op.input, op.ranks, op.output))
    _check(op, x, ranks, out)
    e, rows = context.emitter, _Rows(context, x.shape[-1], out.shape[-1])
    row, order, other, marks = rows.line(), rows.line(), rows.line(), rows.sums()
    first = rows.first_places()
    for number in range(math.prod(x.shape[:-1])):
        rows.load(row, x, number)
        rows.load(other, ranks, number)
        e.arith(Arith.SUB, order, other, first)
        result = rows.result()
        for place in range(rows.each):
            e.select(Compare.GREATER, other, order, place - 0.5, row, 0.0)
            e.select(Compare.GREATER, marks, order, place + 0.5, 0.0, other)
            _total(e, rows.at(result, place), marks, other, rows.padded)
        put(e, rows.parts(out, number), result)


def _check(op: Operation, *values: DdrValue) -> None:
    if any(value.dtype is not F32 for value in values):
        raise NoKernel(f"{where(op)}: only rows of f32 have an order here")


@dataclass
class _Rows:
    """Rows of `size` elements in every lane; `made` results, evenly over the lanes."""

    context: KernelContext
    size: int
    made: int

    def __post_init__(self) -> None:
        lanes = self.context.chip.lanes
        self._memory: LocalMemory = self.context.memory()
        self.lanes = next(n for n in range(min(lanes, self.made), 0, -1) if self.made % n == 0)
        self.each = self.made // self.lanes
        self._results = [self.own() for _ in range(2)]

    @property
    def padded(self) -> int:
        """Elements of a line with what makes it a number that can be halved often."""
        return align(self.size, _UNIT)

    def line(self) -> LocalTensor:
        """Room for a whole row in every lane."""
        line = self._memory.aligned((1, self.lanes, 1, self.padded), F32)
        return aligned(self.context.chip, line.address, (1, self.lanes, 1, self.size), F32)

    def sums(self) -> LocalTensor:
        """A line with zeros behind it."""
        line = self.line()
        if self.padded > self.size:
            rest = (1, self.lanes, 1, self.padded - self.size)
            self.context.emitter.copy(strided(line.at(w=self.size), rest, line.strides, F32), 0.0)
        return line

    def own(self) -> LocalTensor:
        """Room for a number for each result."""
        return self._memory.aligned((1, self.lanes, self.each, 1), F32)

    def result(self) -> LocalTensor:
        """Room for the results of a row, while those of the row before are stored."""
        self._results.reverse()
        return self._results[0]

    def at(self, tensor: LocalTensor, place: int) -> LocalTensor:
        """The number of one result in each lane."""
        return tensor.window((0, 0, place, 0), (1, self.lanes, 1, 1), self.context.chip)

    def load(self, target: LocalTensor, source: DdrValue, number: int) -> None:
        """Bring row `number` to every lane."""
        start = source.address + number * self.size * F32.bytes
        row = contiguous(start, (1, 1, 1, self.size), F32)
        self.context.emitter.load_broadcast(target, row)

    def parts(self, value: DdrValue, number: int) -> GlobalTensor:
        """Row `number` in DDR, a part for each lane."""
        start = value.address + number * self.made * F32.bytes
        return contiguous(start, (1, self.lanes, self.each, 1), F32)

    def first_places(self) -> LocalTensor:
        """The number of the first result of each lane."""
        first = self._memory.aligned((1, self.lanes, 1, 1), F32)
        for lane in range(self.lanes):
            address = lane << self.context.chip.lane_shift | first.address
            one = strided(address, (1, 1, 1, 1), (1, 1, 1, 1), F32)
            self.context.emitter.copy(one, float(lane * self.each))
        return first


def _count(e: Emitter, line: LocalTensor) -> None:
    """0, 1, .. by doubling."""
    _, lanes, _, size = line.shape
    e.copy(strided(line.address, (1, lanes, 1, 1), line.strides, F32), 0.0)
    done = 1
    while done < size:
        shape = (1, lanes, 1, min(done, size - done))
        source = strided(line.address, shape, line.strides, F32)
        target = strided(line.at(w=done), shape, line.strides, F32)
        e.arith(Arith.ADD, target, source, float(done))
        done += shape[3]


def _total(e: Emitter, out: LocalTensor, marks: LocalTensor, other: LocalTensor, left: int) -> None:
    """The sum of a line of `left` elements, halves added in turn in it and in another."""
    lanes = marks.shape[1]

    def part(line: LocalTensor, start: int, size: int) -> LocalTensor:
        return strided(line.at(w=start), (1, lanes, 1, size), line.strides, F32)

    while left % 2 == 0 and left > 2:
        left //= 2
        e.arith(Arith.ADD, part(other, 0, left), part(marks, 0, left), part(marks, left, left))
        marks, other = other, marks
    while left > 2:
        half = left // 2
        low = part(marks, 0, half)
        e.arith(Arith.ADD, low, low, part(marks, left - half, half))
        left -= half
    e.arith(Arith.ADD, out, part(marks, 0, 1), part(marks, 1, 1))
