"""Barriers between cores, where data crosses in DDR.

Cores have nothing in common but DDR, and only the GDMA touches that. So a barrier is a message of
each core's GDMA, sent when it has done what the others wait for, and awaited in front of the first
transfer that could meet what they have done. Transfers of coefficients, which nobody writes, go
before, between and behind.

What crosses follows from the bytes that transfers read and write, step by step; the slices of one
group are all one step, in which cores do not meet.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import DmaMessages
from xdsl_tpu.backend.isa.messages import message_word
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.operands.region import Region, regions
from xdsl_tpu.backend.program import Program

MESSAGES = (30, 31)
"""Numbers of messages, in turn: a core may send for the next barrier before others have seen that
all have sent for this one."""

_Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Touched:
    """Bytes of DDR that a transfer reads or writes."""

    writes: bool
    places: tuple[Region, ...]


@dataclass
class _Core:
    """A core's transfers by step, and the steps before which it meets the others."""

    program: Program
    steps: list[int]
    """The step of each transfer in its queue; -1 of coefficients, which go anywhere."""
    touched: dict[int, list[_Touched]] = field(default_factory=dict[int, list[_Touched]])


def synchronise(program: Program, bounds: Sequence[int], chip: Chip) -> int:
    """Put barriers into the GDMA queues of all cores, in place; gives how many.

    `bounds[i]` is the number of layers (`Program.layers`) when step i was emitted: steps follow
    each other as the network has it, and what a core does in one does not touch what another does
    in the same.
    """
    memory = _Memory(program)
    cores = [_core(core, bounds, memory, chip) for core in program.cores]
    meetings = _meetings(cores, len(bounds), memory)
    for core in cores:
        _insert(core, meetings, len(cores))
    return len(meetings)


def _core(program: Program, bounds: Sequence[int], memory: "_Memory", chip: Chip) -> _Core:
    core = _Core(program, [])
    for command, layer in zip(program.gdma, program.gdma_layers, strict=True):
        found: list[_Touched] = []
        for access in accesses(command, chip) if layer >= 0 else ():
            if not access.local:
                places = tuple(one for one in regions(access, chip) if memory.holds(one))
                found += [_Touched(access.writes, places)] if places else []
        step = bisect_right(bounds, layer) if found else -1
        core.steps.append(step)
        if found:
            core.touched.setdefault(step, []).extend(found)
    return core


class _Memory:
    """The parts of DDR that a program writes, byte after byte."""

    def __init__(self, program: Program) -> None:
        parts = [
            (program.arena_address, program.arena_bytes),
            (program.io_address, program.io_bytes),
        ]
        parts += [(tensor.address, tensor.bytes) for tensor in program.inputs + program.outputs]
        self.parts: list[tuple[int, int, int]] = []
        self.size = 0
        for start, size in sorted(parts):
            known = self.parts[-1] if self.parts else (0, 0, 0)
            if size and start + size > known[1]:
                self.parts.append((start, start + size, self.size - start))
                self.size += size

    def holds(self, place: Region) -> bool:
        """Whether these bytes are among the parts."""
        return self._part(place) is not None

    def view(self, marks: _Marks, place: Region) -> _Marks:
        """The marks of these bytes."""
        part = self._part(place)
        assert part is not None
        start = place.start + part[2]
        return np.ndarray((*place.sizes, place.run), np.bool_, marks, start, (*place.steps, 1))

    def _part(self, place: Region) -> tuple[int, int, int] | None:
        return next((p for p in self.parts if p[0] <= place.start and place.end <= p[1]), None)


def _meetings(cores: Sequence[_Core], steps: int, memory: _Memory) -> list[int]:
    """The steps before which all cores must meet; the last one if another core than the first has
    written something: the program is taken to be done when that core is."""
    read = [np.zeros(memory.size, np.bool_) for _ in cores]
    written = [np.zeros(memory.size, np.bool_) for _ in cores]
    found: list[int] = []
    for step in range(steps):
        if any(
            _crosses(core.touched.get(step, ()), number, read, written, memory)
            for number, core in enumerate(cores)
        ):
            found.append(step)
            for marks in (*read, *written):
                marks[:] = False
        for number, core in enumerate(cores):
            for touched in core.touched.get(step, ()):
                for place in touched.places:
                    memory.view((written if touched.writes else read)[number], place)[...] = True
    return [*found, steps] if any(marks.any() for marks in written[1:]) else found


def _crosses(
    transfers: Sequence[_Touched],
    number: int,
    read: Sequence[_Marks],
    written: Sequence[_Marks],
    memory: _Memory,
) -> bool:
    """Whether a core's transfers meet what another has written, or write what it has read."""
    for touched in transfers:
        for other in range(len(read)):
            if other == number:
                continue
            marks = (written[other], read[other]) if touched.writes else (written[other],)
            if any(memory.view(one, place).any() for one in marks for place in touched.places):
                return True
    return False


def _insert(core: _Core, meetings: Sequence[int], count: int) -> None:
    """Send behind the last transfer of the steps before a meeting, wait in front of the first one
    after it; the TIU counts the transfers as they are numbered then."""
    program = core.program
    form = next(c.form for c in reversed(program.gdma) if c.form.name == "sDMA_sys")
    ordered = [(place, step) for place, step in enumerate(core.steps) if step >= 0]
    end = len(program.gdma) - 1
    before: dict[int, list[tuple[int, int]]] = {}
    waits = 0
    for turn, meeting in enumerate(meetings):
        last = max((place + 1 for place, step in ordered if step < meeting), default=0)
        sends = max(last, waits)  # the wait before, or two messages of one number could be out
        waits = min((place for place, step in ordered if step >= meeting), default=end)
        for place, function in ((sends, DmaMessages.SEND), (waits, DmaMessages.WAIT)):
            before.setdefault(place, []).append((turn, function))
    queue: list[Command] = []
    layers: list[int] = []
    number = [0]
    for place, command in enumerate(program.gdma):
        for turn, function in sorted(before.get(place, ())):
            word = message_word(form.name, MESSAGES[turn % len(MESSAGES)], count)
            fields = form.numbered(len(queue) + 1) | {form.function_field: int(function)} | word
            queue.append(Command(form, fields))
            layers.append(-1)
        queue.append(command)
        layers.append(program.gdma_layers[place])
        number.append(len(queue))
    program.gdma[:], program.gdma_layers[:] = queue, layers
    program.tiu[:] = [
        Command(c.form, {**c.fields, "cmd_id_dep": number[dep]}) if (dep := c["cmd_id_dep"]) else c
        for c in program.tiu
    ]
