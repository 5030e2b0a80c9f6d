"""Every simulated command of every instruction set: (form, function) -> executor."""

from collections.abc import Collection
from itertools import chain

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, load_instruction_set
from xdsl_tpu.backend.isa.codes import SYS, SYSID, DmaMessages, DmaSys, Only
from xdsl_tpu.backend.machine import (
    arith,
    compare,
    conv,
    dma,
    dma_index,
    epilogue,
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
from xdsl_tpu.backend.machine.memory import Memory
from xdsl_tpu.backend.machine.state import Executors, State
from xdsl_tpu.dialects.errors import TpuError


def _nothing(state: State, command: Command) -> None:
    """End markers and no-operations change no memory."""


_MARKERS: Executors = {
    ("SYSID", SYSID.NOP): _nothing,
    ("SYSID", SYSID.END): _nothing,
    ("sDMA_sys", DmaSys.END_OF_STREAM): _nothing,
    ("sDMA_sys", DmaSys.NOP): _nothing,
}

_MESSAGES: Executors = {
    ("SYSID", SYS.SEND): _nothing,
    ("SYSID", SYS.WAIT): _nothing,
    ("sDMA_sys", DmaMessages.SEND): _nothing,
    ("sDMA_sys", DmaMessages.WAIT): _nothing,
    ("SYS_TR_ACC", Only.ONLY): _nothing,
}
"""Messages change no memory: who runs the queues says when a WAIT goes on. What registers hold is
in the fields of the commands that read them."""

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

_BM1684X: Executors = dict(
    chain(_MARKERS.items(), *(family.EXECUTORS.items() for family in _FAMILIES))
)


def _on(
    base: Executors, own: Executors, unknown: Collection[tuple[str, int]], instruction_set: str
) -> Executors:
    """The executors of a set that does some commands otherwise, and has not all."""
    forms = load_instruction_set(instruction_set).forms
    return {
        (form, function): executor
        for (form, function), executor in {**base, **own}.items()
        if form in forms and function in forms[form].functions and (form, function) not in unknown
    }


_MACHINES: dict[str, Executors] = {
    "bm1684x": _BM1684X,
    "bm1688": _on(_BM1684X, {**epilogue.EXECUTORS, **_MESSAGES}, epilogue.UNKNOWN, "bm1688"),
}
"""By the name of the instruction set."""


def executors_of(instruction_set: str) -> Executors:
    """What the machine does for each command. Raises TpuError for a set that has no machine."""
    if instruction_set not in _MACHINES:
        raise TpuError(f"programs of the instruction set '{instruction_set}' are not simulated")
    return _MACHINES[instruction_set]


def state_of(chip: Chip, memory: Memory, exact: bool = False) -> State:
    """What executors work on, over this memory."""
    return State(chip, memory, exact, executors_of(chip.instruction_set))
