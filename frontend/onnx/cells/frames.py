"""Loop and Scan alike: what goes from turn to turn, what each turn reads, and what it gives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import helper

from xdsl_tpu.frontend.onnx.evaluate import Inputs, evaluate
from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node, ValueType
from xdsl_tpu.frontend.onnx.sequences import Lists


class NoLayerError(Exception):
    """A loop is no recurrent layer, for this reason."""


class Inside(Lists, Protocol):
    """The graph that a loop is in, which can read the loop's body by itself."""

    def kind(self, name: str) -> ValueType | None:
        """Type of a value when it is known."""
        ...

    def inner(
        self,
        body: onnx.GraphProto,
        inputs: Mapping[str, ValueType],
        constants: Mapping[str, Array],
        counters: Mapping[str, Array],
    ) -> Graph | None:
        """The graph of a body alone, constants folded; None when something of it is not read.

        Shapes that depend on `counters` are those of the first turn, whose counters are given.
        """
        ...


@dataclass(frozen=True)
class State:
    """A value that a turn hands to the next one: its name in the body, and of what follows it."""

    name: str
    initial: str
    following: str
    output: str


@dataclass(frozen=True)
class Collected:
    """A value of which the loop gives those of all turns along an axis; of a list, no axis."""

    value: str
    output: str
    axis: int | None = 0
    backwards: bool = False
    before: Sequence[str] = ()
    """What a list held before."""


@dataclass(frozen=True)
class Series:
    """A value for each turn: that at one of `places` along an axis of a tensor from outside.

    Where it is constant, `values` are those of all turns.
    """

    source: str
    axis: int
    places: Sequence[int]
    shape: tuple[int, ...]
    values: Array | None = None


