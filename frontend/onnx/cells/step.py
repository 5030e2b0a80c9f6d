"""A turn of a loop as a function of numbers, which can be asked and interfered with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xdsl_tpu.frontend.onnx.cells.frames import NoLayerError, State
from xdsl_tpu.frontend.onnx.cells.samples import ACTIVATIONS, run
from xdsl_tpu.frontend.onnx.cells.turns import Turns
from xdsl_tpu.frontend.onnx.graph import Array, Node

CHUNK = 256
"""So many samples at a time."""


class Step:
    """One turn of some states: they and x are (samples, batch, size)."""

    states: Sequence[State]
    series: list[str]
    """What x consists of."""

    def __init__(self, turns: Turns, states: Sequence[State]) -> None:
        graph = turns.graph
        self.states = states
        self._turns = turns
        self._ends = [state.following for state in states]
        self._nodes = turns.needed(self._ends)
        read = {name for node in self._nodes for name in node.inputs}
        self.series = [name for name in turns.series if name in read]
        shape = graph.shape(states[0].name)
        if not shape or not graph.types[states[0].name].is_float:
            raise NoLayerError("a state is no vector of floats")
        self.hidden, self.batch = shape[-1], int(np.prod(shape[:-1]))
        for state in states:
            if {graph.shape(state.name), graph.shape(state.following)} != {shape}:
                raise NoLayerError("states differ in shape")
        kinds = {graph.types[name].dtype for name in (*self.series, *(s.name for s in states))}
        if len(kinds) > 1:
            raise NoLayerError("what each turn reads is of another type than its states")
        sizes = [int(np.prod(turns.series[name].shape)) for name in self.series]
        if not sizes or any(size % self.batch for size in sizes):
            raise NoLayerError("what each turn reads does not fit the states")
        self.sizes = [size // self.batch for size in sizes]
        self.inputs = sum(self.sizes)

    def __call__(
        self,
        wanted: Sequence[str],
        x: Array,
        states: Sequence[Array],
        cut: Mapping[str, Array] | None = None,
    ) -> list[Array]:
        """Values of each sample, flat; with `cut`, these values instead of what nodes give."""
        graph, cut = self._turns.graph, cut or {}
        nodes = self._turns.needed(wanted, cut)
        known = {*graph.constants, *self.series, *(state.name for state in self.states), *cut, ""}
        for node in nodes:
            if not known.issuperset(node.inputs):
                raise NoLayerError("it depends on more than states and inputs")
            known.update(node.outputs)
        found: list[dict[str, Array]] = []
        for start in range(0, len(x), CHUNK):
            part = slice(start, start + CHUNK)
            given = self._given(x[part], [state[part] for state in states])
            given |= {name: value[part] for name, value in cut.items()}
            found.append(run(graph, nodes, given, wanted))
        return [
            np.concatenate([one[name].reshape(len(one[name]), -1) for one in found])
            for name in wanted
        ]

    def _given(self, x: Array, states: Sequence[Array]) -> dict[str, Array]:
        parts = np.split(x, np.cumsum(self.sizes)[:-1], axis=2)
        given = {
            name: part.reshape(len(x), *self._turns.series[name].shape)
            for name, part in zip(self.series, parts, strict=True)
        }
        shape = self._turns.graph.shape(self.states[0].name)
        for state, value in zip(self.states, states, strict=True):
            given[state.name] = value.reshape(len(x), *shape)
        return given

    def alike(self, state: State) -> dict[str, tuple[int, ...]]:
        """Values that are a state of the next turn, but for their shapes, which are given."""
        graph, rng = self._turns.graph, np.random.default_rng(5)
        sizes = [self.inputs, *[self.hidden] * len(self.states)]
        x, *states = (self.rows(2, size, rng) for size in sizes)
        values = self._given(x, states)
        for node in self._turns.nodes:
            if not {*graph.constants, *values, ""}.issuperset(node.inputs):
                continue
            try:
                values |= run(graph, [node], values, filter(None, node.outputs))
            except NoLayerError:
                continue
        next_state = values[state.following].reshape(2, -1)
        return {
            name: value.shape[1:]
            for name, value in values.items()
            if value.size == next_state.size and np.allclose(value.reshape(2, -1), next_state)
        }

    def rows(self, samples: int, size: int, rng: np.random.Generator) -> Array:
        """Random numbers for each sample and sequence."""
        return rng.uniform(0.5, 1.5, (samples, self.batch, size))

    def levels(self) -> list[list[Node]]:
        """Activations by how many are on the way to each."""
        level: dict[str, int] = {}
        found: list[list[Node]] = [[], []]
        for node in self._nodes:
            depth = max((level.get(name, 0) for name in node.inputs), default=0)
            if node.op_type in ACTIVATIONS:
                if depth > 1:
                    raise NoLayerError("more than two functions follow each other")
                found[depth].append(node)
                depth += 1
            level.update(dict.fromkeys(node.outputs, depth))
        if not found[0]:
            raise NoLayerError("it has no activations")
        return found


@dataclass(frozen=True)
class Units:
    """The elements of some activations that belong to the batch's first sequence.

    Of each one, `unit` says which unit it is, and `rest` whether it is what that is short of 1.
    """

    step: Step
    nodes: Sequence[Node]
    places: list[Array]
    shapes: list[tuple[int, ...]]
    unit: Array
    rest: Array

    @staticmethod
    def of(step: Step, nodes: Sequence[Node], shapes: Sequence[tuple[int, ...]]) -> "Units":
        """Those that change with the first sequence's numbers."""
        rng = np.random.default_rng(1)
        numbers = [step.rows(2, size, rng) for size in (step.inputs, *_sizes(step))]
        for value in numbers:
            value[1, 1:] = value[0, 1:]
        arguments = step([node.inputs[0] for node in nodes], numbers[0], numbers[1:])
        alone = step.batch == 1
        places = [np.flatnonzero(alone | (value[0] != value[1])) for value in arguments]
        count = sum(map(len, places))
        return Units(step, nodes, places, list(shapes), np.arange(count), np.zeros(count, bool))

    def without_rests(self) -> "Units":
        """Sigmoids of -x are the rest to 1 of those of x: no units of their own."""
        matrices = self.affine()
        rows = np.round(np.concatenate([*matrices[:-1], matrices[-1][:, None]], axis=1), 9) + 0.0
        first = {row.tobytes(): place for place, row in reversed([*enumerate(rows)])}
        of = np.array([first.get((0.0 - row).tobytes(), len(rows)) for row in rows])
        own = np.arange(len(rows))
        rest = (of < own) & (np.array(self.kinds) == "Sigmoid")
        number = np.cumsum(~rest) - 1
        return replace(self, unit=number[np.where(rest, of, own)], rest=rest)

    def __len__(self) -> int:
        return int(np.sum(~self.rest))

    @cached_property
    def kinds(self) -> list[str]:
        """The function of each unit."""
        kinds = [node.op_type for node, at in zip(self.nodes, self.places, strict=True) for _ in at]
        return [kind for kind, rest in zip(kinds, self.rest, strict=True) if not rest]

    @property
    def arguments(self) -> list[str]:
        """What the activations are of."""
        return [node.inputs[0] for node in self.nodes]

    def read(self, values: Sequence[Array]) -> Array:
        """The units' numbers out of the arguments' values."""
        parts = [value[:, place] for value, place in zip(values, self.places, strict=True)]
        return np.concatenate(parts, axis=1)[:, ~self.rest]

    def cut(self, units: Array) -> dict[str, Array]:
        """The results of the activations with these units, those of other sequences 0."""
        elements = units
        if self.rest.any():
            elements = np.where(self.rest, 1 - units[:, self.unit], units[:, self.unit])
        given: dict[str, Array] = {}
        start = 0
        for node, place, shape in zip(self.nodes, self.places, self.shapes, strict=True):
            value = np.zeros((len(elements), int(np.prod(shape))))
            value[:, place] = elements[:, start : start + len(place)]
            given[node.output] = value.reshape(len(elements), *shape)
            start += len(place)
        return given

    def affine(self, cut: "Units | None" = None, elements: Array | None = None) -> list[Array]:
        """The arguments as matrices times x and each state, and what is added at last.

        With `cut`, where these have the given results.
        """
        sizes = [self.step.inputs, *_sizes(self.step)]
        total = sum(sizes)
        basis = np.concatenate([np.eye(total), np.zeros((1, total))])
        spread = np.broadcast_to(basis[:, None], (total + 1, self.step.batch, total))
        x, *states = np.split(spread, np.cumsum(sizes)[:-1], axis=2)
        given = {}
        if cut is not None and elements is not None:
            given = cut.cut(np.broadcast_to(elements, (total + 1, len(cut))))
        values = self.read(self.step(self.arguments, x, states, given))
        rows = (values[:-1] - values[-1]).T
        return [*np.split(rows, np.cumsum(sizes)[:-1], axis=1), values[-1]]


def _sizes(step: Step) -> list[int]:
    return [step.hidden] * len(step.states)


def units(step: Step, turns: Turns) -> list[Units]:
    """The units of both levels."""
    shape = turns.graph.shape
    return [
        Units.of(step, nodes, [shape(node.output) for node in nodes]) for nodes in step.levels()
    ]
