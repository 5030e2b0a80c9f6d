"""Loop and Scan with a known number of turns: their bodies, one after the other."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import onnx
from onnx import helper, numpy_helper

from xdsl_tpu.frontend.onnx.graph import Array, Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

MOST_TURNS = 4096

MOST_NODES = 1 << 15
"""A loop may become so many: at some seconds for each hundred, more are not worth waiting for."""


class Host(Protocol):
    """The graph that the bodies become part of."""

    def visit(self, proto: onnx.NodeProto) -> None:
        """Add a node behind the others."""
        ...

    def constant(self, name: str) -> Array | None:
        """The value of `name` when it is constant."""
        ...

    def shape(self, name: str) -> tuple[int, ...]:
        """Static shape of a value; UnsupportedNode when it is not known."""
        ...

    def call(self, name: str, value: str) -> None:
        """Give a value another name."""
        ...

    def size(self) -> int:
        """How many nodes there are."""
        ...


def loop(host: Host, node: Node) -> None:
    """Loop: turns until the trip count, or until the body's condition is a constant False."""
    body: onnx.GraphProto = node.attributes["body"]
    count = _known(host, node.input(0), "trip count")
    going = _known(host, node.input(1), "condition")
    states, first = list(node.inputs[2:]), next(filter(None, node.outputs))
    kept = len(states)
    gathered: list[list[str]] = [[] for _ in node.outputs[kept:]]
    turn, before = 0, host.size()
    while (going is None or going.item()) and (count is None or turn < count.item()):
        _check(turn)
        prefix = f"{first}/{turn}"
        number = constant(host, f"{prefix}/turn", np.array(turn, np.int64))
        condition = constant(host, f"{prefix}/condition", np.array(True))
        going_name, *results = _instance(host, body, [number, condition, *states], prefix)
        states = results[:kept]
        for values, value in zip(gathered, results[kept:], strict=False):
            values.append(value)
        going = _known(host, going_name, "condition")
        turn += 1
        if turn == PROBE and count is not None:
            _check_size(host.size() - before, int(count.item()))
    _finish(host, node, states, gathered, [0] * len(gathered))


def scan(host: Host, node: Node) -> None:
    """Scan: a turn for each index of the scanned inputs along their axes."""
    body: onnx.GraphProto = node.attributes["body"]
    count: int = node.attributes["num_scan_inputs"]
    states, scanned = list(node.inputs[:-count]), node.inputs[-count:]
    outputs = len(node.outputs) - len(states)
    axes = node.attribute("scan_input_axes", [0] * count)
    backwards = node.attribute("scan_input_directions", [0] * count)
    turns = host.shape(scanned[0])[axes[0]]
    first, kept = next(filter(None, node.outputs)), len(states)
    gathered: list[list[str]] = [[] for _ in range(outputs)]
    before = host.size()
    for turn in range(turns):
        _check(turn)
        if turn == PROBE:
            _check_size(host.size() - before, turns)
        prefix = f"{first}/{turn}"
        parts = [
            part(host, name, axis, (at, at + 1), f"{prefix}/{place}")
            for place, (name, axis, at) in enumerate(
                zip(
                    scanned,
                    axes,
                    ((turns - 1 - turn if back else turn) for back in backwards),
                    strict=True,
                )
            )
        ]
        results = _instance(host, body, [*states, *parts], prefix)
        states = results[:kept]
        for values, value in zip(gathered, results[kept:], strict=True):
            values.append(value)
    directions = node.attribute("scan_output_directions", [0] * outputs)
    for values, back in zip(gathered, directions, strict=True):
        if back:
            values.reverse()
    _finish(host, node, states, gathered, node.attribute("scan_output_axes", [0] * outputs))


def _check(turn: int) -> None:
    if turn >= MOST_TURNS:
        raise UnsupportedNode(f"it has more than {MOST_TURNS} turns")


PROBE = 4
"""After so many turns it is known how many nodes one takes."""


def _check_size(nodes: int, turns: int) -> None:
    """UnsupportedNode where all turns would be too many nodes, these being those of `PROBE`."""
    each = nodes // PROBE
    if each * turns > MOST_NODES:
        raise UnsupportedNode(
            f"its {turns:,} turns of {each:,} ops would be {each * turns:,} ops, more than "
            f"{MOST_NODES:,}: a turn is no LSTM, GRU or RNN alone, which would be one op; export "
            "it with fewer turns, or what one turn does as a network that is given its states"
        )


