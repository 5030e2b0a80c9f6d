"""Bytes of DDR that two cores touch, one of them writing, without a message between them.

A transfer comes after another core's when that core has sent a message behind it that was awaited
in front of this one, perhaps by way of third ones. So each core has a clock for every core: how
many of its transfers are done for sure. Messages carry the sender's clocks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from xdsl_tpu.backend.checks.finding import Fault, Finding, place_of
from xdsl_tpu.backend.checks.placement import Segment
from xdsl_tpu.backend.checks.shadow import Shadow, Touch, common_granule
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.isa.messages import message_of
from xdsl_tpu.backend.operands.region import Region
from xdsl_tpu.backend.program import Program


class Crossings:
    """Follows the transfers of all cores in an order in which they may run; one use."""

    def __init__(
        self, program: Program, segments: Sequence[Segment], transfers: Sequence[list[list[Touch]]]
    ) -> None:
        """`transfers` has for each core what each command of its GDMA touches."""
        self._cores = program.cores
        self._transfers = transfers
        self._starts: list[tuple[Segment, int]] = []
        size = 0
        for segment in segments:
            if segment.writable:
                self._starts.append((segment, segment.start - size))
                size += segment.size
        moved = (
            one for core in transfers for touches in core for t in touches for one in t.regions
        )
        granule = common_granule(filter(None, map(self._placed, moved)))
        count = -(-size // granule)
        self._read, self._written = (
            [Shadow(np.zeros(count, np.int32), granule) for _ in self._cores] for _ in range(2)
        )
        self._clocks = [[0] * len(self._cores) for _ in self._cores]
        self._sent: dict[int, list[int]] = {}

    def step(self, core: int, position: int) -> Iterator[Finding]:
        """The next transfer of a core, or its message."""
        command = self._cores[core].gdma[position]
        message, clocks = message_of(command), self._clocks[core]
        if message is not None:
            sent = self._sent.setdefault(message.number, [0] * len(clocks))
            later = [max(pair) for pair in zip(sent, clocks, strict=True)]
            if message.sends:
                self._sent[message.number] = later
            else:
                self._clocks[core] = later
        for touch in self._transfers[core][position]:
            yield from self._crossed(core, position, touch)
        for touch in self._transfers[core][position]:
            marks = (self._written if touch.writes else self._read)[core]
            for region in filter(None, map(self._placed, touch.regions)):
                marks.view(region)[...] = position + 1
        self._clocks[core][core] = position + 1

    def _placed(self, region: Region) -> Region | None:
        """A region within the writable parts of DDR, counted through all of them."""
        for segment, start in self._starts:
            if segment.holds(region.start, region.end):
                return replace(region, start=region.start - start)
        return None

    def _crossed(self, core: int, position: int, touch: Touch) -> Iterator[Finding]:
        for other, known in enumerate(self._clocks[core]):
            if other == core:
                continue
            shadows = [(self._written[other], "writes")]
            if touch.writes:
                shadows.append((self._read[other], "reads"))
            for shadow, verb in shadows:
                regions = filter(None, map(self._placed, touch.regions))
                latest = max((int(shadow.view(region).max()) for region in regions), default=0)
                if latest <= known:
                    continue
                place = place_of(self._cores[other], Engine.GDMA, latest - 1)
                mine = "writes" if touch.writes else "reads"
                yield Finding(
                    Fault.CROSSING,
                    place_of(self._cores[core], Engine.GDMA, position),
                    f"{touch.operand} {mine} bytes of DDR that {replace(place, core=other)} "
                    f"{verb}, with no message between them",
                )
