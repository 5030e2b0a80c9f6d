"""Carrying out index maps between places in DDR, in the cheapest of the ways there are."""

from xdsl_tpu.backend.movement.job import Source
from xdsl_tpu.backend.movement.plan import carry_out, least_cycles, movement_cycles
from xdsl_tpu.backend.movement.share import shares_of

__all__ = ["Source", "carry_out", "least_cycles", "movement_cycles", "shares_of"]
