"""When every command runs: two in-order queues that wait for each other.

Rule of docs/hardware/cycles.md#timeline:

    start(i) = 1 + max(end(i-1 on the same engine), end(command dep on the other engine))
    end(i)   = start(i) + cycles(i) - 1
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.costs import Free
from xdsl_tpu.backend.timing.gdma_cost import Direction, transfer
from xdsl_tpu.backend.timing.tiu_cost import tiu_cycles
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.records import record


@record(frozen=True, slots=True)
class Event:
    """One command's place in time; `position` is its index in its queue.

    A transfer of a few bytes may take 0 cycles.
    """

    engine: Engine
    position: int
    start: int
    cycles: int


Sender = tuple[int, Engine, int]
"""A message: the number of the core that sent it, from which engine, its position in that queue."""


@dataclass
class Timeline:
    """All events of a run, with totals in cycles and bytes.

    Of several cores each has one. `awaited` has, by engine and position in its queue, the messages
    that let each wait go on.
    """

    events: dict[Engine, list[Event]]
    total: int
    busy: dict[Engine, int]
    bytes_moved: dict[Direction, int] = field(default_factory=dict[Direction, int])
    awaited: dict[tuple[Engine, int], tuple[Sender, ...]] = field(
        default_factory=dict[tuple[Engine, int], tuple["Sender", ...]]
    )


def simulate(tiu: Sequence[Command], gdma: Sequence[Command], chip: Chip) -> Timeline:
    """The timeline of a program; end markers cost nothing and are left out.

    Raises TpuError when the two queues wait for each other.
    """
    moved = dict.fromkeys(Direction, 0)
    costs: dict[Engine, list[int]] = {Engine.TIU: [tiu_cycles(c, chip) for c in tiu]}
    costs[Engine.GDMA] = []
    for command in gdma:
        cost = transfer(command, chip)
        moved[cost.direction] += cost.bytes
        costs[Engine.GDMA].append(cost.cycles)
    queues = {Engine.TIU: tiu, Engine.GDMA: gdma}
    events = _schedule(queues, costs)
    busy = {engine: sum(costs[engine]) for engine in Engine}
    last = [e.start + e.cycles for timeline in events.values() for e in timeline[-1:]]
    return Timeline(events, max(last, default=0), busy, moved)


def _schedule(
    queues: dict[Engine, Sequence[Command]], costs: dict[Engine, list[int]]
) -> dict[Engine, list[Event]]:
    """Advance whichever queue's head has its dependency met, until both are empty."""
    events: dict[Engine, list[Event]] = {engine: [] for engine in Engine}
    ends: dict[Engine, list[int]] = {engine: [-1] for engine in Engine}
    position = dict.fromkeys(Engine, 0)
    other = {Engine.TIU: Engine.GDMA, Engine.GDMA: Engine.TIU}
    while any(position[engine] < len(queues[engine]) for engine in Engine):
        advanced = False
        for engine in Engine:
            mine, theirs, queue = ends[engine], ends[other[engine]], queues[engine]
            cycles_of, met, first = costs[engine], len(theirs), position[engine]
            for i in range(first, len(queue)):
                command = queue[i]
                needed = command["cmd_id_dep"]
                if needed >= met:
                    break
                cycles = cycles_of[i]
                start = 1 + max(mine[-1], theirs[needed])
                mine.append(start + cycles - 1)
                if not isinstance(command.instruction.cost, Free):
                    events[engine].append(Event(engine, i, start, cycles))
            position[engine] = len(mine) - 1
            advanced |= position[engine] > first
        if not advanced:
            stuck = [
                f"{engine.value} command {position[engine] + 1} waits for "
                f"{queues[engine][position[engine]]['cmd_id_dep']}"
                for engine in Engine
                if position[engine] < len(queues[engine])
            ]
            raise TpuError("the command queues wait for each other: " + "; ".join(stuck))
    return events
