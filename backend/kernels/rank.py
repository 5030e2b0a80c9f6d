"""`tpu.Rank` and `tpu.Ranked`: comparisons of each element with all others of its row, on the chip.

Each lane has some neighbouring elements (or places) of its own, and the whole row. For one of its
own at a time it marks those of the row that count, in one pass, and adds the marks up. Longer rows
come in blocks, whose sums are added up.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
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

_LINES, _OWN = 5, 10
"""As many lines of a block of a row are in a lane, what is added up in them counted in; and as many
numbers for each result of a lane."""

_HIGHEST, _LOWEST = 2**31 - 1, -(2**31)


def longest_block(chip: Chip, each: int) -> int:
    """Elements of a row that are compared at a time, where each lane makes so many results."""
    return max(1, (chip.local_bytes // F32.bytes - _OWN * each) // _LINES)


def rank(context: KernelContext, op: Operation) -> None:
    """Emit the ranks of f32 rows; NoKernel for other types.

    Elements become integers of the same order. Of those in front of a lane's own ones also equal
    ones come before these, so that they are made more by one. The own ones stand behind the first
    block, hidden where they are in the row, and each becomes more by one behind its own turn.
    """
    assert isinstance(op, tpu.RankOp)
    x, out = context.value(op.input), context.value(op.output)
    _check(op, x, out)
    e, rows = context.emitter, _Rows(context, x.shape[-1], x.shape[-1], beside_own=True)
    own, spare, mine = (rows.own() for _ in range(3))
    ahead, marks, other, row = (rows.line() for _ in range(4))
    largest = bool(op.largest.value.data)
    whole = rows.blocks[0]
    numbered(e, rows.of(marks, whole), 0, 1)
    e.arith(Arith.SUB, rows.of(ahead, whole), rows.of(marks, whole), rows.first_places())
    for number in range(math.prod(x.shape[:-1])):
        for local, ddr in rows.parts(own, x, number):
            fetch(e, local, ddr)
        _in_order(e, (own, spare, mine), largest)
        for block, sums in rows.summed(out, number):
            lines = [rows.of(line, block) for line in (marks, other, row)]
            rows.load(lines[0], x, number, block)
            _in_order(e, (lines[0], lines[1], lines[2]), largest)
            _without_own(e, rows.of(ahead, block), lines, rows.each, block.start)
            with_own = 0 if block.start else rows.each
            if with_own:
                _, by_c, by_h, _ = mine.strides
                shape, strides = (1, rows.lanes, 1, with_own), (0, by_c, 0, by_h)
                e.copy(
                    rows.part(row, block.size, with_own),
                    strided(mine.address, shape, strides, F32),
                )
            used = block.size + with_own
            rows.end_in_zeros(marks, used)
            found, seen = (_whole(rows.part(line, 0, used)) for line in (marks, row))
            for place in range(rows.each):
                one = mine.window((0, 0, place, 0), (1, rows.lanes, 1, 1), e.chip)
                e.mark_greater(found, seen, _whole(one), F32.bits(1.0))
                rows.total(sums, place, marks)
                if place + 1 < with_own:
                    turned = _whole(rows.part(row, block.size + place, 1))
                    e.arith(Arith.ADD, turned, turned, 1)


def _whole(x: LocalTensor) -> LocalTensor:
    """Words as integers."""
    return replace(x, dtype=DType.I32)


def _in_order(
    e: Emitter, tensors: tuple[LocalTensor, LocalTensor, LocalTensor], largest: bool
) -> None:
    """f32 numbers in the first of the tensors become whole ones in the last of them, of which those
    are more that come first; -0 is 0. All three are written to.

    Bits of floats without a sign are in their order; with one, all others are turned over."""
    x, plain, keys = tensors
    if largest:
        e.arith(Arith.ADD, plain, x, 0.0)
    else:
        e.arith(Arith.SUB, plain, 0.0, x)
    e.select(Compare.GREATER, _whole(x), _whole(plain), -1, 0, _HIGHEST)
    e.arith(Arith.XOR, _whole(keys), _whole(plain), _whole(x))


def _without_own(
    e: Emitter, ahead: LocalTensor, lines: Sequence[LocalTensor], each: int, start: int
) -> None:
    """Make the whole numbers in the last of the lines more by one in front of the lane's own ones,
    and the lowest in their place. The block begins at element `start`."""
    row, other, keys = map(_whole, lines)
    e.select(Compare.GREATER, other, ahead, -start - 0.5, 0, 1)
    e.arith(Arith.ADD, row, keys, other)
    e.select(Compare.GREATER, other, ahead, each - start - 0.5, keys, _LOWEST)
    e.select(Compare.GREATER, keys, ahead, -start - 0.5, other, row)


def ranked(context: KernelContext, op: Operation) -> None:
    """Emit the picks of f32 rows; NoKernel for other types."""
    assert isinstance(op, tpu.RankedOp)
    x, ranks, out = (context.value(v) for v in (op.input, op.ranks, op.output))
    _check(op, x, ranks, out)
    e, rows = context.emitter, _Rows(context, x.shape[-1], out.shape[-1])
    row, order, other, marks = (rows.line() for _ in range(4))
    first = rows.first_places()
    for number in range(math.prod(x.shape[:-1])):
        for block, sums in rows.summed(out, number):
            values, orders, picks, found = (
                rows.of(line, block) for line in (row, order, other, marks)
            )
            rows.load(values, x, number, block)
            rows.load(picks, ranks, number, block)
            e.arith(Arith.SUB, orders, picks, first)
            rows.end_in_zeros(marks, block.size)
            for place in range(rows.each):
                e.select(Compare.EQUAL, found, orders, place, values, 0.0)
                rows.total(sums, place, marks)


def _check(op: Operation, *values: DdrValue) -> None:
    if any(value.dtype is not F32 for value in values):
        raise NoKernel(f"{where(op)}: only rows of f32 have an order here")


class _Rows:
    """Rows of `size` elements, block by block in every lane; `made` results of each row, over the
    lanes. Behind a block there is room for as many elements as a lane makes, if `beside_own`."""

    def __init__(
        self, context: KernelContext, size: int, made: int, beside_own: bool = False
    ) -> None:
        self.e, self.size, self.made = context.emitter, size, made
        self._memory, chip = LocalMemory(context.chip), context.chip
        self.each = -(-made // min(chip.lanes, made))
        self.lanes = -(-made // self.each)
        self.blocks = cut(size, -(-size // -(-size // longest_block(chip, self.each))))
        self._room = self.blocks[0].size + beside_own * self.each
        self.plan = plan_rows(self._room, 1, chip.eu(F32.bytes))
        self.stages = [
            self._memory.aligned(kind.shape((1, self.lanes, 1, 1)), F32)
            for kind in self.plan.stages(F32)
        ]
        self._results = [self.own() for _ in range(2)]
        self._part = self.own() if len(self.blocks) > 1 else self._results[0]

    def line(self) -> LocalTensor:
        """Room for a block of a row in every lane."""
        line = self._memory.aligned((1, self.lanes, 1, self.plan.slot), F32)
        return aligned(self.e.chip, line.address, (1, self.lanes, 1, self._room), F32)

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

    def summed(self, out: DdrValue, number: int) -> Iterator[tuple[Piece, LocalTensor]]:
        """Each block, and where its sums of marks go, which are added to those of the blocks
        before; then results are stored, as row `number`, while the next row is worked on."""
        self._results.reverse()
        result = self._results[0]
        for block in self.blocks:
            yield block, self._part if block.start else result
            if block.start:
                self.e.arith(Arith.ADD, result, result, self._part)
        for local, ddr in self.parts(result, out, number):
            put(self.e, ddr, local)

    def end_in_zeros(self, line: LocalTensor, size: int) -> None:
        """Zeros behind so many elements of a line, in every lane."""
        if size < self.plan.slot:
            self.e.copy(self.part(line, size, self.plan.slot - size), 0.0)

    def of(self, line: LocalTensor, block: Piece) -> LocalTensor:
        """As much of a line as a block takes."""
        return self.part(line, 0, block.size)

    def part(self, line: LocalTensor, start: int, size: int) -> LocalTensor:
        """Elements of a line."""
        return strided(line.at(w=start), (1, self.lanes, 1, size), line.strides, F32)

    def load(self, target: LocalTensor, source: DdrValue, number: int, block: Piece) -> None:
        """Bring a block of row `number` to every lane."""
        start = source.address + (number * self.size + block.start) * F32.bytes
        self.e.load_broadcast(target, contiguous(start, (1, 1, 1, block.size), F32))

    def total(self, sums: LocalTensor, place: int, marks: LocalTensor) -> None:
        """Add up a line of marks, for one result in each lane."""
        line = aligned(self.e.chip, marks.address, (1, self.lanes, 1, self.plan.slot), F32)
        total = self.plan.reduce(self.e, line, self.stages)
        self.e.copy(sums.window((0, 0, place, 0), (1, self.lanes, 1, 1), self.e.chip), total)
