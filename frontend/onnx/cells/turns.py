"""What a loop does each turn: what is known before it runs, and what it takes from outside."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xdsl_tpu.frontend.onnx.cells.frames import (
    Collected,
    Frame,
    Inside,
    NoLayerError,
    Series,
    State,
    evaluated,
    frame,
    proto,
)
from xdsl_tpu.frontend.onnx.cells.samples import MOVEMENT
from xdsl_tpu.frontend.onnx.evaluate import RANDOM
from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node
from xdsl_tpu.frontend.onnx.unroll import MOST_TURNS

COUNTER = 16
"""States of at most this many elements may count turns."""


@dataclass
class Turns:
    """The turns of a loop, all alike.

    `nodes` compute what depends on `states` and on what each turn takes from `series`; what is
    known without them has been computed.
    """

    count: int
    graph: Graph
    nodes: list[Node]
    states: list[State]
    series: dict[str, Series]
    collected: list[Collected]
    kept: list[State]
    known: dict[str, Array]
    """Results of the loop that are known."""
    lists: Mapping[str, Sequence[str]]

    def needed(self, names: Iterable[str], given: Collection[str] = ()) -> list[Node]:
        """The nodes behind values, in order, where these are given."""
        there = {"", *self.series, *given}
        wanted = set(names) - there
        found: list[Node] = []
        for node in reversed(self.nodes):
            if wanted.intersection(node.outputs):
                found.append(node)
                wanted.update(set(node.inputs) - there)
        return found[::-1]

    def depends(self, names: Iterable[str]) -> set[str]:
        """The states behind values."""
        names = set(names) - self.series.keys()
        read = names.union(*(node.inputs for node in self.needed(names)))
        return {state.name for state in self.states if state.name in read}


def turns(host: Inside, node: Node) -> Turns:
    """The turns of a Loop or Scan; NoLayerError when how many there are depends on data."""
    outer = frame(host, node)
    counting, control = _control(host, outer)
    count, values = _simulate(outer, counting, control, host)
    varying = {name: each for name, each in values.items() if count == 1 or not _constant(each)}
    if count:
        for name, each in values.items():
            if name not in varying:
                outer.graph.add_constant(name, each[0])
    series = dict(outer.scanned)
    nodes = [inner for inner in outer.graph.nodes if inner not in control]
    views = _Views(outer, varying, count)
    for inner in nodes:
        if picked := views.pick(inner):
            series[inner.output] = picked
    nodes = [inner for inner in nodes if inner.output not in series]
    read = {name for inner in nodes for name in inner.inputs}
    read |= {one.value for one in outer.collected}
    for name in read & varying.keys():
        stacked = np.stack(varying[name])
        series[name] = Series("", 0, range(count), stacked.shape[1:], stacked)
    names = {state.name for state in counting}
    states = [state for state in outer.states if state.name not in names]
    known = {state.output: _after(values, outer.graph, state, host) for state in counting}
    return Turns(
        count, outer.graph, nodes, states, series, outer.collected, outer.kept, known, outer.lists
    )


def _control(host: Inside, outer: Frame) -> tuple[list[State], set[Node]]:
    """The states and nodes whose values do not depend on data."""
    counting = [
        state
        for state in outer.states
        if (value := host.constant(state.initial)) is not None and value.size <= COUNTER
    ]
    graph = outer.graph
    while True:
        known = {outer.number, "", *graph.constants, *(state.name for state in counting)}
        control: set[Node] = set()
        for node in graph.nodes:
            if known.issuperset(node.inputs) and node.op_type not in RANDOM:
                control.add(node)
                known.update(node.outputs)
        kept = [state for state in counting if state.following in known]
        if len(kept) == len(counting):
            break
        counting = kept
    if outer.goes_on and outer.goes_on not in known:
        raise NoLayerError("whether it goes on depends on data")
    return counting, control


def _simulate(
    outer: Frame, counting: Sequence[State], control: set[Node], host: Inside
) -> tuple[int, dict[str, list[Array]]]:
    """How many turns there are, and what is known of each."""
    graph = outer.graph
    nodes = [(node, proto(node)) for node in graph.nodes if node in control]
    current: dict[str, Array] = {}
    for state in counting:
        value = host.constant(state.initial)
        if value is not None:
            current[state.name] = value
    seen: dict[str, list[Array]] = {}
    turn = 0
    while outer.count is None or turn < outer.count:
        if turn >= MOST_TURNS:
            raise NoLayerError("it has too many turns")
        values = {**current, outer.number: np.array(turn, np.int64)}
        for node, message in nodes:
            inputs = [_value(values, graph, name) if name else None for name in node.inputs]
            values.update(zip(node.outputs, evaluated(node, message, inputs), strict=False))
        for name, value in values.items():
            seen.setdefault(name, []).append(value)
        current = {state.name: _value(values, graph, state.following) for state in counting}
        turn += 1
        if outer.goes_on and not _value(values, graph, outer.goes_on).item():
            break
    return turn, seen


def _value(values: Mapping[str, Array], graph: Graph, name: str) -> Array:
    return values[name] if name in values else graph.constants[name]


def _constant(values: Sequence[Array]) -> bool:
    return all(np.array_equal(values[0], value) for value in values[1:])


def _after(
    values: Mapping[str, Sequence[Array]], graph: Graph, state: State, host: Inside
) -> Array:
    """A counting state when the turns are over."""
    if state.following in graph.constants:
        return graph.constants[state.following]
    return values[state.following][-1]


class _Views:
    """What is taken from tensors from outside, as the places of its elements there."""

    def __init__(self, outer: Frame, varying: Mapping[str, Sequence[Array]], count: int) -> None:
        self._outer = outer
        self._varying = varying
        self._count = count
        self._known: dict[str, tuple[str, Array]] = {}
        for name in (*outer.outside, *outer.lists):
            shape = outer.graph.shape(name)
            self._known[name] = (name, np.arange(int(np.prod(shape))).reshape(shape))

    def pick(self, node: Node) -> Series | None:
        """What a node takes, if each turn takes one place along an axis of one tensor."""
        constants = self._outer.graph.constants
        sources = {*node.inputs} - constants.keys() - self._varying.keys() - {""}
        (name, *others) = [*sources, ""]
        if name not in self._known or others != [""] or node.op_type not in MOVEMENT:
            return None
        source, index = self._known[name]
        message = proto(node)
        if not self._varying.keys() & {*node.inputs}:
            inputs = [index if one == name else constants.get(one) for one in node.inputs]
            taken = evaluated(node, message, inputs)
            self._known.update(
                {one: (source, v) for one, v in zip(node.outputs, taken, strict=False)}
            )
            return None
        taken: list[Array] = []
        for turn in range(self._count):
            inputs = [
                index
                if one == name
                else self._varying[one][turn]
                if one in self._varying
                else constants.get(one)
                for one in node.inputs
            ]
            taken.append(evaluated(node, message, inputs)[0])
        return self._along_an_axis(source, taken) if len(node.outputs) == 1 else None

    def _along_an_axis(self, source: str, taken: Sequence[Array]) -> Series | None:
        shape = self._outer.graph.shape(source)
        index = np.arange(int(np.prod(shape))).reshape(shape)
        for axis, size in enumerate(shape):
            if taken[0].size * size != index.size:
                continue
            parts = np.moveaxis(index, axis, 0).reshape(size, -1)
            places = [int(np.unravel_index(int(one.flat[0]), shape)[axis]) for one in taken]
            if all(np.array_equal(o.ravel(), parts[p]) for o, p in zip(taken, places, strict=True)):
                outside = self._outer.outside.get(source, source)
                return Series(outside, axis, places, taken[0].shape)
        return None
