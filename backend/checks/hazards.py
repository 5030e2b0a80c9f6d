"""Replay of a program over shadow memories: reads before writes, and races between the engines.

Each queue is in order, so that a TIU command runs after GDMA command j exactly when j is not
beyond the largest `cmd_id_dep` of the TIU queue so far, and the other way round. Two commands
race when neither runs after the other and both touch a byte, one of them writing. It is enough
to remember, per byte and engine, the last command that read and that wrote it: if any
conflicting one is not ordered, the last is not. DDR is touched by the GDMA alone, in order.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from xdsl_tpu.backend.checks.finding import Fault, Finding, Place, place_of
from xdsl_tpu.backend.checks.placement import Segment
from xdsl_tpu.backend.checks.shadow import Addresses, Shadow, common_granule
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.isa.replay import replay
from xdsl_tpu.backend.operands.region import Region
from xdsl_tpu.backend.program import IoTensor, Program

_OTHER = {Engine.TIU: Engine.GDMA, Engine.GDMA: Engine.TIU}


@dataclass(frozen=True, slots=True)
class Touch:
    """The bytes of one operand; only well-placed operands become one."""

    operand: str
    local: bool
    writes: bool
    regions: tuple[Region, ...]


Touches = dict[Engine, list[list[Touch]]]
"""For every command of both queues, what it touches."""


class Hazards:
    """Runs the checks that need the order of the commands; one use."""

    def __init__(
        self, program: Program, chip: Chip, segments: list[Segment], touches: Touches
    ) -> None:
        self.program = program
        self.chip = chip
        self.touches = touches
        self.done = dict.fromkeys(Engine, 0)
        size = chip.lanes * chip.local_bytes
        everything = [t for queue in touches.values() for list_ in queue for t in list_]
        granule = common_granule(r for t in everything if t.local for r in t.regions)
        self._valid = Shadow(0, size, granule, np.uint8)
        self._read = {engine: Shadow(0, size, granule, np.int32) for engine in Engine}
        self._written = {engine: Shadow(0, size, granule, np.int32) for engine in Engine}
        self._linear = _linear_shadows(program, segments, [t for t in everything if not t.local])
        self._ordered = dict.fromkeys(Engine, 0)

    def findings(self) -> Iterator[Finding]:
        """Replay everything; `done` says afterwards how far both queues came."""
        linear = self._linear
        for engine, position in replay(self.program.tiu, self.program.gdma):
            dependency = self.program.queue(engine)[position]["cmd_id_dep"]
            self._ordered[engine] = max(self._ordered[engine], dependency)
            touches = self.touches[engine][position]
            for touch in touches:
                yield from self._races(engine, position, touch)
                if not touch.writes:
                    yield from self._unwritten(engine, position, touch)
            for touch in touches:
                self._record(engine, position, touch)
            self.done[engine] = position + 1
        if all(self.done[engine] == len(self.program.queue(engine)) for engine in Engine):
            for tensor in self.program.outputs:
                if any(s.holds(tensor.address, tensor.address + tensor.bytes) for s, _ in linear):
                    yield from self._output(tensor)

    def _record(self, engine: Engine, position: int, touch: Touch) -> None:
        for region in touch.regions:
            if touch.writes:
                self._validity(touch, region).view(region)[...] = 1
            if touch.local:
                marks = self._written if touch.writes else self._read
                marks[engine].view(region)[...] = position + 1

    def _validity(self, touch: Touch, region: Region) -> Shadow:
        """Which bytes have been written, of the memory that a region lies in."""
        return self._valid if touch.local else self._segment(region)

    def _segment(self, region: Region) -> Shadow:
        return next(s for segment, s in self._linear if segment.holds(region.start, region.end))

    def _unwritten(self, engine: Engine, position: int, touch: Touch) -> Iterator[Finding]:
        missing: list[Addresses] = []
        shadow = self._valid
        for region in touch.regions:
            shadow = self._validity(touch, region)
            view = shadow.view(region)
            if not view.all():
                missing.append(shadow.addresses(region, view == 0))
                view[...] = 1  # each byte is reported once
        if missing:
            yield Finding(
                Fault.UNWRITTEN,
                place_of(self.program, engine, position),
                f"{touch.operand} reads {self._bytes(touch.local, missing, shadow)}, "
                "which nothing has written",
            )

    def _races(self, engine: Engine, position: int, touch: Touch) -> Iterator[Finding]:
        other = _OTHER[engine]
        if not touch.local or self.done[other] <= self._ordered[engine]:
            return
        shadows = [(self._written[other], "writes")]
        if touch.writes:
            shadows.append((self._read[other], "reads"))
        for shadow, verb in shadows:
            latest, clashes = self._clashes(engine, touch, shadow)
            if not clashes:
                continue
            mine = "writes" if touch.writes else "reads"
            yield Finding(
                Fault.RACE,
                place_of(self.program, engine, position),
                f"{touch.operand} {mine} {self._bytes(True, clashes, shadow)} while "
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

    def _output(self, tensor: IoTensor) -> Iterator[Finding]:
        region = _whole(tensor)
        shadow = self._segment(region)
        view = shadow.view(region)
        if not view.all():
            missing = [shadow.addresses(region, view == 0)]
            yield Finding(
                Fault.UNWRITTEN,
                Place(),
                f"output '{tensor.name}' ends with {self._bytes(False, missing, shadow)}, "
                "which nothing has written",
            )

    def _bytes(self, local: bool, parts: list[Addresses], shadow: Shadow) -> str:
        """Granules in words: `256 bytes in 0x1200 to 0x127f of lanes 0 to 3`."""
        where = np.unique(np.concatenate(parts))
        count = where.size * shadow.granule
        if not local:
            end = int(where[-1]) + shadow.granule - 1
            return f"{count} bytes of DDR in {int(where[0]):#x} to {end:#x}"
        lanes, offsets = np.divmod(where, self.chip.local_bytes)
        end = int(offsets.max()) + shadow.granule - 1
        return (
            f"{count} bytes of local memory in {int(offsets.min()):#x} to {end:#x} "
            f"of lanes {lanes[0]} to {lanes[-1]}"
        )


def _whole(tensor: IoTensor) -> Region:
    return Region(tensor.address, (), (), tensor.bytes)


def _linear_shadows(
    program: Program, segments: list[Segment], touches: list[Touch]
) -> list[tuple[Segment, Shadow]]:
    """A shadow per segment; coefficients, constants and inputs count as written."""
    tensors = [_whole(t) for t in (*program.inputs, *program.outputs)]
    granule = common_granule(
        [
            *(region for touch in touches for region in touch.regions),
            *tensors,
            *(Region(segment.start, (), (), segment.size) for segment in segments),
        ]
    )
    shadows: list[tuple[Segment, Shadow]] = []
    for segment in segments:
        shadow = Shadow(segment.start, segment.size, granule, np.uint8)
        if not segment.writable:
            shadow.marks[:] = 1
        shadows.append((segment, shadow))
    for tensor in program.inputs:
        region = _whole(tensor)
        for segment, shadow in shadows:
            if segment.holds(region.start, region.end):
                shadow.view(region)[...] = 1
    return shadows
