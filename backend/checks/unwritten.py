"""Reads of what was never written, command by command, for whoever runs a program anyway."""

from collections.abc import Iterator, Sequence

from xdsl_tpu.backend.checks.placement import access_problems, segment_problems, segments_of
from xdsl_tpu.backend.checks.shadow import Touch
from xdsl_tpu.backend.checks.written import Written
from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.operands import Access
from xdsl_tpu.backend.operands.region import regions
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError


class UnwrittenReads:
    """Follows a run in its order; coefficients, inputs and static memory count as written."""

    def __init__(self, program: Program, chip: Chip) -> None:
        self._chip = chip
        self._segments = segments_of(program, chip)
        for segment, _ in list(segment_problems(self._segments, chip)):
            self._segments.remove(segment)
        self._written = Written(program, chip, self._segments)

    def step(self, command: Command, accesses: Sequence[Access]) -> list[str]:
        """What the next command reads that nothing has written, in words; each only once."""
        touches = list(self._touches(accesses))
        found: list[str] = []
        if not self._written.move(command, touches):
            engine = command.form.engine
            reads = ((t, self._written.missing(t, engine)) for t in touches if not t.writes)
            found = [f"{touch.operand} reads {missing}" for touch, missing in reads if missing]
            for touch in touches:
                if touch.writes:
                    self._written.mark(touch)
        return found

    def outputs(self, program: Program) -> Iterator[tuple[str, str]]:
        """Outputs that are not written to their end, with the missing bytes in words."""
        yield from self._written.outputs(program)

    def _touches(self, accesses: Sequence[Access]) -> Iterator[Touch]:
        """The well-placed operands; `check_program` reports the others."""
        for access in accesses:
            if list(access_problems(access, self._segments, self._chip)):
                continue
            try:
                places = regions(access, self._chip)
            except TpuError:  # a pattern of very many pieces
                continue
            yield Touch(access.operand, access.local, access.writes, places)