@dataclass
class Frame:
    """A loop around the graph of its body."""

    graph: Graph
    ends: Mapping[str, str]
    """What the graph calls each output of the body."""
    states: list[State] = field(default_factory=list[State])
    kept: list[State] = field(default_factory=list[State])
    """What no turn changes."""
    collected: list[Collected] = field(default_factory=list[Collected])
    scanned: dict[str, Series] = field(default_factory=dict[str, Series])
    outside: dict[str, str] = field(default_factory=dict[str, str])
    """Tensors from outside that are not constant, and what they are called there."""
    lists: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Stand-ins for lists of tensors from outside."""
    number: str = ""
    goes_on: str = ""
    count: int | None = None

    def value(self, end: str) -> str:
        """What the graph calls an output of the body."""
        return self.ends[end]


def frame(host: Inside, node: Node) -> Frame:
    """The frame of a Loop or Scan; NoLayerError when its body cannot be read by itself."""
    body = onnx.GraphProto()
    body.CopyFrom(node.attributes["body"])
    return _loop(host, node, body) if node.op_type == "Loop" else _scan(host, node, body)


def _loop(host: Inside, node: Node, body: onnx.GraphProto) -> Frame:
    count, going = (_number(host, node.input(place)) for place in (0, 1))
    if going == 0:
        raise NoLayerError("it has no turns")
    number, condition, *names = (value.name for value in body.input)
    initial, ends = node.inputs[2:], [value.name for value in body.output]
    kept = len(names)
    kinds, going_on = {number: ValueType("int64", ())}, {condition: np.array(True)}
    found = _Reader(host, body, kinds, going_on, {number: np.array(0)})
    appended = found.take_lists(dict(zip(names, initial, strict=True)))
    carried = list(zip(names, initial, ends[1:], node.outputs, strict=False))
    result = found.frame([one for one in carried if one[0] not in appended])
    for name, first, end, output in carried:
        if name in appended:
            value, before = result.value(end), host.sequences[first]
            result.collected.append(Collected(value, output, None, before=before))
    for end, output in zip(ends[kept + 1 :], node.outputs[kept:], strict=False):
        if output:
            result.collected.append(Collected(result.value(end), output))
    result.number, result.goes_on, result.count = number, result.value(ends[0]), count
    return result


def _scan(host: Inside, node: Node, body: onnx.GraphProto) -> Frame:
    many: int = node.attributes["num_scan_inputs"]
    initial, sources = node.inputs[:-many], node.inputs[-many:]
    names, ends = ([v.name for v in values] for values in (body.input, body.output))
    axes = node.attribute("scan_input_axes", [0] * many)
    backwards = node.attribute("scan_input_directions", [0] * many)
    kept, given = len(initial), len(ends) - len(initial)
    count = host.shape(sources[0])[axes[0]]
    scanned: dict[str, Series] = {}
    kinds: dict[str, ValueType] = {}
    for name, source, axis, back in zip(names[kept:], sources, axes, backwards, strict=True):
        kind = host.kind(source)
        if kind is None:
            raise NoLayerError(f"the type of '{source}' is not known")
        axis %= len(kind.shape)
        kinds[name] = ValueType(kind.dtype, (*kind.shape[:axis], *kind.shape[axis + 1 :]))
        places = range(count - 1, -1, -1) if back else range(count)
        scanned[name] = Series(source, axis, places, kinds[name].shape)
    carried = list(zip(names, initial, ends, node.outputs, strict=False))
    result = _Reader(host, body, kinds, {}).frame(carried)
    out_axes = node.attribute("scan_output_axes", [0] * given)
    out_back = node.attribute("scan_output_directions", [0] * given)
    for end, output, axis, back in zip(
        ends[kept:], node.outputs[kept:], out_axes, out_back, strict=True
    ):
        if output:
            result.collected.append(Collected(result.value(end), output, axis, bool(back)))
    result.scanned, result.count = scanned, count
    return result


def _number(host: Inside, name: str) -> int | None:
    """The value of a trip count or condition; None when there is none."""
    if not name:
        return None
    value = host.constant(name)
    if value is None:
        raise NoLayerError(f"'{name}' depends on data")
    return int(value.item())


@dataclass
class _Reader:
    """Reads a body: `inputs` are what each turn gives it, `constants` what is known, `counters`
    what only the first turn has."""

    host: Inside
    body: onnx.GraphProto
    inputs: dict[str, ValueType]
    constants: dict[str, Array]
    counters: dict[str, Array] = field(default_factory=dict[str, Array])
    lists: dict[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def take_lists(self, states: Mapping[str, str]) -> set[str]:
        """Take lists out of the body: those that each turn appends to, and those that it reads.

        Gives the names of the former, which stand for what is appended from now on.
        """
        known = self.host.sequences
        growing = {name for name, first in states.items() if first in known}
        appended: set[str] = set()
        for node in self.body.node:
            first, *others = [*node.input, "", ""][:3]
            changed = None
            if node.op_type == "SequenceInsert" and first in growing - appended and not others[1]:
                appended.add(first)
                changed = helper.make_node("Identity", others[:1], node.output)
            elif node.op_type == "SequenceAt" and first in known:
                self.lists[f"{first}/all"] = known[first]
                changed = helper.make_node("Gather", [f"{first}/all", others[0]], node.output)
            if changed is not None:
                node.CopyFrom(changed)
        if growing != appended:
            raise NoLayerError("a list goes from turn to turn and does not grow at its end, by one")
        return appended

    def frame(self, carried: Sequence[tuple[str, str, str, str]]) -> Frame:
        """The frame of states: their names, what they begin with, what follows, and results."""
        same = {n.output[0]: n.input[0] for n in self.body.node if n.op_type == "Identity"}
        outside: dict[str, str] = {}
        kept: list[State] = []
        states: list[tuple[str, str, str, str]] = []
        for name, initial, end, output in carried:
            if _origin(end, same) == name:
                outside[name] = initial
                kept.append(State(name, initial, name, output))
            else:
                states.append((name, initial, end, output))
                self._type(name, initial)
                value = self.host.constant(initial)
                if value is not None and value.dtype.kind in "iu":
                    self.counters[name] = value
        for name in dict.fromkeys(_free(self.body, set())):
            if name not in self.inputs and name not in self.lists:
                outside.setdefault(name, name)
        for name, source in [*outside.items()]:
            value = self.host.constant(source)
            if value is not None:
                self.constants[name] = value
                del outside[name]
            else:
                self._type(name, source)
        for name, elements in self.lists.items():
            kinds = {self.host.kind(one) for one in elements}
            kind = next(iter(kinds), None)
            if kind is None or len(kinds) > 1:
                raise NoLayerError("a list has elements of several types")
            self.inputs[name] = ValueType(kind.dtype, (len(elements), *kind.shape))
        names = [value.name for value in self.body.output]
        graph = self.host.inner(self.body, self.inputs, self.constants, self.counters)
        if graph is None:
            raise NoLayerError("its body cannot be read by itself")
        result = Frame(graph, dict(zip(names, graph.outputs, strict=True)))
        result.states = [State(n, i, result.value(e), o) for n, i, e, o in states]
        result.kept, result.outside, result.lists = kept, outside, self.lists
        return result

    def _type(self, name: str, source: str) -> None:
        kind = self.host.kind(source)
        if kind is None:
            raise NoLayerError(f"the type of '{source}' is not known")
        self.inputs[name] = kind


def _origin(name: str, same: Mapping[str, str]) -> str:
    while name in same:
        name = same[name]
    return name


def _free(graph: onnx.GraphProto, known: set[str]) -> Iterator[str]:
    """Names that a graph reads and does not define."""
    known = known | {value.name for value in graph.input}
    known |= {tensor.name for tensor in graph.initializer}
    for node in graph.node:
        yield from (name for name in node.input if name and name not in known)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _free(attribute.g, known)
        known.update(node.output)
    yield from (value.name for value in graph.output if value.name not in known)


def proto(node: Node) -> onnx.NodeProto:
    """The message of a node."""
    attributes: dict[str, Any] = node.attributes
    return helper.make_node(node.op_type, node.inputs, node.outputs, **attributes)


def evaluated(node: Node, message: onnx.NodeProto, inputs: Inputs) -> list[Array]:
    """Outputs of a node of a body; NoLayerError where it cannot be evaluated."""
    try:
        return evaluate(node, message, inputs)
    except Exception as error:  # the reference implementation raises what it likes
        raise NoLayerError(f"'{node.title}' cannot be evaluated: {error}") from error