def _known(host: Host, name: str, what: str) -> Array | None:
    value = host.constant(name) if name else None
    if name and value is None:
        raise UnsupportedNode(f"its {what} ('{name}') must be constant")
    return value


def constant(host: Host, name: str, value: Array) -> str:
    """A constant of this name."""
    tensor = numpy_helper.from_array(value, name)
    host.visit(helper.make_node("Constant", [], [name], name, value=tensor))
    return name


def part(
    host: Host, name: str, axis: int, ends: tuple[int, int], prefix: str, keeps: bool = False
) -> str:
    """x[.., start:end, ..], without the axis unless it `keeps` it."""
    shape = [*host.shape(name)]
    axis %= len(shape)
    bounds = [
        constant(host, f"{prefix}/{label}", np.array([number], np.int64))
        for label, number in zip(("start", "end", "axis"), (*ends, axis), strict=True)
    ]
    host.visit(helper.make_node("Slice", [name, *bounds], [f"{prefix}/slice"], f"{prefix}/slice"))
    if keeps:
        return f"{prefix}/slice"
    return reshape(host, f"{prefix}/slice", [*shape[:axis], *shape[axis + 1 :]], f"{prefix}/part")


def reshape(host: Host, name: str, shape: Sequence[int], output: str) -> str:
    """The value in another shape, under the name `output`."""
    sizes = constant(host, f"{output}/shape", np.array(shape, np.int64))
    host.visit(helper.make_node("Reshape", [name, sizes], [output], output))
    return output


def axis_within(axis: int, rank: int) -> int:
    """An axis counted from the front; UnsupportedNode when a tensor of this rank has none such."""
    if not -rank <= axis < rank:
        raise UnsupportedNode(f"its axis {axis} is not one of a tensor of rank {rank}")
    return axis % rank


def _finish(
    host: Host,
    node: Node,
    states: Sequence[str],
    gathered: Sequence[Sequence[str]],
    axes: Sequence[int],
) -> None:
    """The last states, and what the turns gave side by side along a new axis."""
    for name, state in zip(node.outputs, states, strict=False):
        if name:
            host.call(name, state)
    for name, values, axis in zip(node.outputs[len(states) :], gathered, axes, strict=True):
        if not name:
            continue
        if not values:
            raise UnsupportedNode("it has no turns")
        spread: list[str] = []
        for place, value in enumerate(values):
            shape = [*host.shape(value)]
            shape.insert(axis_within(axis, len(shape) + 1), 1)
            spread.append(reshape(host, value, shape, f"{name}/{place}/spread"))
        host.visit(helper.make_node("Concat", spread, [name], name, axis=axis))


def _instance(host: Host, body: onnx.GraphProto, inputs: Sequence[str], prefix: str) -> list[str]:
    """The body on these inputs, its own names behind `prefix`; gives its outputs."""
    formal = (value.name for value in body.input)
    names = dict(zip(formal, inputs, strict=True))
    copy = onnx.GraphProto()
    copy.CopyFrom(body)
    _rename(copy, names, prefix)
    for tensor in copy.initializer:
        constant(host, tensor.name, numpy_helper.to_array(tensor))
    for node in copy.node:
        host.visit(node)
    return [value.name for value in copy.output]


def _rename(graph: onnx.GraphProto, names: dict[str, str], prefix: str) -> None:
    """Give what a graph defines names of its own; what it takes from outside is in `names`."""
    for tensor in graph.initializer:
        tensor.name = names.setdefault(tensor.name, f"{prefix}/{tensor.name}")
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _rename(attribute.g, dict(names), prefix)
        node.output[:] = [_defined(name, names, prefix) for name in node.output]
        node.name = f"{prefix}/{node.name}" if node.name else ""
    for value in graph.output:
        value.name = names.get(value.name, value.name)


def _defined(name: str, names: dict[str, Any], prefix: str) -> str:
    if name:
        names[name] = f"{prefix}/{name}"
    return names.get(name, "")


UNROLLED = {"Loop": loop, "Scan": scan}
"""Op type to the function that writes such a node out."""
