"""Recurrent networks, written out step by step.

X is (time, batch, input), or (batch, time, input) with layout 1. Of each direction, W is
(gates * hidden, input), R (gates * hidden, hidden), B the biases of both; the products of all
inputs with W are one matrix product, the rest happens once per step.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
USUAL = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
FUNCTIONS = frozenset({"HardSigmoid", "Relu", "Sigmoid", "Softplus", "Softsign", "Tanh"})
LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES = 4, 5, 6, 7
WHOLE = frozenset({"GRU", "LSTM"})
UNUSUAL = ("clip", "input_forget", "activation_alpha", "activation_beta")


@dataclass
class _Cell:
    """One direction of a network: its parameters and what changes from step to step."""

    body: Body
    hidden: int
    gates: int
    functions: Sequence[str]
    recurrent: str
    """R transposed, (hidden, gates * hidden)."""
    input_bias: str
    recurrent_bias: str
    """The biases of W and of R, (gates * hidden)."""
    peepholes: list[str]
    h: str
    c: str

    def bounded(self, x: str) -> str:
        """x within the attribute `clip`, if there is one."""
        limit = self.body.node.attribute("clip", 0.0)
        if not limit:
            return x
        return self.body.add("Clip", x, self.body.constant(-limit), self.body.constant(limit))

    def function(self, index: int, x: str) -> str:
        """An activation of the bounded x."""
        return self.body.add(self.functions[index], self.bounded(x))

    def part(self, x: str, index: int, axis: int = 1, count: int = 1) -> str:
        """Columns of the gates from `index` on."""
        return self.body.slice(x, axis, index * self.hidden, (index + count) * self.hidden)


def _rnn(cell: _Cell, x: str) -> None:
    """h = f(x W + h R + b)."""
    add, body = cell.body.add, cell.body
    total = add("Add", x, add("Add", add("MatMul", cell.h, cell.recurrent), cell.recurrent_bias))
    cell.h = body.add(cell.functions[0], cell.bounded(total))


def _gru(cell: _Cell, x: str) -> None:
    """z, r = f(..); h~ = g(x W + (r h) R + b), or r times (h R + b); h = (1 - z) h~ + z h."""
    add, body = cell.body.add, cell.body
    if body.node.attribute("linear_before_reset", 0):
        product = add("Add", add("MatMul", cell.h, cell.recurrent), cell.recurrent_bias)
        both = add("Add", cell.part(x, 0, count=2), cell.part(product, 0, count=2))
        r = cell.function(0, cell.part(both, 1))
        candidate = add("Mul", r, cell.part(product, 2))
    else:
        weights = cell.part(cell.recurrent, 0, count=2)
        bias = cell.part(cell.recurrent_bias, 0, axis=0, count=2)
        product = add("Add", add("MatMul", cell.h, weights), bias)
        both = add("Add", cell.part(x, 0, count=2), product)
        r = cell.function(0, cell.part(both, 1))
        inner = add("MatMul", add("Mul", r, cell.h), cell.part(cell.recurrent, 2))
        candidate = add("Add", inner, cell.part(cell.recurrent_bias, 2, axis=0))
    new = cell.function(1, add("Add", cell.part(x, 2), candidate))
    gate = cell.part(both, 0)
    z = cell.function(0, gate)
    if cell.functions[0] == "Sigmoid":  # 1 - z without its cancellation
        rest = cell.function(0, add("Neg", gate))
    else:
        rest = add("Sub", body.constant(1.0), z)
    cell.h = add("Add", add("Mul", rest, new), add("Mul", z, cell.h))


def _lstm(cell: _Cell, x: str) -> None:
    """i, o, f = f(.. + P c), o with the new c; c = f c + i g(..); h = o h(c)."""
    add, body = cell.body.add, cell.body
    product = add("Add", add("MatMul", cell.h, cell.recurrent), cell.recurrent_bias)
    total = add("Add", x, product)
    i, o, f, candidate = (cell.part(total, gate) for gate in range(4))
    if cell.peepholes:
        i = add("Add", i, add("Mul", cell.peepholes[0], cell.c))
        f = add("Add", f, add("Mul", cell.peepholes[2], cell.c))
    kept = add("Mul", cell.function(0, f), cell.c)
    cell.c = add("Add", kept, add("Mul", cell.function(0, i), cell.function(1, candidate)))
    if cell.peepholes:
        o = add("Add", o, add("Mul", cell.peepholes[1], cell.c))
    cell.h = add("Mul", cell.function(0, o), body.add(cell.functions[2], cell.c))


STEPS: dict[str, Callable[[_Cell, str], None]] = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}


def recurrent(body: Body) -> bool:
    """RNN, GRU, LSTM -> for every step and direction its matrix product and functions.

    False for layers that stay whole. One that only goes backwards becomes such a layer between
    two reversals of time.
    """
    return _forward(body) if _stays_whole(body) else written_out(body)


def written_out(body: Body) -> bool:
    """Such a layer step by step, whatever `top` has."""
    node = body.node
    batch_first = bool(node.attribute("layout", 0))
    steps, batch, size = body.shape(0)
    x = node.inputs[0]
    if batch_first:
        batch, steps = steps, batch
        x = body.transpose(x, [1, 0, 2])
    ways = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
    directions = ways[node.attribute("direction", "forward")]
    lengths = body.numbers(LENGTHS, "sequence lengths") or [steps] * batch
    sequences: list[list[str]] = []
    cells: list[_Cell] = []
    for way, backwards in enumerate(directions):
        cell = _cell(body, way, len(directions), batch)
        sequences.append(_run(cell, way, x, (steps, batch, size), lengths, backwards))
        cells.append(cell)
    _outputs(body, sequences, cells, (steps, batch), batch_first)
    return True


def _stays_whole(body: Body) -> bool:
    """Whether `top` has an op for the layer: constant weights, the usual functions, no peepholes
    and clipping, and sequences that are all of one length."""
    node, kind = body.node, body.node.op_type
    steps = body.shape(0)[1 if node.attribute("layout", 0) else 0]
    usual = USUAL[kind]
    functions = node.attribute("activations", usual)
    lengths = body.value(LENGTHS)
    return (
        kind in WHOLE
        and all(body.value(index) is not None for index in (1, 2))
        and (not node.input(3) or body.value(3) is not None)
        and (not node.input(LENGTHS) or (lengths is not None and bool((lengths == steps).all())))
        and not node.input(PEEPHOLES)
        and functions in (usual, usual * 2)
        and not any(node.attributes.get(name) for name in UNUSUAL)
    )


def _forward(body: Body) -> bool:
    """A layer that goes backwards as one that goes forwards; False for all others."""
    node = body.node
    if node.attribute("direction", "forward") != "reverse":
        return False
    axis = 1 if node.attribute("layout", 0) else 0
    first, *states = [*node.outputs, "", ""][: 3 if node.op_type == "LSTM" else 2]
    kept = {name: value for name, value in node.attributes.items() if name != "direction"}
    inputs = [_reversed(body, node.inputs[0], axis), *node.inputs[1:]]
    y = body.several(node.op_type, inputs, ["", *states], bool(first), **kept)
    if first:
        _reversed(body, y, axis, first)
    return True


def _reversed(body: Body, x: str, axis: int, output: str = "") -> str:
    return body.slice(x, axis, -1, -sys.maxsize, -1, output)


def _cell(body: Body, way: int, ways: int, batch: int) -> _Cell:
    node, kind = body.node, body.node.op_type
    hidden, gates = body.shape(2)[-1], GATES[kind]
    if node.attribute("input_forget", 0):
        raise UnsupportedNode("coupled gates are not supported")
    functions = node.attribute("activations", USUAL[kind] * ways)[way * len(USUAL[kind]) :]
    functions = functions[: len(USUAL[kind])]
    unknown = [name for name in functions if name not in FUNCTIONS]
    if unknown or node.attribute("activation_alpha", []) or node.attribute("activation_beta", []):
        raise UnsupportedNode(
            f"activations {functions} are not supported; known: {', '.join(sorted(FUNCTIONS))}, "
            "without parameters of their own"
        )
    rows = gates * hidden
    recurrent = body.transpose(_of_way(body, 2, way, (rows, hidden)), [1, 0])
    both = body.constant(np.zeros(2 * rows, np.float32))
    if node.input(3):
        both = _of_way(body, 3, way, (2 * rows,))
    biases = (body.slice(both, 0, 0, rows), body.slice(both, 0, rows, 2 * rows))
    peepholes: list[str] = []
    if node.input(PEEPHOLES):
        all_three = _of_way(body, PEEPHOLES, way, (3 * hidden,))
        peepholes = [body.slice(all_three, 0, i * hidden, (i + 1) * hidden) for i in range(3)]
    h, c = (_initial(body, index, way, (batch, hidden)) for index in (INITIAL_H, INITIAL_C))
    return _Cell(body, hidden, gates, functions, recurrent, *biases, peepholes, h, c)


def _of_way(body: Body, index: int, way: int, shape: Sequence[int], axis: int = 0) -> str:
    """The part of an input that belongs to one direction."""
    return body.reshape(body.slice(body.node.inputs[index], axis, way, way + 1), shape)


def _initial(body: Body, index: int, way: int, shape: tuple[int, int]) -> str:
    if not body.node.input(index):
        return body.constant(np.zeros(shape, np.float32))
    return _of_way(body, index, way, shape, axis=body.node.attribute("layout", 0))


def _run(
    cell: _Cell,
    way: int,
    x: str,
    sizes: tuple[int, int, int],
    lengths: Sequence[int],
    backwards: bool,
) -> list[str]:
    """The hidden states of all steps, in the order of time; `cell` ends in the last state.

    Sequences shorter than the others keep their state once they have ended, and give zeros.
    """
    body, (steps, batch, size) = cell.body, sizes
    rows = cell.gates * cell.hidden
    weights = body.transpose(_of_way(body, 1, way, (rows, size)), [1, 0])
    flat = body.add("MatMul", body.reshape(x, (steps * batch, size)), weights)
    products = body.add("Add", flat, cell.input_bias)
    states: dict[int, str] = {}
    for step in reversed(range(steps)) if backwards else range(steps):
        before = (cell.h, cell.c)
        mine = body.slice(products, 0, step * batch, (step + 1) * batch)
        STEPS[body.node.op_type](cell, mine)
        alive = np.array([[float(step < length)] for length in lengths], np.float32)
        if alive.all():
            states[step] = cell.h
            continue
        mask = body.constant(alive)
        states[step] = body.add("Mul", cell.h, mask)
        ended = body.constant(1 - alive)
        cell.h = body.add("Add", states[step], body.add("Mul", before[0], ended))
        if body.node.op_type == "LSTM":
            kept = body.add("Mul", before[1], ended)
            cell.c = body.add("Add", body.add("Mul", cell.c, mask), kept)
    return [states[step] for step in range(steps)]


def _outputs(
    body: Body,
    sequences: Sequence[Sequence[str]],
    cells: Sequence[_Cell],
    sizes: tuple[int, int],
    batch_first: bool,
) -> None:
    """Y (time, directions, batch, hidden), Y_h and Y_c (directions, batch, hidden)."""
    (steps, batch), hidden, ways = sizes, cells[0].hidden, len(cells)
    node = body.node
    names = [*node.outputs, "", ""][:3]
    if names[0]:
        parts = [states[step] for step in range(steps) for states in sequences]
        whole = _stacked(body, parts)
        shape = (steps, ways, batch, hidden)
        if batch_first:
            body.transpose(body.reshape(whole, shape), [2, 0, 1, 3], names[0])
        else:
            body.reshape(whole, shape, names[0])
    for name, parts in zip(names[1:], ([c.h for c in cells], [c.c for c in cells]), strict=True):
        if name and batch_first:
            whole = body.reshape(_stacked(body, parts), (ways, batch, hidden))
            body.transpose(whole, [1, 0, 2], name)
        elif name:
            body.reshape(_stacked(body, parts), (ways, batch, hidden), name)


def _stacked(body: Body, parts: Sequence[str]) -> str:
    return body.add("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]


COMPOSED: dict[str, Composition] = dict.fromkeys(GATES, recurrent)

WRITTEN_OUT: dict[str, Composition] = dict.fromkeys(GATES, written_out)
