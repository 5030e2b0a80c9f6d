"""Which recurrent cell a turn is, found by asking what depends on what and how.

No op is matched but the functions themselves: their arguments are affine in x and the states,
whose matrices are read off unit vectors, and what their results are for shows where each result
matters, and by how much. What is found is then held against the turn at random numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from xdsl_tpu.frontend.onnx.cells.frames import NoLayerError, State
from xdsl_tpu.frontend.onnx.cells.samples import ACTIVATIONS
from xdsl_tpu.frontend.onnx.cells.step import Step, Units, units
from xdsl_tpu.frontend.onnx.cells.turns import Turns
from xdsl_tpu.frontend.onnx.graph import Array

NOTHING = 1e-9
"""Smaller differences are none."""

CLOSE = 1e-5
TRIALS = 24


@dataclass(frozen=True)
class Cell:
    """A cell as ONNX has it: op type, functions, and parameters of one direction."""

    op_type: str
    functions: list[str]
    w: Array
    r: Array
    bias: Array
    """Of w, then of r."""
    states: Sequence[State]
    """h, and c of an LSTM."""
    before_reset: bool = False

    def step(self, x: Array, states: Sequence[Array]) -> list[Array]:
        """The states behind those given, of many samples and sequences."""
        wb, rb = np.split(self.bias, 2)
        fed, back = x @ self.w.T + wb, states[0] @ self.r.T + rb
        f, *others = (ACTIVATIONS[name] for name in self.functions)
        if self.op_type == "RNN":
            return [f(fed + back)]
        if self.op_type == "LSTM":
            i, o, forget, new = np.split(fed + back, 4, axis=-1)
            c = f(forget) * states[1] + f(i) * others[0](new)
            return [f(o) * others[1](c), c]
        (h,), size = states, states[0].shape[-1]
        z, r = np.split(f((fed + back)[..., : 2 * size]), 2, axis=-1)
        inner = r * back[..., 2 * size :]
        if not self.before_reset:
            inner = (r * h) @ self.r[2 * size :].T + rb[2 * size :]
        return [(1 - z) * others[0](fed[..., 2 * size :] + inner) + z * h]


Form: TypeAlias = Callable[[Step, Units, Units], Cell]
"""Reads a cell off a turn and its units of both levels; NoLayerError when it is none."""


def cell(turns: Turns, states: Sequence[State]) -> tuple[Cell, Step]:
    """The cell of some states; NoLayerError when it is none."""
    if len(states) > 2:
        raise NoLayerError("there are more than two states")
    orders = [list(states)] if len(states) == 1 else [list(states), list(states)[::-1]]
    reason = NoLayerError("it is no cell that is known")
    for order in orders:
        step = Step(turns, order)
        levels = units(step, turns)
        gru: list[Form] = [_gru, _gru_reset_before]
        forms = [_lstm] if len(order) == 2 else gru if len(levels[1]) else [_rnn]
        for form in forms:
            try:
                found = form(step, *levels)
            except NoLayerError as error:
                reason = error
                continue
            if _agrees(step, found):
                return found, step
    raise reason


def _agrees(step: Step, found: Cell) -> bool:
    """Whether the cell does what the turn does."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(TRIALS, step.batch, step.inputs))
    states = [rng.normal(size=(TRIALS, step.batch, step.hidden)) for _ in step.states]
    for value in (x, *states):  # some where functions are flat
        value[TRIALS // 2 :] *= 4
    expected = step([state.following for state in step.states], x, states)
    got = found.step(x, states)
    return all(
        bool(np.allclose(a, b.reshape(a.shape), rtol=CLOSE, atol=CLOSE))
        for a, b in zip(expected, got, strict=True)
    )


def _one(kinds: Sequence[str]) -> str:
    """The function that all of some units have."""
    if len({*kinds}) != 1:
        raise NoLayerError("its gates have several functions")
    return kinds[0]


def _touched(differences: Array) -> list[Array]:
    """Of each state's element, the units that it depends on."""
    return [np.flatnonzero(np.abs(column) > NOTHING) for column in differences.T]


def _perturbed(base: Array) -> Array:
    """The numbers, and then with 1 more for one of them each."""
    return np.concatenate([base[None], base + np.eye(len(base))])


def _rows(step: Step, values: Array, count: int) -> Array:
    """One vector as that of each sample and sequence."""
    return np.broadcast_to(values, (count, step.batch, len(values)))


def _first(step: Step, values: Array) -> Array:
    """Of the first sequence."""
    return values.reshape(len(values), step.batch, step.hidden)[:, 0]


def _differences(
    step: Step, units: Sequence[Units], states: Sequence[Array], elements: Sequence[Array]
) -> list[Array]:
    """Of each state behind, by how much elements differ when one unit has 1 more."""
    base = np.concatenate(elements)
    tried = _perturbed(base)
    cut: dict[str, Array] = {}
    start = 0
    for one in units:
        cut |= one.cut(tried[:, start : start + len(one)])
        start += len(one)
    x = np.zeros((len(tried), step.batch, step.inputs))
    given = [_rows(step, value, len(tried)) for value in states]
    values = step([state.following for state in step.states], x, given, cut)
    return [(v := _first(step, value))[1:] - v[0] for value in values]


def _lstm(step: Step, first: Units, second: Units) -> Cell:
    """c = f c + i g, h = o tanh(c): c's element depends on three units, h's on one more."""
    size = step.hidden
    if len(first) != 4 * size or len(second) != size:
        raise NoLayerError("its functions are not those of an LSTM")
    w, r, other, bias = first.affine()
    if np.abs(other).max() > NOTHING:
        raise NoLayerError("its gates depend on both states")
    rng = np.random.default_rng(3)
    gates, c = rng.uniform(0.5, 1.5, 4 * size), rng.uniform(2, 3, size)
    of_h, of_c = _differences(step, [first], [np.zeros(size), c], [gates])
    order: list[list[int]] = [[], [], [], []]
    for place, (three, four) in enumerate(zip(_touched(of_c), _touched(of_h), strict=True)):
        last = np.setdiff1d(four, three)
        forget = [unit for unit in three if np.isclose(of_c[unit, place], c[place])]
        if (len(three), len(last), len(forget)) != (3, 1, 1):
            raise NoLayerError("its gates are not those of an LSTM")
        kind = first.kinds[int(forget[0])]
        i, new = (int(unit) for unit in three if unit != forget[0])
        if first.kinds[i] != kind:
            i, new = new, i
        for gate, unit in zip(order, (i, last[0], forget[0], new), strict=True):
            gate.append(int(unit))
    rows = [unit for gate in order for unit in gate]
    kinds = [first.kinds[unit] for unit in rows]
    functions = [_one(kinds[: 3 * size]), _one(kinds[3 * size :]), _one(second.kinds)]
    bias = np.concatenate([bias[rows], np.zeros(4 * size)])
    return Cell("LSTM", functions, w[rows], r[rows], bias, step.states)


def _rnn(step: Step, first: Units, second: Units) -> Cell:
    """h = f(..): an element of the state is a unit."""
    w, r, bias = first.affine()
    rng = np.random.default_rng(3)
    (of_h,) = _differences(
        step, [first], [np.zeros(step.hidden)], [rng.uniform(0.5, 1.5, len(first))]
    )
    rows = _permutation(_touched(of_h), len(first))
    bias = np.concatenate([bias[rows], np.zeros(len(rows))])
    return Cell("RNN", [_one(first.kinds)], w[rows], r[rows], bias, step.states)


def _permutation(touched: Sequence[Array], count: int) -> list[int]:
    """The one unit of each element."""
    rows = [int(one[0]) for one in touched if len(one) == 1]
    if len(rows) != len(touched) or sorted(rows) != list(range(count)):
        raise NoLayerError("an element of the state does not have a unit of its own")
    return rows


@dataclass(frozen=True)
class _Gates:
    """The first units of a GRU: matrices, and which are the gates of each element."""

    w: Array
    r: Array
    bias: Array
    z: list[int]
    others: list[int]
    new: list[int]
    """The second units of each element."""


def _gru(step: Step, first: Units, second: Units) -> Cell:
    """h = (1 - z) n + z h, n = tanh(x W + r (h R + b))."""
    return _gru_of(step, first, second, reset_before=False)


def _gru_reset_before(step: Step, first: Units, second: Units) -> Cell:
    """The same with n = tanh(x W + (r h) R + b)."""
    return _gru_of(step, first, second, reset_before=True)


def _gru_of(step: Step, first: Units, second: Units, reset_before: bool) -> Cell:
    size = step.hidden
    if len(first) == 3 * size:
        first = first.without_rests()
    gates = _gates(step, first, second)
    zeros, ones = np.zeros(len(first)), np.ones(len(first))
    w, _, bias = second.affine(first, zeros)
    _, r, total = second.affine(first, ones)
    w, r, bias, inner = (m[gates.new] for m in (w, r, bias, total - bias))
    reset = _resets(step, (first, second), gates, r if reset_before else None)
    rows = [*gates.z, *reset]
    return Cell(
        "GRU",
        [_one([first.kinds[unit] for unit in rows]), _one(second.kinds)],
        np.concatenate([gates.w[rows], w]),
        np.concatenate([gates.r[rows], r]),
        np.concatenate([gates.bias[rows], bias, np.zeros(2 * size), inner]),
        step.states,
        before_reset=not reset_before,
    )


def _gates(step: Step, first: Units, second: Units) -> _Gates:
    """Which units say how much of a state stays: h differs by h - n, and as n by 1 - z.

    Where it is z, h = z n + (1 - z) h, and the gate of the cell is what is left to 1.
    """
    size = step.hidden
    if len(first) != 2 * size or len(second) != size:
        raise NoLayerError("its functions are not those of a GRU")
    rng = np.random.default_rng(3)
    h, gates, news = (rng.uniform(*b) for b in ((2, 3, size), (0.1, 0.4, 2 * size), (0, 1, size)))
    (of_h,) = _differences(step, [first, second], [h], [gates, news])
    new = _permutation(_touched(of_h[2 * size :]), size)
    z = [int(one[0]) for one in _touched(of_h[: 2 * size]) if len(one) == 1]
    others = sorted({*range(2 * size)} - {*z})
    if len(z) != size or len(others) != size:
        raise NoLayerError("an element of the state does not have a gate of its own")
    w, r, bias = first.affine()
    kept = of_h[2 * size :][new, range(size)]
    if np.allclose(kept, gates[z]) and _one([first.kinds[unit] for unit in z]) == "Sigmoid":
        for matrix in (w, r, bias):  # 1 - sigmoid(x) = sigmoid(-x)
            matrix[z] *= -1
    return _Gates(w, r, bias, z, others, new)


def _resets(
    step: Step, levels: tuple[Units, Units], gates: _Gates, products: Array | None
) -> list[int]:
    """Which of the other units resets which element: of the new state's sum, or of the state.

    In the latter case `products` is that sum's matrix: one gate alone leaves one column of it.
    """
    first, second = levels
    size = step.hidden
    h = np.random.default_rng(3).uniform(0.5, 1.5, size)
    elements = np.zeros((size + 1, len(first)))
    elements[range(1, size + 1), gates.others] = 1
    x = np.zeros((size + 1, step.batch, step.inputs))
    values = second.read(step(second.arguments, x, [_rows(step, h, size + 1)], first.cut(elements)))
    moved = (values[1:] - values[0])[:, gates.new]
    if products is None:
        return [gates.others[unit] for unit in _permutation(_touched(moved), size)]
    columns = h[:, None] * products.T
    alike = moved @ columns.T
    lengths = np.linalg.norm(moved, axis=1)[:, None] * np.linalg.norm(columns, axis=1)
    best = np.argmax(alike / np.maximum(lengths, NOTHING), axis=0)
    return [gates.others[unit] for unit in best]
