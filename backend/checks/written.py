"""Which bytes hold something: reads of what nothing has written.

Moving bytes that nothing wrote is no mistake, using them is: commands that only move bits within
local memory move the unwritten bytes along, and whoever computes with them is reported.
"""

from collections.abc import Iterator

import numpy as np

from xdsl_tpu.backend.checks.placement import Segment
from xdsl_tpu.backend.checks.shadow import (
    Addresses,
    Shadow,
    Touch,
    common_granule,
    describe_bytes,
)
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.machine.memory import Memory
from xdsl_tpu.backend.machine.state import State
from xdsl_tpu.backend.machine.table import EXECUTORS
from xdsl_tpu.backend.operands.region import Region
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.dialects.errors import TpuError

_MOVES = {("sAR", 19), *(("sTRANS_BC", function) for function in range(4))}


class Written:
    """One byte per byte of local memory, one number per granule of DDR: 1 where written."""

    def __init__(
        self, program: Program, chip: Chip, segments: list[Segment], touches: list[Touch]
    ) -> None:
        self._chip = chip
        # A machine over the marks: executing a move moves the marks.
        memory = Memory(chip, b"")
        self._state = State(chip, memory, exact=False)
        self._local = Shadow(0, memory.local.bytes, 1)
        self._linear = _linear_shadows(program, segments, touches)

    def mark(self, touch: Touch) -> None:
        """The bytes of an operand have been written."""
        for region in touch.regions:
            self._shadow(touch, region).view(region)[...] = 1

    def missing(self, touch: Touch) -> str | None:
        """In words, the bytes of an operand that nothing has written; each only once."""
        parts: list[Addresses] = []
        granule = 1
        for region in touch.regions:
            shadow = self._shadow(touch, region)
            granule = shadow.granule
            view = shadow.view(region)
            if not view.all():
                parts.append(shadow.addresses(region, view == 0))
                view[...] = 1
        return describe_bytes(self._chip, touch.local, parts, granule) if parts else None

    def move(self, command: Command, touches: list[Touch]) -> bool:
        """Move the marks as the command moves bytes; false when it does something else."""
        key = command.form.name, command.function
        sources = [touch for touch in touches if not touch.writes]
        if key not in _MOVES or not sources or self._complete(sources):
            return False
        try:
            EXECUTORS[key](self._state, command)
        except TpuError:  # misplaced, which has been reported
            return False
        return True

    def outputs(self, program: Program) -> Iterator[tuple[str, str]]:
        """Outputs that are not written to their end, with the missing bytes in words."""
        for tensor in program.outputs:
            region = _whole(tensor)
            if any(segment.holds(region.start, region.end) for segment, _ in self._linear):
                text = self.missing(Touch(tensor.name, False, False, (region,)))
                if text is not None:
                    yield tensor.name, text

    def _complete(self, touches: list[Touch]) -> bool:
        return all(self._local.view(r).all() for touch in touches for r in touch.regions)

    def _shadow(self, touch: Touch, region: Region) -> Shadow:
        if touch.local:
            return self._local
        return next(s for segment, s in self._linear if segment.holds(region.start, region.end))


def _whole(tensor: IoTensor) -> Region:
    return Region(tensor.address, (), (), tensor.bytes)


def _linear_shadows(
    program: Program, segments: list[Segment], touches: list[Touch]
) -> list[tuple[Segment, Shadow]]:
    """A shadow per segment; coefficients, constants and inputs count as written."""
    tensors = [_whole(t) for t in (*program.inputs, *program.outputs)]
    granule = common_granule(
        [
            *(region for touch in touches if not touch.local for region in touch.regions),
            *tensors,
            *(Region(segment.start, (), (), segment.size) for segment in segments),
        ]
    )
    shadows: list[tuple[Segment, Shadow]] = []
    for segment in segments:
        marks = np.zeros(-(-segment.size // granule), np.uint8)
        if not segment.writable:
            marks[:] = 1
        shadows.append((segment, Shadow(segment.start, marks, granule)))
    for tensor in program.inputs:
        region = _whole(tensor)
        for segment, shadow in shadows:
            if segment.holds(region.start, region.end):
                shadow.view(region)[...] = 1
    return shadows
