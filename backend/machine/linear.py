"""sLIN: an element-wise operation with one or two values per channel.

docs/hardware/instructions.md#slin-and-svc, and the form's operand table: all operands have the
type of the result; b and c are (1, c, 1, 1) compact or constant. Every operation rounds.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from xdsl_tpu.backend.isa import Command
from xdsl_tpu.backend.isa.codes import LIN
from xdsl_tpu.backend.machine.elements import Array, Element, element
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


def _per_channel(state: State, command: Command, name: str, kind: Element) -> Placed | Array:
    if command[f"{name}_const"]:
        return kind.immediate(command[f"{name}_addr"])
    return state.compact(command[f"{name}_addr"], (1, command["res0_c"], 1, 1), kind)


_Operation: TypeAlias = Callable[[np.ufunc, Array, Array], Array]
"""One operation on two operands, rounded to the type of the command."""


def _linear(compute: Callable[[_Operation, Array, Array, Array], Array], operands: int) -> Executor:
    """An executor of `compute(operation, a, b, c)`; with two operands c is b."""

    def execute(state: State, command: Command) -> None:
        kind = element(command["res0_prec"])
        require(kind.is_float, "sLIN is simulated for floats only")
        shape = result_shape(command)
        result = state.eu_aligned(command["res0_addr"], shape, kind)
        a = state.eu_aligned(command["opd0_addr"], shape, kind)
        b = _per_channel(state, command, "opd1", kind)
        c = _per_channel(state, command, "opd2", kind) if operands == 3 else b
        same_spans(result, a, *(o for o in (b, c) if isinstance(o, Placed)))

        def rounded(operation: np.ufunc, first: Array, second: Array) -> Array:
            return kind.load(kind.store(state.computed(operation, first, second)))

        count = len(result.views)
        for target, x, y, z in zip(
            result.views, a.views, views_of(b, count), views_of(c, count), strict=True
        ):
            loaded = [state.load(kind, v) if v.ndim else state.constant(v) for v in (x, y, z)]
            target[...] = kind.store(compute(rounded, *loaded))

    return execute


def _multiply_add(do: _Operation, a: Array, b: Array, c: Array) -> Array:
    """a * b + c, both operations rounded."""
    return do(np.add, do(np.multiply, a, b), c)


def _square_of_sum(do: _Operation, a: Array, b: Array, c: Array) -> Array:
    """(a + b)^2."""
    total = do(np.add, a, b)
    return do(np.multiply, total, total)


def _square_of_difference(do: _Operation, a: Array, b: Array, c: Array) -> Array:
    """(a - b)^2."""
    total = do(np.subtract, a, b)
    return do(np.multiply, total, total)


EXECUTORS: Executors = {
    ("sLIN", LIN.MAC): _linear(_multiply_add, 3),
    ("sLIN", LIN.SQUARE_SUM): _linear(_square_of_sum, 2),
    ("sLIN", LIN.SQUARE_DIFF): _linear(_square_of_difference, 2),
}
