"""Barriers between cores, where data crosses in DDR.

Cores have nothing in common but DDR, and only the GDMA touches that. So a barrier is a message of
each core's GDMA, sent when it has done what the others wait for, and awaited in front of the first
transfer that needs it. Transfers that need nothing of others go before, between and behind.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from xdsl_tpu.backend.ddr_order import Placed
from xdsl_tpu.backend.float_loads import Issued
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import DmaMessages
from xdsl_tpu.backend.isa.messages import message_word
from xdsl_tpu.backend.program import Program

MESSAGES = (30, 31)
"""Numbers of messages, in turn: a core may send for the next barrier before others have seen that
all have sent for this one."""


@dataclass(frozen=True, slots=True)
class _Need:
    """A transfer that must follow others: its place in the queue, when it would begin, and for each
    core how many of its transfers must be done."""

    place: int
    start: float
    done: tuple[int, ...]


@dataclass
class _Meeting:
    """In front of which place of each core's queue its message is sent, and awaited."""

    sends: list[int]
    waits: list[int]


def synchronise(
    program: Program, order: Sequence[Sequence[Placed]], queued: Sequence[Sequence[Issued]]
) -> int:
    """Put barriers into the GDMA queues of all cores, in place; gives how many.

    `order` says what transfers must follow, by their ids; `queued` has those of each core as they
    lie in its queue, and when they would begin and end if barriers took no time.
    """
    meetings = _Planner(order, queued).run()
    for number, core in enumerate(program.cores):
        _insert(core, [(m.sends[number], m.waits[number]) for m in meetings], len(program.cores))
    return len(meetings)


class _Planner:
    """Finds the barriers one after the other."""

    def __init__(
        self, order: Sequence[Sequence[Placed]], queued: Sequence[Sequence[Issued]]
    ) -> None:
        self.queued = queued
        self.cores = range(len(queued))
        self.reach = [_reach(core) for core in queued]
        self.needs = [list(self._needs(core, order)) for core in self.cores]
        self.at = [0] * len(queued)
        self.known = [[0] * len(queued) for _ in queued]
        """For each core how many transfers of each other are done for sure."""
        self.found: list[_Meeting] = []

    def _needs(self, core: int, order: Sequence[Sequence[Placed]]) -> Iterator[_Need]:
        """What the transfers of a core need of others; the end of the first core's queue, where the
        program is taken to be done, what others have written."""
        for place, one in enumerate(self.queued[core]):
            done = [0] * len(self.queued)
            for after in order[core][one.identity - 1].after:
                if after.core != core:
                    done[after.core] = self.reach[after.core][after.identity]
            if any(done):
                yield _Need(place, one.start, tuple(done))
        if core == 0:
            done = tuple(self._written(other, order[other]) if other else 0 for other in self.cores)
            yield _Need(len(self.queued[core]), inf, done)

    def _written(self, core: int, order: Sequence[Placed]) -> int:
        """How many transfers of a core are done when it writes nothing any more."""
        writes = (
            p + 1 for p, one in enumerate(self.queued[core]) if order[one.identity - 1].writes
        )
        return max(writes, default=0)

    def run(self) -> list[_Meeting]:
        """All barriers, in order."""
        while True:
            heads = [self._head(core) for core in self.cores]
            limits = [
                len(ids) if one is None else one.place
                for one, ids in zip(heads, self.queued, strict=True)
            ]
            if not any(heads):
                self._settle(limits, limits)
                return self.found
            self._meet(heads, limits)

    def _head(self, core: int) -> _Need | None:
        """The first transfer of a core that needs more of others than is known."""
        needs, known = self.needs[core], self.known[core]
        while self.at[core] < len(needs):
            one = needs[self.at[core]]
            if any(n > k for n, k in zip(one.done, known, strict=True)):
                return one
            self.at[core] += 1
        return None

    def _meet(self, heads: Sequence[_Need | None], limits: Sequence[int]) -> None:
        """One barrier more, for all heads whose needs come in front of what others wait for."""
        served = {
            core: one
            for core, one in enumerate(heads)
            if one is not None and all(n <= m for n, m in zip(one.done, limits, strict=True))
        }
        assert served, "cores never wait for each other's later steps"
        sends = [self._send(core, served, limits[core]) for core in self.cores]
        self._settle(sends, limits)
        if self.found:
            sends = [max(pair) for pair in zip(sends, self.found[-1].waits, strict=True)]
        waits = [served[core].place if core in served else -1 for core in self.cores]
        self.found.append(_Meeting(sends, waits))
        for core, known in enumerate(self.known):
            for other in self.cores:
                if other != core:
                    known[other] = sends[other]

    def _send(self, core: int, served: Mapping[int, _Need], limit: int) -> int:
        """In front of which place a core sends: as late as those that wait do not notice."""
        others = [one for other, one in served.items() if other != core]
        needed = max((one.done[core] for one in others), default=0)
        start = min((one.start for one in others), default=0)
        queue = self.queued[core]
        while needed < limit and queue[needed].end < start:
            needed += 1
        return needed

    def _settle(self, sends: Sequence[int], limits: Sequence[int]) -> None:
        """Cores that need nothing of the last barrier wait for it in front of their next message,
        or of what needs something else."""
        if not self.found:
            return
        last = self.found[-1]
        for core, place in enumerate(last.waits):
            if place < 0:
                last.waits[core] = max(last.sends[core], min(sends[core], limits[core]))


def _reach(queue: Sequence[Issued]) -> list[int]:
    """By id, how many transfers are done when all up to it are."""
    places = [0] * (len(queue) + 1)
    for place, one in enumerate(queue):
        places[one.identity] = place + 1
    return list(accumulate(places, max))


def _insert(core: Program, meetings: Sequence[tuple[int, int]], count: int) -> None:
    """Put messages in front of the transfers where they are sent and awaited; the TIU counts the
    transfers as they are numbered then."""
    form = next(c.form for c in reversed(core.gdma) if c.form.name == "sDMA_sys")
    before: dict[int, list[tuple[int, int]]] = {}
    for turn, places in enumerate(meetings):
        for place, function in zip(places, (DmaMessages.SEND, DmaMessages.WAIT), strict=True):
            before.setdefault(place, []).append((turn, function))
    queue: list[Command] = []
    layers: list[int] = []
    number = [0]
    for place, command in enumerate(core.gdma):
        for turn, function in sorted(before.get(place, ())):
            word = message_word(form.name, MESSAGES[turn % len(MESSAGES)], count)
            fields = form.numbered(len(queue) + 1) | {form.function_field: int(function)} | word
            queue.append(Command(form, fields))
            layers.append(-1)
        queue.append(command)
        layers.append(core.gdma_layers[place])
        number.append(len(queue))
    core.gdma[:], core.gdma_layers[:] = queue, layers
    core.tiu[:] = [
        Command(c.form, {**c.fields, "cmd_id_dep": number[dep]}) if (dep := c["cmd_id_dep"]) else c
        for c in core.tiu
    ]
