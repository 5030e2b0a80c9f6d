"""LSTM, GRU and linear recurrences."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call, Value
from xdsl_tpu.dialects.interpreters.elements import conform
from xdsl_tpu.dialects.interpreters.numerics.recurrent import (
    Recurrence,
    States,
    gru,
    initial_states,
    lstm,
)
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def _layer(call: Call, gates: int, inputs: int) -> Recurrence:
    units, directions = call.integer("hidden_size"), 2 if call.flag("bidirectional") else 1
    shapes = ((directions, gates * units, inputs), (directions, gates * units, units))
    for index, shape in enumerate(shapes, 1):
        if call.tensor(index).shape != shape:
            raise ValueError(f"operand {index} is {call.tensor(index).shape}, expected {shape}")
    return Recurrence(call.tensor(1), call.tensor(2), call.optional(3))


def _steps_first(call: Call) -> Array:
    x = call.tensor()
    return x.swapaxes(0, 1) if call.flag("batch_first") else x


def _initial(call: Call, layer: Recurrence, n: int, has_cell: bool) -> States:
    given = [call.optional(4), call.optional(5) if has_cell else None]
    if call.flag("batch_first"):
        given = [None if state is None else state.swapaxes(0, 1) for state in given]
    return initial_states(given[0], given[1], layer.directions, n, layer.units)


def _ordered(call: Call, y: Array, *states: Array) -> tuple[Value, ...]:
    """`[steps, D, n, H]` and `[D, n, H]`, or with `batch_first` `[n, steps, D, H]`, `[n, D, H]`."""
    if not call.flag("batch_first"):
        return (y, *states)
    return (y.transpose(2, 0, 1, 3), *(state.swapaxes(0, 1) for state in states))


def lstm_rule(call: Call) -> tuple[Value, ...]:
    """Operands x, filter, recurrence, bias, initial h, initial c, cont."""
    x = _steps_first(call)
    layer = _layer(call, 4, x.shape[-1])
    states = _initial(call, layer, x.shape[1], has_cell=True)
    return _ordered(call, *lstm(x, layer, states, call.optional(6)))


def gru_rule(call: Call) -> tuple[Value, ...]:
    """Operands x, filter, recurrence, bias, initial h."""
    x = _steps_first(call)
    layer = _layer(call, 3, x.shape[-1])
    states = _initial(call, layer, x.shape[1], has_cell=False)
    return _ordered(call, *gru(x, layer, states, call.flag("linear_before_reset")))


def scan_rule(call: Call) -> Array:
    """Operands a, b, initial; each product and each sum is rounded to the result's type."""
    a, b, initial, axis = (
        call.tensor(0),
        call.tensor(1),
        call.optional(2),
        call.axis(call.tensor(1).ndim),
    )
    kind = call.op.results[0].type
    factors, states = np.moveaxis(a, axis, 0), np.moveaxis(b.copy(), axis, 0)
    before = None if initial is None else np.moveaxis(initial, axis, 0)[0]
    for factor, state in zip(factors, states, strict=True):
        if before is not None:
            state[...] = conform(conform(factor * before, kind) + state, kind)
        before = state
    return np.moveaxis(states, 0, axis)


RULES: Final[Rules] = {
    scan_rule: (top.LinearScanOp, tpu.LinearScanOp),
    lstm_rule: (top.LSTMOp, tpu.LSTMOp),
    gru_rule: (top.GRUOp, tpu.GRUOp),
}
