"""What every command waits for, and the chain of commands that the run's length comes from."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Event, Timeline

OTHER = {Engine.TIU: Engine.GDMA, Engine.GDMA: Engine.TIU}


@dataclass(frozen=True, slots=True)
class Waits:
    """For every event of an engine, by its index: the index of the event of the other engine that
    it must not start before the end of, -1 for none (`needed`), and whether that is what it
    starts behind rather than the command before it on its own engine (`held`)."""

    needed: list[int]
    held: list[bool]


def waits(program: Program, timeline: Timeline) -> dict[Engine, Waits]:
    """From the `cmd_id_dep` of every command. One that the engine's own queue has passed long ago
    is named, too."""
    numbers = {
        engine: {event.position: index for index, event in enumerate(timeline.events[engine])}
        for engine in Engine
    }
    return {engine: _of(engine, program, timeline, numbers[OTHER[engine]]) for engine in Engine}


def _of(engine: Engine, program: Program, timeline: Timeline, numbers: dict[int, int]) -> Waits:
    queue, others = program.queue(engine), timeline.events[OTHER[engine]]
    found = Waits([], [])
    before = 0
    for event in timeline.events[engine]:
        index = numbers.get(queue[event.position]["cmd_id_dep"] - 1, -1)
        found.needed.append(index)
        end = others[index].start + others[index].cycles if index >= 0 else 0
        found.held.append(index >= 0 and end == event.start and end > before)
        before = event.start + event.cycles
    return found


def critical_path(
    timeline: Timeline, found: dict[Engine, Waits]
) -> tuple[list[tuple[Engine, int]], int]:
    """The events, as engine and index, that follow each other without a gap from cycle 0 to the
    end, and their cycles. A shorter run needs one of them to be shorter, or to wait for less."""
    last = _last(timeline.events)
    path: list[tuple[Engine, int]] = []
    while last is not None:
        path.append(last)
        engine, index = last
        waiting = found[engine]
        if waiting.held[index]:
            last = (OTHER[engine], waiting.needed[index])
        else:
            last = (engine, index - 1) if index else None
    path.reverse()
    return path, sum(timeline.events[engine][index].cycles for engine, index in path)


def _last(
    events: dict[Engine, Sequence[Event]] | dict[Engine, list[Event]],
) -> tuple[Engine, int] | None:
    ends = [(one[-1].start + one[-1].cycles, engine) for engine, one in events.items() if one]
    if not ends:
        return None
    engine = max(ends, key=lambda end: end[0])[1]
    return engine, len(events[engine]) - 1
