"""How long a program takes, by the model of the machine's cycles."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.estimate import HardwareRange, program_range
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.usage import Floor, Usage, floor, usage
from xdsl_tpu.backend.timing import Timeline, simulate_program


@dataclass(frozen=True)
class Timing:
    """When every command of a program runs, and what follows from that.

    `cycles` are those until the last command ends, at the chip's clock `milliseconds`. There is
    a timeline for each core.
    """

    program: Program = field(repr=False)
    chip: Chip = field(repr=False)
    timelines: Sequence[Timeline] = field(repr=False)

    @classmethod
    def of(cls, program: Program, chip: Chip) -> "Timing":
        """Raises TpuError when the two queues wait for each other."""
        return cls(program, chip, simulate_program(program, chip))

    @property
    def timeline(self) -> Timeline:
        """That of the first core."""
        return self.timelines[0]

    @property
    def cycles(self) -> int:
        """Until the last command ends."""
        return self.timeline.total

    @property
    def milliseconds(self) -> float:
        """The cycles at the chip's clock."""
        return self.chip.milliseconds(self.cycles)

    @property
    def busy(self) -> dict[str, float]:
        """The part of the time in which each engine works, 0 to 1: `compute` and `dma`. Of
        several cores it is their mean."""
        total = max(1, self.cycles) * len(self.timelines)
        names = {"compute": Engine.TIU, "dma": Engine.GDMA}
        return {
            name: sum(one.busy[engine] for one in self.timelines) / total
            for name, engine in names.items()
        }

    @cached_property
    def usage(self) -> Usage:
        """Cycles in which both engines work, only one does, or none."""
        return usage(self.timelines)

    @cached_property
    def floor(self) -> Floor:
        """Cycles that no schedule beats."""
        return floor(self.program, self.timelines, self.chip)

    @property
    def on_silicon(self) -> HardwareRange | None:
        """Cycles that published measurements of programs of its kind lead to expect; None where
        there are too few, and for a chip that nobody has measured."""
        return program_range(self.program, self.chip, self.cycles)

    def __repr__(self) -> str:
        busy = ", ".join(f"{name} {share:.1%} busy" for name, share in self.busy.items())
        return f"<{self.cycles:,} cycles ({self.milliseconds:.3f} ms), {busy}>"
