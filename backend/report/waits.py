"""What every command waits for, and the chain of commands that the run's length comes from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Event, Timeline

OTHER = {Engine.TIU: Engine.GDMA, Engine.GDMA: Engine.TIU}

Queue = tuple[int, Engine]
"""The number of a core, and which of its engines."""


class Place(NamedTuple):
    """An event: the core, the engine, and its number among the events of that, from 0."""

    core: int
    engine: Engine
    number: int


@dataclass(frozen=True, slots=True)
class Waits:
    """For every event of an engine, by its index: the index of the event of the other engine that
    it must not start before the end of, -1 for none (`needed`); events of other cores whose
    messages it awaits (`awaited`, of those that await any); and what it starts behind (`behind`)
    where that is one of these and not the command before it on its own engine."""

    needed: list[int]
    awaited: dict[int, tuple[Place, ...]]
    behind: dict[int, Place]


def waits(program: Program, timelines: Sequence[Timeline]) -> dict[Queue, Waits]:
    """From the `cmd_id_dep` of every command, and the messages between cores. A dependency that
    the engine's own queue has passed long ago is named, too. One timeline for each core."""
    run = _Run(program, timelines)
    return {(core, engine): run.of(core, engine) for core in run.cores for engine in Engine}


def critical_path(
    timelines: Sequence[Timeline], found: dict[Queue, Waits]
) -> tuple[list[Place], int]:
    """The events that follow each other without a gap from cycle 0 to the end, and their cycles.
    A shorter run needs one of them to be shorter, or to wait for less."""
    last = _last(timelines)
    path: list[Place] = []
    while last is not None:
        path.append(last)
        core, engine, index = last
        before = Place(core, engine, index - 1) if index else None
        last = found[core, engine].behind.get(index, before)
    path.reverse()
    return path, sum(event_at(timelines, place).cycles for place in path)


def event_at(timelines: Sequence[Timeline], place: Place) -> Event:
    """The event of a place."""
    return timelines[place.core].events[place.engine][place.number]


def _last(timelines: Sequence[Timeline]) -> Place | None:
    ends = [
        (one[-1].start + one[-1].cycles, Place(core, engine, len(one) - 1))
        for core, timeline in enumerate(timelines)
        for engine, one in timeline.events.items()
        if one
    ]
    return max(ends, key=lambda end: end[0])[1] if ends else None


class _Run:
    """Events and commands of all cores."""

    def __init__(self, program: Program, timelines: Sequence[Timeline]) -> None:
        self.timelines = timelines
        self.cores = range(len(timelines))
        self.queues = {
            (core, engine): one.queue(engine)
            for core, one in enumerate(program.cores)
            for engine in Engine
        }
        self.numbers = {
            (core, engine): {event.position: index for index, event in enumerate(events)}
            for core, timeline in enumerate(timelines)
            for engine, events in timeline.events.items()
        }

    def of(self, core: int, engine: Engine) -> Waits:
        """What the events of an engine wait for."""
        found = Waits([], {}, {})
        ended, passed = 0, 0
        for index, event in enumerate(self.timelines[core].events[engine]):
            named = self._named(core, engine, event.position)
            found.needed.append(-1 if named is None else named.number)
            others = [] if named is None else [named]
            between = range(passed, event.position)
            if awaited := self._awaited(core, engine, between):
                found.awaited[index] = awaited
                others += awaited
            for place in others:
                if ended < self._end(place) == event.start:
                    found.behind[index] = place
            ended, passed = event.start + event.cycles, event.position + 1
        return found

    def _end(self, place: Place) -> int:
        event = event_at(self.timelines, place)
        return event.start + event.cycles

    def _awaited(self, core: int, engine: Engine, between: range) -> tuple[Place, ...]:
        """The events of other queues whose ends let commands that take no time go on: messages
        come from behind them. The last of each queue, the latest one last."""
        found: dict[Queue, Place] = {}
        for place in self._releases(core, engine, between, set()):
            known = found.get((place.core, place.engine))
            if known is None or known.number < place.number:
                found[place.core, place.engine] = place
        found.pop((core, engine), None)
        return tuple(sorted(found.values(), key=self._end))

    def _releases(
        self, core: int, engine: Engine, between: range, seen: set[tuple[int, Engine, int]]
    ) -> Iterator[Place]:
        """What lets the commands at some positions of a queue go on, which take no time."""
        awaited = self.timelines[core].awaited
        for position in between:
            if (engine, position) not in awaited:
                continue
            named = self._named(core, engine, position)
            if named is not None:
                yield named
            for sender in awaited[engine, position]:
                if sender not in seen:
                    seen.add(sender)
                    yield from self._sent(*sender, seen)

    def _sent(
        self, core: int, engine: Engine, position: int, seen: set[tuple[int, Engine, int]]
    ) -> Iterator[Place]:
        """What a message is behind: the event before it, the one of the other engine that it
        names, and what lets messages between these and it go on."""
        numbers = self.numbers[core, engine]
        before = position - 1
        while before >= 0 and before not in numbers:
            before -= 1
        if before >= 0:
            yield Place(core, engine, numbers[before])
        named = self._named(core, engine, position)
        if named is not None:
            yield named
        yield from self._releases(core, engine, range(before + 1, position), seen)

    def _named(self, core: int, engine: Engine, position: int) -> Place | None:
        """The event of the other engine that a command waits for by its number."""
        number = self.queues[core, engine][position]["cmd_id_dep"] - 1
        index = self.numbers[core, OTHER[engine]].get(number)
        return None if index is None else Place(core, OTHER[engine], index)
