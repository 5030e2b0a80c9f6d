"""sCMP: compare two operands, select between two others.

docs/hardware/instructions.md#scmp.
"""

from collections.abc import Callable

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import CMP
from xdsl_tpu.backend.machine.arith import below, equal_bits
from xdsl_tpu.backend.machine.elements import Array, Element, element, raw_element
from xdsl_tpu.backend.machine.memory import Placed
from xdsl_tpu.backend.machine.state import (
    Executor,
    Executors,
    State,
    require,
    result_shape,
    same_spans,
    views_of,
)


def _operand(state: State, command: Command, name: str, kind: Element) -> Placed | Array:
    if command[f"{name}_const"]:
        return kind.immediate(command[f"{name}_addr"])
    return state.eu_aligned(command[f"{name}_addr"], result_shape(command), kind)


def _select(condition: Callable[[Array, Array], Array], bitwise: bool) -> Executor:
    """condition(opd0, opd1) ? opd2 : opd3."""

    def execute(state: State, command: Command) -> None:
        _choose(state, command, condition, bitwise, command["res0_addr"])

    return execute


def _choose(
    state: State,
    command: Command,
    condition: Callable[[Array, Array], Array],
    bitwise: bool,
    address: int,
) -> None:
    """condition(opd0, opd1) ? opd2 : opd3 at an address."""
    compared = element(command["opd0_prec"], command["opd0_sign"])
    compared = raw_element(command["opd0_prec"]) if bitwise else compared
    chosen = raw_element(command["opd2_prec"])
    for name in ("opd0_str", "opd1_str"):
        require(command[name] == 0, f"{name} {command[name]}: only 0 is simulated")
    result = state.eu_aligned(address, result_shape(command), chosen)
    operands = [
        _operand(state, command, name, kind)
        for name, kind in zip(
            ("opd0", "opd1", "opd2", "opd3"), (compared, compared, chosen, chosen), strict=True
        )
    ]
    same_spans(result, *(o for o in operands if isinstance(o, Placed)))
    count = len(result.views)
    for target, a, b, c, d in zip(
        result.views, *(views_of(o, count) for o in operands), strict=True
    ):
        a, b = (state.load(compared, v) if v.ndim else state.constant(v) for v in (a, b))
        target[...] = np.where(condition(a, b), c, d)


def _extremum_and_select(condition: Callable[[Array, Array], Array]) -> Executor:
    """res0 = condition(a, b) ? a : b and res1 = condition(a, b) ? c : d."""

    def execute(state: State, command: Command) -> None:
        compared = element(command["opd0_prec"], command["opd0_sign"])
        kinds = [_operand(state, command, name, compared) for name in ("opd0", "opd1")]
        require(any(isinstance(o, Placed) for o in kinds), "comparing two constants")
        a, b = (
            state.load(compared, o.read()) if isinstance(o, Placed) else state.constant(o)
            for o in kinds
        )
        best = np.where(condition(a, b), a, b)
        _choose(state, command, condition, False, command["res1_addr"])
        shape = result_shape(command)
        state.eu_aligned(command["res0_addr"], shape, compared).write(compared.pack(best))

    return execute


EXECUTORS: Executors = {
    ("sCMP", CMP.GT_AND_SELECT_GT): _extremum_and_select(np.greater),
    ("sCMP", CMP.SELECT_GT): _select(np.greater, bitwise=False),
    ("sCMP", CMP.SELECT_EQ): _select(equal_bits, bitwise=True),
    ("sCMP", CMP.LT_AND_SELECT_LT): _extremum_and_select(below),
    ("sCMP", CMP.SELECT_LT): _select(below, bitwise=False),
}
