"""LSTM and GRU layers with ONNX's gate orders and bias layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.numerics.special import sigmoid

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Recurrence:
    """Weights of a layer of H units and D directions.

    `weight` `[D, G*H, inputs]`, `recurrence` `[D, G*H, H]` and `bias` `[D, 2*G*H]` (input part,
    then hidden part), with G gates in the order i o f c (LSTM) or z r h (GRU).
    """

    weight: Array
    recurrence: Array
    bias: Array | None

    @property
    def units(self) -> int:
        return self.recurrence.shape[-1]

    @property
    def directions(self) -> int:
        return self.weight.shape[0]

    def biases(self, direction: int) -> tuple[Array, Array]:
        """The input bias and the hidden bias of one direction."""
        width = self.weight.shape[1]
        if self.bias is None:
            zeros = np.zeros(width, self.weight.dtype)
            return zeros, zeros
        both = self.bias.reshape(self.directions, 2 * width)[direction]
        return both[:width], both[width:]


@dataclass
class States:
    """What the hidden (and cell) state is before the first step, per direction `[D, n, H]`."""

    hidden: Array
    cell: Array


def initial_states(h: Array | None, c: Array | None, directions: int, n: int, units: int) -> States:
    """Copies of the given states, or zeros; the layer writes its last states over them."""
    shape = (directions, n, units)
    given = [np.zeros(shape, np.float32) if s is None else s.reshape(shape).copy() for s in (h, c)]
    return States(*given)


def lstm(x: Array, layer: Recurrence, states: States, cont: Array | None) -> tuple[Array, ...]:
    """`x` `[steps, n, inputs]` -> (`[steps, D, n, H]`, last hidden, last cell `[D, n, H]`).

    `cont` `[steps, n]` of zeros and ones forgets the state where it is zero (Caffe's LSTM).
    """
    steps, n = x.shape[:2]
    out = np.empty((steps, layer.directions, n, layer.units), np.float32)
    for d in range(layer.directions):
        bias_x, bias_h = layer.biases(d)
        gates_x = x @ layer.weight[d].T + bias_x
        hidden, cell = states.hidden[d], states.cell[d]
        for step in range(steps) if d == 0 else reversed(range(steps)):
            keep = 1.0 if cont is None else cont.reshape(steps, n, 1)[step]
            gates_h = hidden @ layer.recurrence[d].T + bias_h
            i, o, f, c = np.split(gates_x[step] + keep * gates_h, 4, axis=-1)
            cell = keep * sigmoid(f) * cell + sigmoid(i) * np.tanh(c)
            hidden = sigmoid(o) * np.tanh(cell)
            out[step, d] = hidden
        states.hidden[d], states.cell[d] = hidden, cell
    return out, states.hidden, states.cell


def gru(
    x: Array, layer: Recurrence, states: States, linear_before_reset: bool
) -> tuple[Array, Array]:
    """`x` `[steps, n, inputs]` -> (`[steps, D, n, H]`, last hidden `[D, n, H]`)."""
    steps, n = x.shape[:2]
    units = layer.units
    out = np.empty((steps, layer.directions, n, units), np.float32)
    for d in range(layer.directions):
        bias_x, bias_h = layer.biases(d)
        gates_x = x @ layer.weight[d].T + bias_x
        weights = layer.recurrence[d]
        hidden = states.hidden[d]
        for step in range(steps) if d == 0 else reversed(range(steps)):
            x_z, x_r, x_h = np.split(gates_x[step], 3, axis=-1)
            h_z, h_r = np.split(hidden @ weights[: 2 * units].T + bias_h[: 2 * units], 2, axis=-1)
            z, r = sigmoid(x_z + h_z), sigmoid(x_r + h_r)
            before = hidden if linear_before_reset else r * hidden
            candidate = before @ weights[2 * units :].T + bias_h[2 * units :]
            candidate = np.tanh(x_h + (r * candidate if linear_before_reset else candidate))
            hidden = (1 - z) * candidate + z * hidden
            out[step, d] = hidden
        states.hidden[d] = hidden
    return out, states.hidden
