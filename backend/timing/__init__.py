"""How long a program takes, from its commands alone."""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing.cores import Ddr, simulate_cores
from xdsl_tpu.backend.timing.gdma_cost import Direction, transfer
from xdsl_tpu.backend.timing.timeline import Event, Sender, Timeline, simulate
from xdsl_tpu.backend.timing.tiu_cost import tiu_cycles


def simulate_program(program: Program, chip: Chip, ddr: Ddr = "each") -> list[Timeline]:
    """The timeline of each core of a program. Raises TpuError when queues wait for each other."""
    if not program.others:
        return [simulate(program.tiu, program.gdma, chip)]
    return simulate_cores([(core.tiu, core.gdma) for core in program.cores], chip, ddr)


__all__ = [
    "Ddr",
    "Direction",
    "Event",
    "Sender",
    "Timeline",
    "simulate",
    "simulate_cores",
    "simulate_program",
    "tiu_cycles",
    "transfer",
]
