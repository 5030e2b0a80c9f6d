"""What is done with each slice of an op by itself, as steps of a tile program."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.support import LocalMemory, pipelined
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import Form, LocalKernel, LocalValue
from xdsl_tpu.backend.local.cuts import KIND, Cut
from xdsl_tpu.backend.local.dry import NOWHERE, Sizes, operand_slice, taps_of, value_slice
from xdsl_tpu.backend.tensor import DType, align, aligned, aligned_bytes
from xdsl_tpu.backend.tile.program import Buffer, Compute, Load, Step, Store, Sum, TileProgram
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps


class Slices:
    """What is done with each slice, and where everything lies from `start` on: two buffers of what
    changes from slice to slice, one of the rest. Of operands that are `early` every part has its
    own, if it is loaded once, so that all may come before the first slice."""

    def __init__(
        self,
        op: LocalGen,
        kernel: LocalKernel,
        found: Cut,
        chip: Chip,
        start: int = 0,
        early: Collection[int] = (),
    ) -> None:
        self.op, self.kernel, self.cut, self.chip = op, kernel, found, chip
        self.places = found.places
        self._buffers: dict[tuple[int, int], Buffer] = {}
        self._made: dict[int, Buffer] = {}
        self._at: dict[int, Sequence[int]] = {}
        memory = LocalMemory(chip, [(start, chip.local_bytes)])
        for index, operand in enumerate(op.operands):
            if operand not in found.parts:
                continue
            several, size = self._buffer_count(index, early), self._room(index)
            self._at[index] = [memory.take(size) for _ in range(several)]
        size = self._bytes(self._result(self._largest, 0))
        self._out_at = memory.take(size), memory.take(size)
        self.sums = len(found.sums)
        self._sum: Buffer | None = None
        if self.sums > 1:
            shape = self._result(self._largest, 0).tensor.shape
            self._sum_at = memory.take(aligned_bytes(chip, shape, DType.F32))
        self.local_bytes = memory.next
        self._free = ((self.local_bytes, chip.local_bytes), (0, start))[: 2 if start else 1]
        self._turns = {index: found.turns(op.operands[index]) for index in self._at}
        self.held = tuple(index for index, turns in self._turns.items() if turns[-1] == 0)
        self._first = sorted(self._turns, key=self._room)

    def _buffer_count(self, index: int, early: Collection[int]) -> int:
        operand = self.op.operands[index]
        if index in early and self.cut.comes_once(operand):
            return self.cut.turns(operand)[-1] + 1
        return 1 if self.cut.stays(operand) else 2

    def needs(self, early: Collection[int]) -> int:
        """Bytes of every lane with operands that are `early`."""
        unit = self.chip.eu_bytes
        more = {i: self._buffer_count(i, early) - len(at) for i, at in self._at.items()}
        return self.local_bytes + sum(n * align(self._room(i), unit) for i, n in more.items())

    def moved(self, start: int, early: Collection[int]) -> "Slices":
        """The same work in other places."""
        return Slices(self.op, self.kernel, self.cut, self.chip, start, early)

    def program(self, core: int, part: Piece) -> TileProgram:
        """A core's slices as a software pipeline: the next one is loaded while one is computed."""
        numbers = range(part.start, part.end)
        steps: list[Step] = []
        pipelined(
            numbers,
            lambda number, slot: steps.extend(
                self.load(number, self.news(number) if number > part.start else self._first)
            ),
            lambda number, slot: steps.append(self.compute(number)),
            lambda number, slot: steps.extend(self.store(number)),
        )
        return TileProgram(self.op, KIND, core, tuple(steps))

    @property
    def _largest(self) -> tuple[Sizes, Sizes]:
        return self.cut.room, lambda value: NOWHERE

    def _bytes(self, value: LocalValue) -> int:
        low, high = value.tensor.span(self.chip)
        return high - low

    def _room(self, index: int) -> int:
        """Bytes for the largest slice of an operand: of merged taps borders take less than they
        need of it."""
        largest = self._slice(index, self._largest, 0)
        if largest.form is not Form.MERGED:
            return self._bytes(largest)
        slices = (self._slice(index, self.cut.at(place), 0) for place in self.places)
        return max(map(self._bytes, slices))

    def _result(self, places: tuple[Sizes, Sizes], address: int) -> LocalValue:
        out = self.op.results[0]
        return value_slice(out, places, self.cut.whole[out], self.chip, address)

    def _slice(self, index: int, places: tuple[Sizes, Sizes], address: int) -> LocalValue:
        by_channel = index in self.cut.by_channel
        repeats = self.cut.in_every_lane(self.op.operands[index], self.op)
        return operand_slice(self.op, index, places, KIND, self.chip, address, by_channel, repeats)

    def _operand(self, index: int, number: int) -> Buffer:
        """What a slice needs of an operand; the same as the slice before where that needs it."""
        turn = self._turns[index][number]
        known = self._buffers.get((index, turn))
        if known is None:
            place, rooms = self.cut.at(self.places[number]), self._at[index]
            lies = self._slice(index, place, rooms[turn % len(rooms)])
            known = self._buffers[index, turn] = Buffer(self.op.operands[index], lies)
        return known

    def news(self, number: int) -> tuple[int, ...]:
        """The operands of which a slice needs what the one before it did not; not those of which
        all slices need the same."""
        moving = ((index, turns) for index, turns in self._turns.items() if turns[-1])
        return tuple(i for i, turns in moving if not number or turns[number - 1] < turns[number])

    def load(self, number: int, operands: Iterable[int]) -> Iterator[Load]:
        """Bring operands of a slice into local memory."""
        op = self.op
        for index in operands:
            target, taps = self._operand(index, number), None
            if target.place.form is Form.MERGED:
                assert isinstance(op, MergesTaps)
                taps = taps_of(op, self.cut.at(self.places[number]), self.chip)
            yield Load(number, number, op, op.operands[index], (target,), taps, self._free)

    def compute(self, number: int) -> Compute:
        """Compute a slice, or a part of the sum that it is."""
        op = self.op
        operands = tuple(
            self._operand(index, number) if index in self._at else None
            for index in range(len(op.operands))
        )
        out, before = self._out(number), None
        summed = self._summed(number, out.place) if self.sums > 1 else None
        if self.cut.follows(self.places[number]):
            before = self._out(number - 1)
        return Compute(
            number + 1, number, op, operands, out, None, self._free, self.kernel, summed, before
        )

    def _out(self, number: int) -> Buffer:
        """The slice of the result."""
        known = self._made.get(number)
        if known is None:
            place, result = self.cut.at(self.places[number]), number // self.sums
            lies = self._result(place, self._out_at[result % 2])
            known = self._made[number] = Buffer(self.op.results[0], lies)
        return known

    def _summed(self, number: int, lies: LocalValue) -> Sum:
        """The part of the sum of a slice, and where all of it comes together."""
        which = number % self.sums
        if not which or self._sum is None:
            tensor = aligned(self.chip, self._sum_at, lies.tensor.shape, DType.F32)
            self._sum = Buffer(self.op.results[0], replace(lies, tensor=tensor))
        return Sum(self._sum, self.cut.sums[which], self.op.summed())

    def store(self, number: int) -> Iterator[Store]:
        """Bring a slice of the result to DDR, when all of it has been summed up."""
        if (number + 1) % self.sums == 0:
            source = self._out(number)
            to, start = self.op.results[0], source.place.start
            yield Store(number + 2, number, self.op, to, source, start, self._free)
