"""Loads run ahead of transfers that must wait.

Each engine takes its commands in order, so a store that waits for its producer also holds up what
is queued behind it. Loads may move forward as far as memory allows: not before the commands that
last touched their target, behind every transfer that shares local memory with them, and behind
what wrote their source, on this core or another (`ddr_order`).

The new order is found by simulating the queues of all cores with the cycle model. A load that the
next command of the TIU waits for goes first if it is ready no later than the next transfer in
program order; and whenever that would leave the GDMA idle, a later load that is ready goes first,
unless it would take much longer than the gap.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.ddr_order import Placed
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Direction, tiu_cycles, transfer
from xdsl_tpu.backend.timing.gdma_cost import address

LOOK_AHEAD = 256
"""How many loads of coefficients, and how many of other values, are considered at a time."""

WORTH_WAITING = 0.75
"""A load goes first if the gap it fills is at least this share of its cycles."""

Before = dict[Engine, list[tuple[int, ...]]]
"""For every command the ids of the transfers it must follow; see `CommandQueues`."""


@dataclass(frozen=True, slots=True)
class Issued:
    """A transfer by its id, and in which cycles it would run."""

    identity: int
    start: int
    end: int


def float_loads(
    programs: Sequence[Program],
    transfers_before: Sequence[Before],
    order: Sequence[Sequence[Placed]],
    chip: Chip,
) -> list[list[Issued]]:
    """Reorder the GDMA queues of a finished program's cores, in place; values stay the same.

    `transfers_before` is what the emitter of each core recorded, `order` what their transfers must
    follow in DDR. Gives the transfers of each core in their new order.
    """
    cores = [_Core(*one, chip) for one in zip(programs, transfers_before, order, strict=True)]
    _schedule(cores)
    for core in cores:
        _rewrite(core.program, core.before, [one.identity for one in core.order])
    return [core.order for core in cores]


def _rewrite(program: Program, before: Before, order: Sequence[int]) -> None:
    """Put a core's transfers into their new order."""
    position = {old: new for new, old in enumerate(order, start=1)}
    for index, needed in enumerate(before[Engine.TIU]):
        waits = max((position[old] for old in needed), default=0)
        if program.tiu[index].form.waits:
            program.tiu[index] = _with(program.tiu[index], cmd_id_dep=waits)
    queue = [program.gdma[old - 1] for old in order]
    layers = [program.gdma_layers[old - 1] for old in order]
    program.gdma[:-1] = [_with(c, **c.form.numbered(i)) for i, c in enumerate(queue, start=1)]
    program.gdma_layers[:-1] = layers


def _with(command: Command, **fields: int) -> Command:
    return Command(command.form, {**command.fields, **fields})


def _schedule(cores: "Sequence[_Core]") -> None:
    """Choose the next transfer of whichever core's GDMA is free first, until none is left."""
    while unfinished := [core for core in cores if not core.is_done]:
        for core in sorted(unfinished, key=lambda one: one.free):
            if (chosen := core.next(cores)) is not None:
                core.issue(chosen, cores)
                break
        else:
            raise AssertionError("cores never wait for each other's later steps")


