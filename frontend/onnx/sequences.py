"""Sequences of tensors whose lengths are known: their elements, by name.

Exporters make lists of Python such sequences, as those of `split` and of shapes that grow in a
loop. No sequence is left in the graph.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

import numpy as np
from onnx import helper

from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode
from xdsl_tpu.frontend.onnx.unroll import Host, axis_within, constant, part, reshape


class Lists(Host, Protocol):
    """The graph, and what its sequences hold."""

    sequences: dict[str, list[str]]


def _empty(host: Lists, node: Node) -> None:
    host.sequences[node.output] = []


def _construct(host: Lists, node: Node) -> None:
    host.sequences[node.output] = list(node.inputs)


def _insert(host: Lists, node: Node) -> None:
    values = list(host.sequences[node.inputs[0]])
    at = _place(host, node, 2, len(values), behind=1) if node.input(2) else len(values)
    values.insert(at, node.inputs[1])
    host.sequences[node.output] = values


def _erase(host: Lists, node: Node) -> None:
    values = list(host.sequences[node.inputs[0]])
    del values[_place(host, node, 1, len(values)) if node.input(1) else len(values) - 1]
    host.sequences[node.output] = values


def _at(host: Lists, node: Node) -> None:
    values = host.sequences[node.inputs[0]]
    host.call(node.output, values[_place(host, node, 1, len(values))])


def _length(host: Lists, node: Node) -> None:
    size = np.array(len(host.sequences[node.inputs[0]]), np.int64)
    constant(host, node.output, size)


def _concat(host: Lists, node: Node) -> None:
    """All of a sequence one behind the other along an axis, which may be a new one."""
    values, axis = host.sequences[node.inputs[0]], node.attribute("axis", 0)
    if not values:
        raise UnsupportedNode("its sequence is empty")
    if node.attribute("new_axis", 0):
        spread: list[str] = []
        for place, value in enumerate(values):
            shape = [*host.shape(value)]
            shape.insert(axis_within(axis, len(shape) + 1), 1)
            spread.append(reshape(host, value, shape, f"{node.output}/{place}/spread"))
        values = spread
    host.visit(helper.make_node("Concat", values, [node.output], node.name, axis=axis))


def _split(host: Lists, node: Node) -> None:
    """Parts along an axis, of one each where no sizes are given.

    ONNX ignores `keepdims` where sizes are given; onnxruntime does not where the size of all is 1,
    and so PyTorch writes `unbind`.
    """
    shape = host.shape(node.inputs[0])
    axis = axis_within(node.attribute("axis", 0), len(shape))
    size, drops = shape[axis], not node.attribute("keepdims", 1)
    if not node.input(1):
        keeps = not drops
        starts = list(range(size + 1))
    else:
        given = host.constant(node.input(1))
        if given is None:
            raise UnsupportedNode(f"its sizes ('{node.input(1)}') must be constant")
        keeps = not (drops and given.ndim == 0 and given == 1)
        if given.ndim:
            starts = [0, *np.cumsum(given).tolist()]
        else:
            starts = [*range(0, size, max(1, int(given))), size]
    if starts[-1] != size:
        raise UnsupportedNode(f"its sizes sum to {starts[-1]}, and the axis has {size}")
    host.sequences[node.output] = [
        part(host, node.inputs[0], axis, (start, end), f"{node.output}/{place}", keeps)
        for place, (start, end) in enumerate(pairwise(starts))
    ]


def _place(host: Lists, node: Node, index: int, count: int, behind: int = 0) -> int:
    """A place among so many, or that `behind` them; negative ones count from the last.

    Raises UnsupportedNode when it is not constant, or there is none.
    """
    given = host.constant(node.input(index))
    if given is None:
        raise UnsupportedNode(f"its position ('{node.input(index)}') must be constant")
    place = int(given.item())
    if not -count <= place < count + behind:
        raise UnsupportedNode(f"its position is {place}, and there are {count}")
    return place + count if place < 0 else place


SEQUENCES: dict[str, Callable[[Lists, Node], None]] = {
    "ConcatFromSequence": _concat,
    "SequenceAt": _at,
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SplitToSequence": _split,
}
"""Op type to what it makes of sequences."""

PASS_ON = frozenset({"Identity", "Loop", *SEQUENCES})
"""Ops that take sequences."""


def refused(node: Node, sequences: Mapping[str, Sequence[str]]) -> str | None:
    """Why a node cannot take what it is given: a sequence where a tensor is due, or the reverse."""
    lists = [name for name in node.inputs if name in sequences]
    if lists and node.op_type not in PASS_ON:
        return f"its input '{lists[0]}' is a sequence of tensors"
    takes_one = node.op_type in SEQUENCES.keys() - {"SequenceConstruct", "SplitToSequence"}
    if takes_one and node.inputs and node.inputs[0] not in sequences:
        return f"its input '{node.inputs[0]}' is no sequence whose elements are known"
    return None
