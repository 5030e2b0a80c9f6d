"""How long a program takes, from its commands alone."""

from xdsl_tpu.backend.timing.gdma_cost import Direction, transfer
from xdsl_tpu.backend.timing.timeline import Event, Timeline, simulate
from xdsl_tpu.backend.timing.tiu_cost import tiu_cycles

__all__ = ["Direction", "Event", "Timeline", "simulate", "tiu_cycles", "transfer"]
