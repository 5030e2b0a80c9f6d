"""sTRANS_BC: transposition between lanes and width, copies and broadcasts between lanes.

docs/hardware/instructions.md#strans_bc. Data moves as bits.
"""

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import TransBc
from xdsl_tpu.backend.machine.elements import Array, raw_element
from xdsl_tpu.backend.machine.state import Executors, State, require, result_shape


def cw_transpose(state: State, command: Command) -> None:
    """(n, w, h, c) EU-aligned to (n, c, h, w) with aligned lines."""
    kind = raw_element(command["res0_prec"])
    n, c, h, w = result_shape(command)
    source = state.eu_aligned(command["opd0_addr"], (n, w, h, c), kind).read()
    result = state.line_aligned(command["res0_addr"], (n, c, h, w), kind)
    result.write(source.transpose(0, 3, 2, 1))


def wc_transpose(state: State, command: Command) -> None:
    """(n, w, h, c) to (n, c, h, w), both EU-aligned."""
    kind = raw_element(command["res0_prec"])
    n, c, h, w = result_shape(command)
    source = state.eu_aligned(command["opd0_addr"], (n, w, h, c), kind).read()
    result = state.eu_aligned(command["res0_addr"], (n, c, h, w), kind)
    result.write(source.transpose(0, 3, 2, 1))


def lane_copy(state: State, command: Command) -> None:
    """An EU-aligned tensor to any lane."""
    kind, shape = raw_element(command["res0_prec"]), result_shape(command)
    source = state.eu_aligned(command["opd0_addr"], shape, kind)
    state.eu_aligned(command["res0_addr"], shape, kind).write(source.read())


def lane_broadcast(state: State, command: Command) -> None:
    """(n, 1, h, w) of one lane to c lanes."""
    kind = raw_element(command["res0_prec"])
    n, c, h, w = result_shape(command)
    source = state.eu_aligned(command["opd0_addr"], (n, 1, h, w), kind).read()
    result = state.eu_aligned(command["res0_addr"], (n, c, h, w), kind)
    require(len(result.spans) == 1 and result.spans[0].groups == 1, "too many lanes")
    result.write(np.broadcast_to(source, (n, c, h, w)))


def _static(state: State, command: Command, count: int) -> Array:
    """`count` elements of static memory."""
    kind = raw_element(command["res0_prec"])
    address = command["opd0_addr"]
    offset = address - state.chip.static_tiu_base
    require(
        0 <= offset < state.chip.static_bytes, f"the source {address:#x} is not in static memory"
    )
    shape = (1, 1, 1, count)
    return state.memory.static.place(offset, shape, (0, 0, 0, 1), kind.storage).read()


def static_broadcast(state: State, command: Command) -> None:
    """w elements of static memory to a w-vector in each of c lanes."""
    kind = raw_element(command["res0_prec"])
    _, c, _, w = result_shape(command)
    source = _static(state, command, w)
    result = state.compact(command["res0_addr"], (1, c, 1, w), kind)
    result.write(np.broadcast_to(source, (1, c, 1, w)))


def static_distribute(state: State, command: Command) -> None:
    """Element i of static memory to lane i."""
    kind = raw_element(command["res0_prec"])
    _, c, _, _ = result_shape(command)
    source = _static(state, command, c)
    result = state.compact(command["res0_addr"], (1, c, 1, 1), kind)
    result.write(source.reshape(1, c, 1, 1))


EXECUTORS: Executors = {
    ("sTRANS_BC", TransBc.CW_TRANSPOSE): cw_transpose,
    ("sTRANS_BC", TransBc.WC_TRANSPOSE): wc_transpose,
    ("sTRANS_BC", TransBc.LANE_COPY): lane_copy,
    ("sTRANS_BC", TransBc.LANE_BROADCAST): lane_broadcast,
    ("sTRANS_BC", TransBc.STATIC_BROADCAST): static_broadcast,
    ("sTRANS_BC", TransBc.STATIC_DISTRIBUTE): static_distribute,
}
