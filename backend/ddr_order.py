"""Which transfers must come after which because of the bytes of DDR that they touch.

Of one core only loads ever change places, and only to the front, so of its own transfers a load
must follow the last one that wrote what it reads. Of other cores a transfer must follow all that
touched its bytes in earlier steps, one of the two writing. The slices of one group, or an op by
itself, are one step, in which cores do not meet.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.operands.region import Region, regions
from xdsl_tpu.backend.program import Program

_Marks = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class After:
    """What a transfer must follow: of a core (its number) all up to an id, which counts from 1."""

    core: int
    identity: int


@dataclass(frozen=True, slots=True)
class Placed:
    """What a transfer does in DDR; `step` is -1 if it touches nothing that is ever written."""

    after: tuple[After, ...] = ()
    step: int = -1
    writes: bool = False


@dataclass(frozen=True, slots=True)
class _Touched:
    writes: bool
    places: tuple[Region, ...]


def ddr_order(program: Program, bounds: Sequence[int], chip: Chip) -> list[list[Placed]]:
    """For each core what each of its transfers, in the order of the program, must follow.

    `bounds[i]` is the number of layers (`Program.layers`) when step i was emitted: steps follow
    each other as the network has it, and what a core does in one does not touch what another does
    in the same.
    """
    memory = _Memory(program)
    cores = [memory.transfers(core, chip) for core in program.cores]
    memory.prepare(one.places for core in cores for touched in core for one in touched)
    steps = [
        _steps(core, touched, bounds) for core, touched in zip(program.cores, cores, strict=True)
    ]
    read, written = ([memory.marks() for _ in cores] for _ in range(2))
    found = [[Placed() for _ in core] for core in cores]
    for step in range(len(bounds) + 1):
        for number, core in enumerate(cores):
            for position in steps[number].get(step, ()):
                touched = core[position]
                after = [
                    After(other, last)
                    for other in range(len(cores))
                    if other != number
                    and (last := memory.last(touched, written[other], read[other]))
                ]
                writes = any(one.writes for one in touched)
                found[number][position] = Placed(tuple(after), step, writes)
        for number, core in enumerate(cores):
            for position in steps[number].get(step, ()):
                if last := memory.last(core[position], written[number]):
                    known = found[number][position]
                    own = After(number, last)
                    found[number][position] = replace(known, after=(*known.after, own))
                for one in core[position]:
                    memory.mark((written if one.writes else read)[number], one, position + 1)
    return found


def _steps(
    core: Program, transfers: Sequence[Sequence[_Touched]], bounds: Sequence[int]
) -> dict[int, list[int]]:
    """The transfers of each step that touch what programs write, by their places."""
    found: dict[int, list[int]] = {}
    for position, (touched, layer) in enumerate(zip(transfers, core.gdma_layers, strict=True)):
        if touched:
            found.setdefault(bisect_right(bounds, layer), []).append(position)
    return found


class _Memory:
    """The parts of DDR that a program writes, granule after granule."""

    def __init__(self, program: Program) -> None:
        parts = [
            (program.arena_address, program.arena_bytes),
            (program.io_address, program.io_bytes),
        ]
        parts += [(tensor.address, tensor.bytes) for tensor in program.inputs + program.outputs]
        self.parts: list[tuple[int, int, int]] = []
        self.size = 0
        self.granule = 1
        for start, size in sorted(part for part in parts if part[1]):
            low, end, _ = self.parts.pop() if self.parts else (start, start, 0)
            if start > end:
                self._add(low, end)
                low = start
            self._add(low, max(end, start + size))
        self.size = sum(end - start for start, end, _ in self.parts)

    def _add(self, start: int, end: int) -> None:
        """A part that lies behind the others."""
        known = sum(high - low for low, high, _ in self.parts)
        self.parts.append((start, end, known - start))

    def transfers(self, core: Program, chip: Chip) -> list[list[_Touched]]:
        """What each transfer of a core reads and writes of these parts."""
        return [
            self._touched(command, chip) if layer >= 0 else []
            for command, layer in zip(core.gdma, core.gdma_layers, strict=True)
        ]

    def _touched(self, command: Command, chip: Chip) -> list[_Touched]:
        found: list[_Touched] = []
        for access in accesses(command, chip):
            if not access.local:
                places = (self._placed(one) for one in regions(access, chip))
                kept = tuple(one for one in places if one is not None)
                found += [_Touched(access.writes, kept)] if kept else []
        return found

    def _placed(self, place: Region) -> Region | None:
        """These bytes counted through the parts."""
        for start, end, shift in self.parts:
            if start <= place.start and place.end <= end:
                return replace(place, start=place.start + shift)
        return None

    def prepare(self, places: Iterable[Sequence[Region]]) -> None:
        """Take the largest granule that divides all of these."""
        granule = 0
        for place in chain.from_iterable(places):
            granule = math.gcd(granule, place.start, place.run, *place.steps)
            if granule == 1:
                break
        self.granule = granule or 1

    def marks(self) -> _Marks:
        """Nothing marked yet."""
        return np.zeros(-(-self.size // self.granule), np.int32)

    def mark(self, marks: _Marks, touched: _Touched, identity: int) -> None:
        """Say that a transfer touches these bytes."""
        for place in touched.places:
            self._view(marks, place)[...] = identity

    def last(
        self, transfer: Sequence[_Touched], written: _Marks, read: _Marks | None = None
    ) -> int:
        """The last transfer that has written what this one reads or, if it is told who has read,
        written or read what this one writes; 0 if there is none."""
        last = 0
        for one in transfer:
            if one.writes and read is None:
                continue
            for marks in (written, read) if one.writes and read is not None else (written,):
                for place in one.places:
                    last = max(last, int(self._view(marks, place).max()))
        return last

    def _view(self, marks: _Marks, place: Region) -> _Marks:
        """The marks of these bytes."""
        width = marks.itemsize
        steps = [step // self.granule * width for step in place.steps]
        start = place.start // self.granule * width
        sizes = (*place.sizes, place.run // self.granule)
        return np.ndarray(sizes, marks.dtype, marks, start, (*steps, width))
