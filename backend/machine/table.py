"""Every simulated command: (form, function) -> executor."""

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.machine import (
    arith,
    compare,
    conv,
    dma,
    dma_index,
    linear,
    matmul,
    pool,
    requant,
    saturating,
    scatter,
    sfu,
    transpose,
    vector,
)
from xdsl_tpu.backend.machine.state import Executor, Executors, State


def _nothing(state: State, command: Command) -> None:
    """End markers and no-operations change no memory."""


_MARKERS: Executors = {
    ("SYSID", 30): _nothing,
    ("SYSID", 31): _nothing,
    ("sDMA_sys", 0): _nothing,
    ("sDMA_sys", 1): _nothing,
}

_FAMILIES = (
    arith,
    compare,
    conv,
    dma,
    dma_index,
    linear,
    matmul,
    pool,
    requant,
    saturating,
    scatter,
    sfu,
    transpose,
    vector,
)

EXECUTORS: dict[tuple[str, int], Executor] = dict(_MARKERS)
for _family in _FAMILIES:
    EXECUTORS.update(_family.EXECUTORS)
