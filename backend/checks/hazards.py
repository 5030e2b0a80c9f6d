"""Replay of a program over shadow memories: races between the engines, reads before writes.

Each queue is in order, so that a TIU command runs after GDMA command j exactly when j is not
beyond the largest `cmd_id_dep` of the TIU queue so far, and the other way round. Two commands
race when neither runs after the other and both touch a byte, one of them writing. It is enough
to remember, per byte and engine, the last command that read and that wrote it: if any
conflicting one is not ordered, the last is not. DDR is touched by the GDMA alone, in order.
"""

from collections.abc import Iterator

import numpy as np

from xdsl_tpu.backend.checks.finding import Fault, Finding, Place, place_of
from xdsl_tpu.backend.checks.placement import Segment
from xdsl_tpu.backend.checks.shadow import (
    Addresses,
    Shadow,
    Touch,
    common_granule,
    describe_bytes,
)
from xdsl_tpu.backend.checks.written import Written
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.isa.replay import replay
from xdsl_tpu.backend.machine.memory import sparse_zeros
from xdsl_tpu.backend.program import Program

_OTHER = {Engine.TIU: Engine.GDMA, Engine.GDMA: Engine.TIU}

Touches = dict[Engine, list[list[Touch]]]
"""For every command of both queues, what it touches."""


class Hazards:
    """Runs the checks that need the order of the commands; one use."""

    def __init__(
        self,
        program: Program,
        chip: Chip,
        segments: list[Segment],
        touches: Touches,
        beside: "Hazards | None" = None,
    ) -> None:
        """`beside` are those of another core, which writes to the same DDR."""
        self.program = program
        self.chip = chip
        self.touches = touches
        self.done = dict.fromkeys(Engine, 0)
        everything = [t for queue in touches.values() for list_ in queue for t in list_]
        granule = common_granule(r for t in everything if t.local for r in t.regions)
        count = chip.lanes * chip.local_bytes // granule
        self._read, self._stored = (
            {engine: Shadow(sparse_zeros(count, np.int32), granule) for engine in Engine}
            for _ in range(2)
        )
        linear = None if beside is None else beside._written.linear
        self._written = Written(program, chip, segments, linear)
        self._ordered = dict.fromkeys(Engine, 0)

    def findings(self) -> Iterator[Finding]:
        """Replay everything; `done` says afterwards how far both queues came."""
        for engine, position in replay(self.program.tiu, self.program.gdma):
            yield from self.step(engine, position)
        yield from self.outputs()

    def step(self, engine: Engine, position: int) -> Iterator[Finding]:
        """The next command of an engine."""
        command = self.program.queue(engine)[position]
        self._ordered[engine] = max(self._ordered[engine], command["cmd_id_dep"])
        touches = self.touches[engine][position]
        for touch in touches:
            yield from self._races(engine, position, touch)
        if not self._written.move(command, touches):
            yield from self._unwritten(engine, position, touches)
        for touch in touches:
            self._remember(engine, position, touch)
        self.done[engine] = position + 1

    @property
    def is_done(self) -> bool:
        """Whether both queues came to their ends."""
        return all(self.done[engine] == len(self.program.queue(engine)) for engine in Engine)

    def outputs(self) -> Iterator[Finding]:
        """Outputs that were not written, if all commands ran."""
        if self.is_done:
            for name, missing in self._written.outputs(self.program):
                text = f"output '{name}' ends with {missing}, which nothing has written"
                yield Finding(Fault.UNWRITTEN, Place(), text)

    def _remember(self, engine: Engine, position: int, touch: Touch) -> None:
        if touch.local:
            marks = self._stored if touch.writes else self._read
            for region in touch.regions:
                marks[engine].view(region)[...] = position + 1

    def _unwritten(self, engine: Engine, position: int, touches: list[Touch]) -> Iterator[Finding]:
        for touch in touches:
            if not touch.writes and (missing := self._written.missing(touch, engine)) is not None:
                yield Finding(
                    Fault.UNWRITTEN,
                    place_of(self.program, engine, position),
                    f"{touch.operand} reads {missing}, which nothing has written",
                )
        for touch in touches:
            if touch.writes:
                self._written.mark(touch)

    def _races(self, engine: Engine, position: int, touch: Touch) -> Iterator[Finding]:
        other = _OTHER[engine]
        if not touch.local or self.done[other] <= self._ordered[engine]:
            return
        shadows = [(self._stored[other], "writes")]
        if touch.writes:
            shadows.append((self._read[other], "reads"))
        for shadow, verb in shadows:
            latest, clashes = self._clashes(engine, touch, shadow)
            if not clashes:
                continue
            mine = "writes" if touch.writes else "reads"
            where = describe_bytes(self.chip, clashes, shadow.granule)
            yield Finding(
                Fault.RACE,
                place_of(self.program, engine, position),
                f"{touch.operand} {mine} {where} while "
                f"{place_of(self.program, other, latest - 1)} {verb} there: it waits only for "
                f"{other.value} command {self._ordered[engine]}",
            )

    def _clashes(self, engine: Engine, touch: Touch, shadow: Shadow) -> tuple[int, list[Addresses]]:
        """The last command in `shadow` that is not ordered before this one, and where."""
        latest, clashes = 0, list[Addresses]()
        for region in touch.regions:
            view = shadow.view(region)
            last = int(view.max())
            if last > self._ordered[engine]:
                clashes.append(shadow.addresses(region, view > self._ordered[engine]))
                latest = max(latest, last)
        return latest, clashes