class _Core:
    """Simulates both engines of a core while choosing the order of transfers; ids count from 1."""

    def __init__(
        self, program: Program, before: Before, placed: Sequence[Placed], chip: Chip
    ) -> None:
        tiu, gdma = program.tiu[:-1], program.gdma[:-1]
        self.program, self.before, self.placed = program, before, placed
        self.waits = [0, *(command["cmd_id_dep"] for command in gdma)]
        self.tiu_cycles = [tiu_cycles(command, chip) for command in tiu]
        moved = [transfer(command, chip) for command in gdma]
        self.gdma_cycles = [0, *(m.cycles for m in moved)]
        coefficients = range(
            program.coefficient_address, program.coefficient_address + program.coefficients.size
        )
        loads = [
            index
            for index, (command, m) in enumerate(zip(gdma, moved, strict=True), start=1)
            if m.direction is Direction.LOAD and not _is_indexed(command)
        ]
        fixed = [index for index in loads if _source(gdma[index - 1]) in coefficients]
        made = [index for index in loads if placed[index - 1].step >= 0]
        self.floats = (_Window(fixed), _Window(made))
        self.may_float = {*fixed, *made}
        self.gdma_end: dict[int, int] = {}
        self.tiu_end: list[int] = [-1]
        self.free = -1  # last cycle of the GDMA's last transfer
        self.order: list[Issued] = []
        self.head = 1

    @property
    def is_done(self) -> bool:
        """Whether all transfers have their place."""
        return len(self.order) == len(self.gdma_cycles) - 1

    def next(self, cores: "Sequence[_Core]") -> int | None:
        """The next transfer in program order, or a load that goes before it; None while what the
        former must follow is not issued on another core."""
        self._advance()
        due = self._ready(self.head, cores)
        if due is None:
            return None
        needed = self._needed()
        if needed is not None and needed != self.head:
            ready = self._ready(needed, cores)
            if ready is not None and ready <= due:
                return needed
        return self.head if due <= self.free + 1 else self._filling(due, cores)

    def _filling(self, due: int, cores: "Sequence[_Core]") -> int:
        """A load that fills the gap before the next transfer in program order, or this one."""
        best, earliest = self.head, due
        for identity in self._candidates():
            ready = self._ready(identity, cores)
            if ready is None or ready >= earliest:
                continue
            if due - ready >= WORTH_WAITING * self.gdma_cycles[identity]:
                best, earliest = identity, ready
                if ready <= self.free + 1:
                    break
        return best

    def issue(self, identity: int, cores: "Sequence[_Core]") -> None:
        """Give a transfer the next place."""
        start = self._ready(identity, cores)
        assert start is not None
        self.free = start + self.gdma_cycles[identity] - 1
        self.gdma_end[identity] = self.free
        self.order.append(Issued(identity, start, self.free))
        while self.head in self.gdma_end:
            self.head += 1

    def _advance(self) -> None:
        """Run the TIU as far as the issued transfers let it."""
        while len(self.tiu_end) <= len(self.tiu_cycles):
            index = len(self.tiu_end) - 1
            needed = self.before[Engine.TIU][index]
            if any(n not in self.gdma_end for n in needed):
                return
            ready = max((self.gdma_end[n] for n in needed), default=-1)
            start = 1 + max(self.tiu_end[-1], ready)
            self.tiu_end.append(start + self.tiu_cycles[index] - 1)

    def _needed(self) -> int | None:
        """The only load for which the TIU waits, if that may go ahead."""
        index = len(self.tiu_end) - 1
        if index == len(self.tiu_cycles):
            return None
        missing = [n for n in self.before[Engine.TIU][index] if n not in self.gdma_end]
        return missing[0] if len(missing) == 1 and missing[0] in self.may_float else None

    def _ready(self, identity: int, cores: "Sequence[_Core]") -> int | None:
        """When a transfer could start; None while something it needs has not been issued."""
        if self.waits[identity] >= len(self.tiu_end):
            return None
        if any(n not in self.gdma_end for n in self.before[Engine.GDMA][identity - 1]):
            return None
        ready = max(self.free, self.tiu_end[self.waits[identity]])
        for after in self.placed[identity - 1].after:
            other = cores[after.core]
            if other.head <= after.identity:
                return None
            ready = max(ready, other.gdma_end[after.identity])
        return 1 + ready

    def _candidates(self) -> Iterator[int]:
        return merge(*(window.ahead(self.gdma_end) for window in self.floats))


@dataclass
class _Window:
    """Loads of a kind that may go ahead, in program order; those up to `first` are issued."""

    loads: Sequence[int]
    first: int = 0

    def ahead(self, issued: Collection[int]) -> list[int]:
        """The next ones that are not issued."""
        while self.first < len(self.loads) and self.loads[self.first] in issued:
            self.first += 1
        window = self.loads[self.first : self.first + LOOK_AHEAD]
        return [identity for identity in window if identity not in issued]


def _is_indexed(command: Command) -> bool:
    """Whether which coefficients are loaded is computed before."""
    return "index" in command.form.operands


def _source(command: Command) -> int:
    return address(command, "src")
