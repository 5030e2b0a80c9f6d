"""Which bytes hold something: reads of what nothing has written.

Moving bytes that nothing wrote is no mistake, using them is: commands that only move bits within
local memory move the unwritten bytes along, and whoever computes with them is reported.
"""

from collections.abc import Iterator

import numpy as np

from xdsl_tpu.backend.checks.intervals import Intervals
from xdsl_tpu.backend.checks.placement import Segment
from xdsl_tpu.backend.checks.shadow import Addresses, Shadow, Touch, describe_bytes
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.isa.codes import AR, TransBc
from xdsl_tpu.backend.machine.memory import Memory
from xdsl_tpu.backend.machine.table import state_of
from xdsl_tpu.backend.operands.region import Region
from xdsl_tpu.backend.program import IoTensor, Program
from xdsl_tpu.dialects.errors import TpuError

_MOVES: set[tuple[str, int]] = {
    ("sAR", AR.COPY),
    *(("sTRANS_BC", function) for function in TransBc if "STATIC" not in function.name),
}


class Written:
    """A mark per byte of local memory, and the set of all other addresses that are written."""

    def __init__(
        self,
        program: Program,
        chip: Chip,
        segments: list[Segment],
        linear: Intervals | None = None,
    ) -> None:
        """`linear` are the addresses that another core knows to be written, and adds to."""
        self._chip = chip
        self._segments = segments
        # A machine over the marks: executing a move moves the marks.
        memory = Memory(chip, b"")
        self._state = state_of(chip, memory)
        self._local = Shadow(memory.local.bytes, 1)
        self.linear = Intervals() if linear is None else linear
        for segment in segments:
            if not segment.writable:
                self.linear.add(Region(segment.start, (), (), segment.size))
        for tensor in program.inputs:
            self.linear.add(_whole(tensor))

    def mark(self, touch: Touch) -> None:
        """The bytes of an operand have been written."""
        for region in touch.regions:
            if touch.local:
                self._local.view(region)[...] = 1
            else:
                self.linear.add(region)

    def missing(self, touch: Touch, by: Engine) -> str | None:
        """In words, the bytes of an operand that nothing has written; each only once.

        A transfer of whole EUs moves the gaps behind what they hold.
        """
        if not touch.local:
            return self._missing_linear(touch)
        parts: list[Addresses] = []
        for region in touch.regions:
            view = self._local.view(region)
            if not view.all():
                empty = self._local.addresses(region, view == 0)
                reported = empty if by is Engine.TIU else self._without_gaps(empty)
                self._local.marks.reshape(-1)[reported] = 1
                parts.append(reported)
        parts = [part for part in parts if part.size]
        return describe_bytes(self._chip, parts, self._local.granule) if parts else None

    def _without_gaps(self, empty: Addresses) -> Addresses:
        """Those of the unwritten bytes that a transfer reads which are not all that follows to the
        end of an EU whose first byte is written."""
        width = self._chip.eu_bytes
        lines, line_of = np.unique(empty // width, return_inverse=True)
        first = np.full(lines.size, width)
        np.minimum.at(first, line_of, empty % width)
        to_the_end = np.bincount(line_of) == width - first
        begun = (first > 0) & (self._local.marks.reshape(-1)[lines * width] != 0)
        return empty[~(begun & to_the_end)[line_of]]

    def _missing_linear(self, touch: Touch) -> str | None:
        parts = [found for r in touch.regions if (found := self.linear.missing(r)) is not None]
        if not parts:
            return None
        self.mark(touch)
        count = sum(part.count for part in parts)
        first, last = min(part.first for part in parts), max(part.last for part in parts)
        return f"{count} bytes of DDR in {first:#x} to {last:#x}"

    def move(self, command: Command, touches: list[Touch]) -> bool:
        """Move the marks as the command moves bytes; false when it does something else."""
        key = command.form.name, command.function
        sources = [touch for touch in touches if not touch.writes]
        if key not in _MOVES or not sources or self._complete(sources):
            return False
        try:
            self._state.execute(command)
        except TpuError:  # misplaced, which has been reported
            return False
        return True

    def outputs(self, program: Program) -> Iterator[tuple[str, str]]:
        """Outputs that are not written to their end, with the missing bytes in words."""
        for tensor in program.outputs:
            region = _whole(tensor)
            if any(segment.holds(region.start, region.end) for segment in self._segments):
                text = self._missing_linear(Touch(tensor.name, False, False, (region,)))
                if text is not None:
                    yield tensor.name, text

    def _complete(self, touches: list[Touch]) -> bool:
        return all(self._local.view(r).all() for touch in touches for r in touch.regions)


def _whole(tensor: IoTensor) -> Region:
    return Region(tensor.address, (), (), tensor.bytes)
