"""Nodes that do nothing, constants kept twice, and constants larger than they need be."""

from collections.abc import Callable

import numpy as np

from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node, element, is_uniform


def simplify(graph: Graph) -> None:
    """Remove what has no effect; every value that stays keeps its name."""
    _shrink_uniform(graph)
    for node in graph.nodes:
        rule = IDLE.get(node.op_type)
        variable = [name for name in node.inputs if name not in graph.constants]
        if rule and variable and rule(graph, node):
            graph.alias(node, variable[0])
    graph.prune_all()
    _share_equal(graph)


BROADCASTING = frozenset(
    (
        *("Add", "Sub", "Mul", "Div", "Mod", "Pow", "Max", "Min", "Where"),
        *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
    )
)
"""Ops with numpy's broadcasting, which need no constant larger than one that gives the shape."""


def _shrink_uniform(graph: Graph) -> None:
    """add(x, [[c, c], [c, c]]) -> add(x, [c]), where that does not change the result's shape.

    Exporters write masks, fills and biases as one number expanded to the size of an activation.
    """
    for node in graph.nodes:
        if node.op_type not in BROADCASTING:
            continue
        for index, name in enumerate(node.inputs):
            value = graph.constant(name)
            if value is None or value.size == 1 or not _is_one_number(value):
                continue
            others = [graph.shape(n) for i, n in enumerate(node.inputs) if i != index]
            if np.broadcast_shapes(*others) != graph.shape(node.output):
                continue
            small = f"{name}_scalar"
            graph.add_constant(small, element(value).reshape(1))
            inputs = [*node.inputs]
            inputs[index] = small
            graph.become(node, node.op_type, inputs, **node.attributes)


def _is_one_number(value: Array) -> bool:
    """Whether a constant is one number again and again, in a broadcast or written out.

    A vector written out stays one: patterns look for biases and factors of channels.
    """
    if is_uniform(value):
        return True
    if sum(size > 1 for size in value.shape) < 2:
        return False
    first, last = value.flat[0].tobytes(), value.flat[-1].tobytes()
    return first == last and value.tobytes() == first * value.size


def _share_equal(graph: Graph) -> None:
    """Two constants with the same values become one, the one that came first."""
    first: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    renames: dict[str, str] = {}
    for name, value in graph.constants.items():
        if not any(value.strides) and value.size > 1:
            continue  # a broadcast: hashing its bytes would make them
        key = (value.dtype.name, value.shape, _fingerprint(value))
        original = first.setdefault(key, name)
        if original != name and np.array_equal(graph.constants[original], value):
            renames[name] = original
    graph.rename_constants(renames)


def _fingerprint(value: Array) -> bytes:
    """Some of the bytes: enough to tell most arrays apart without reading all of them."""
    flat = value.reshape(-1)
    return np.ascontiguousarray(flat[:: max(1, flat.size // 64)]).tobytes()


def _keeps_shape(graph: Graph, node: Node) -> bool:
    return graph.shape(node.inputs[0]) == graph.shape(node.output)


def _idle_pad(graph: Graph, node: Node) -> bool:
    pads = graph.constant(node.input(1))
    return pads is not None and not pads.any()


def _idle_cast(graph: Graph, node: Node) -> bool:
    source, target = graph.types[node.inputs[0]], graph.types[node.output]
    return source.dtype == target.dtype or (source.is_float and target.is_float)


def _idle_transpose(graph: Graph, node: Node) -> bool:
    rank = len(graph.shape(node.output))
    return node.attribute("perm", [*reversed(range(rank))]) == [*range(rank)]


def _single_input(graph: Graph, node: Node) -> bool:
    return len(node.inputs) == 1


def _neutral(number: float, *positions: int) -> Callable[[Graph, Node], bool]:
    """A rule: the operand at one of `positions` is `number` and the other has the full shape."""

    def rule(graph: Graph, node: Node) -> bool:
        for position in positions:
            other = node.inputs[1 - position]
            if graph.scalar(node.inputs[position]) == number and other not in graph.constants:
                return graph.shape(other) == graph.shape(node.output)
        return False

    return rule


IDLE: dict[str, Callable[[Graph, Node], bool]] = {
    "Add": _neutral(0.0, 0, 1),
    "Cast": _idle_cast,
    "Concat": _single_input,
    "Div": _neutral(1.0, 1),
    "Expand": _keeps_shape,
    "Max": _single_input,
    "Mean": _single_input,
    "Min": _single_input,
    "Mul": _neutral(1.0, 0, 1),
    "Pad": _idle_pad,
    "Sub": _neutral(0.0, 1),
    "Sum": _single_input,
    "Tile": _keeps_shape,
    "Transpose": _idle_transpose,
}
"""Op type to: does this node hand its only non-constant input through?"""
