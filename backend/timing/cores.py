"""When every command of several cores runs.

Each core goes by the rule of `timeline`; messages take no time, and who awaits one goes on when it
is sent. What two cores do to each other's DDR is not known, so there are two ends:

- `each`: every core has all of the bandwidth, which is how the vendor's estimate counts;
- `shared`: cores that move data at the same time each get their part of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.costs import Free
from xdsl_tpu.backend.isa.messages import Hub, Message, message_of
from xdsl_tpu.backend.timing.gdma_cost import Direction, transfer
from xdsl_tpu.backend.timing.timeline import Event, Sender, Timeline
from xdsl_tpu.backend.timing.tiu_cost import tiu_cycles
from xdsl_tpu.dialects.errors import TpuError

Ddr: TypeAlias = Literal["each", "shared"]

Queues: TypeAlias = tuple[Sequence[Command], Sequence[Command]]
"""Commands of the TIU and of the GDMA of one core."""

_DONE = 1e-6
"""Cycles that are none: what is left of a transfer after sums of fractions."""


@dataclass
class _Lane:
    """One engine of one core: its commands, and how far it is with the next one."""

    core: int
    engine: Engine
    queue: Sequence[Command]
    cycles: list[int]
    shares: list[bool]
    done: int = 0
    start: float = 0.0
    left: float | None = None
    """Cycles that the command at work still needs; None between commands."""
    events: list[Event] = field(default_factory=list[Event])
    awaited: dict[int, tuple[Sender, ...]] = field(default_factory=dict[int, tuple[Sender, ...]])


def simulate_cores(cores: Sequence[Queues], chip: Chip, ddr: Ddr = "each") -> list[Timeline]:
    """The timeline of each core; all have the total of the one that is done last.

    Raises TpuError when all wait.
    """
    moved = [dict.fromkeys(Direction, 0) for _ in cores]
    lanes = [_lanes(core, queues, chip, moved[core]) for core, queues in enumerate(cores)]
    total = round(_Run(lanes, ddr == "shared").run())
    return [
        Timeline(
            {lane.engine: lane.events for lane in pair},
            total,
            {lane.engine: sum(lane.cycles) for lane in pair},
            moved[core],
            {(lane.engine, at): sent for lane in pair for at, sent in lane.awaited.items()},
        )
        for core, pair in enumerate(lanes)
    ]


def _lanes(
    core: int, queues: Queues, chip: Chip, moved: dict[Direction, int]
) -> tuple[_Lane, _Lane]:
    tiu, gdma = queues
    costs = [transfer(command, chip) for command in gdma]
    for cost in costs:
        moved[cost.direction] += cost.bytes
    shares = [cost.direction is not Direction.LOCAL and cost.bytes > 0 for cost in costs]
    computing = [tiu_cycles(command, chip) for command in tiu]
    return (
        _Lane(core, Engine.TIU, tiu, computing, [False] * len(tiu)),
        _Lane(core, Engine.GDMA, gdma, [cost.cycles for cost in costs], shares),
    )


class _Run:
    """All engines at work, from one end of a command to the next."""

    def __init__(self, cores: list[tuple[_Lane, _Lane]], shared: bool) -> None:
        self.cores, self.shared = cores, shared
        self.hub = Hub()
        self.sent: dict[int, list[Sender]] = {}
        self.now = 0.0

    def run(self) -> float:
        """The time when the last engine is done."""
        while True:
            while any(
                self._begins(lane, other)
                for tiu, gdma in self.cores
                for lane, other in ((tiu, gdma), (gdma, tiu))
            ):
                pass
            working = [lane for pair in self.cores for lane in pair if lane.left is not None]
            if not working:
                break
            self._advance(working)
        if any(lane.done < len(lane.queue) for pair in self.cores for lane in pair):
            raise TpuError("the cores wait for each other: " + "; ".join(self._waiting()))
        return self.now

    def _begins(self, lane: _Lane, other: _Lane) -> bool:
        """Begin the next command of an engine; False when it is at work or must wait."""
        if lane.left is not None or lane.done == len(lane.queue):
            return False
        command = lane.queue[lane.done]
        if command["cmd_id_dep"] > other.done:
            return False
        message = message_of(command)
        if message is not None and not self._passes(message, lane):
            return False
        lane.start, lane.left = self.now, float(lane.cycles[lane.done])
        if not lane.left:
            self._ends(lane)
        return True

    def _passes(self, message: Message, lane: _Lane) -> bool:
        """Carry out the message that an engine has come to, and note who sent what it awaits."""
        if not self.hub.passes(message):
            return False
        senders = self.sent.setdefault(message.number, [])
        if message.sends:
            senders.append((lane.core, lane.engine, lane.done))
        else:
            lane.awaited[lane.done] = tuple(senders)
            if message.number not in self.hub.sent:
                senders.clear()
        return True

    def _ends(self, lane: _Lane) -> None:
        if not isinstance(lane.queue[lane.done].instruction.cost, Free):
            start = round(lane.start)
            lane.events.append(Event(lane.engine, lane.done, start, round(self.now) - start))
        lane.done, lane.left = lane.done + 1, None

    def _advance(self, working: list[_Lane]) -> None:
        """Go on to when the next command ends."""
        sharing = sum(lane.shares[lane.done] for lane in working) if self.shared else 1
        paces = [max(1, sharing) if lane.shares[lane.done] else 1 for lane in working]
        left = [lane.left or 0.0 for lane in working]
        step = min(rest * pace for rest, pace in zip(left, paces, strict=True))
        self.now += step
        for lane, rest, pace in zip(working, left, paces, strict=True):
            lane.left = rest - step / pace
            if lane.left < _DONE:
                self._ends(lane)

    def _waiting(self) -> list[str]:
        return [
            f"{lane.engine.value} command {lane.done + 1} of core {core} "
            f"({lane.queue[lane.done].function_name})"
            for core, pair in enumerate(self.cores)
            for lane in pair
            if lane.done < len(lane.queue)
        ]
