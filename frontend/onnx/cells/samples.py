"""Values of a graph for many inputs at once, in float64."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xdsl_tpu.frontend.onnx.cells.frames import NoLayerError, evaluated, proto
from xdsl_tpu.frontend.onnx.graph import FLOATS, Array, Graph, Node
from xdsl_tpu.frontend.onnx.protos import dtype_name


@dataclass(frozen=True)
class Sampled:
    """A value: one for each sample along axis 0 when there are `many`, else one for all."""

    data: Array
    many: bool

    @property
    def rank(self) -> int:
        """Number of dimensions of one sample."""
        return self.data.ndim - self.many

    def aligned(self, rank: int) -> Array:
        """The samples with so many dimensions, new ones in front."""
        if not self.many:
            return self.data
        count, *shape = self.data.shape
        return self.data.reshape(count, *(1,) * (rank - self.rank), *shape)


def run(
    graph: Graph, nodes: Iterable[Node], given: Mapping[str, Array], wanted: Iterable[str]
) -> dict[str, Array]:
    """Values of `wanted`, with samples along axis 0, from those given.

    Nodes whose results are given are left out.
    """
    count = next(iter(given.values())).shape[0]
    values = {name: Sampled(value.astype(np.float64), True) for name, value in given.items()}
    for node in nodes:
        if node.output in values:
            continue
        inputs = [_input(graph, values, name) for name in node.inputs]
        with np.errstate(all="ignore"):
            results = _apply(node, inputs, count)
        for name, value in zip(node.outputs, results, strict=False):
            values.setdefault(name, value)
    found = {name: _input(graph, values, name) for name in wanted}
    return {
        name: value.data if value.many else np.broadcast_to(value.data, (count, *value.data.shape))
        for name, value in found.items()
    }


def _input(graph: Graph, values: Mapping[str, Sampled], name: str) -> Sampled:
    if name in values:
        return values[name]
    data = graph.constants.get(name, np.zeros(0))
    return Sampled(data.astype(np.float64) if data.dtype.kind == "f" else data, False)


def _apply(node: Node, inputs: Sequence[Sampled], count: int) -> Sequence[Sampled]:
    if not any(value.many for value in inputs):
        return [Sampled(value, False) for value in _evaluate(node, inputs)]
    if function := FUNCTIONS.get(node.op_type):
        rank = max(value.rank for value in inputs)
        return [Sampled(np.asarray(function(*(v.aligned(rank) for v in inputs))), True)]
    if rule := RULES.get(node.op_type):
        return [Sampled(rule(node, inputs), True)]
    if node.op_type in MOVEMENT and not any(v.many for v in inputs[_moved(node) :]):
        return _move(node, inputs, count)
    raise NoLayerError(f"{node.op_type} is not known in a cell")


def _evaluate(node: Node, inputs: Sequence[Sampled]) -> list[Array]:
    given = [v.data if name else None for name, v in zip(node.inputs, inputs, strict=True)]
    return evaluated(node, proto(node), given)


def _moved(node: Node) -> int:
    return len(node.inputs) if node.op_type == "Concat" else 1


def _move(node: Node, inputs: Sequence[Sampled], count: int) -> list[Sampled]:
    """Which element goes where, found with their numbers, and then done to all samples."""
    moved = _moved(node)
    flat: list[Array] = []
    numbers: list[Sampled] = []
    start = 0
    for value in inputs[:moved]:
        shape = value.data.shape[value.many :]
        size = int(np.prod(shape))
        numbers.append(Sampled(np.arange(start, start + size).reshape(shape), False))
        data = value.data if value.many else np.broadcast_to(value.data, (count, *shape))
        flat.append(data.reshape(count, size))
        start += size
    together = np.concatenate(flat, axis=1) if len(flat) > 1 else flat[0]
    places = _evaluate(node, [*numbers, *inputs[moved:]])
    return [Sampled(together[:, place], True) for place in places]


def _product(a: Sampled, b: Sampled) -> Array:
    if not b.many and b.data.ndim == 2:  # one product, not one for each sample
        *rows, inner = a.data.shape
        flat = a.data.reshape(-1, inner)
        filled = flat != 0
        if (np.count_nonzero(filled, axis=1) < 2).all():  # unit vectors, or nothing
            place = np.argmax(filled, axis=1)
            result = flat[range(len(flat)), place][:, None] * b.data[place]
        else:
            result = flat @ b.data
        return result.reshape(*rows, b.data.shape[1])
    rank = max(a.rank, b.rank, 2)
    left = a.data[..., None, :] if a.rank == 1 else a.data
    right = b.data[..., :, None] if b.rank == 1 else b.data
    result = np.matmul(Sampled(left, a.many).aligned(rank), Sampled(right, b.many).aligned(rank))
    if b.rank == 1:
        result = result[..., 0]
    if a.rank == 1:
        result = result[..., 0] if b.rank == 1 else result[..., 0, :]
    return result


def _gemm(node: Node, inputs: Sequence[Sampled]) -> Array:
    a, b = (
        Sampled(np.swapaxes(v.data, -1, -2), v.many) if node.attribute(name, 0) else v
        for v, name in zip(inputs[:2], ("transA", "transB"), strict=True)
    )
    result = node.attribute("alpha", 1.0) * _product(a, b)
    if len(inputs) > 2 and node.inputs[2]:
        result = result + node.attribute("beta", 1.0) * inputs[2].aligned(2)
    return result


def _hard_sigmoid(node: Node, inputs: Sequence[Sampled]) -> Array:
    alpha, beta = node.attribute("alpha", 0.2), node.attribute("beta", 0.5)
    return np.clip(alpha * inputs[0].data + beta, 0, 1)


def _float(node: Node, inputs: Sequence[Sampled]) -> Array:
    """Cast among floats."""
    if dtype_name(node.attributes["to"]) not in FLOATS or inputs[0].data.dtype.kind != "f":
        raise NoLayerError("it casts to other than floats")
    return inputs[0].data


def _matmul(node: Node, inputs: Sequence[Sampled]) -> Array:
    return _product(*inputs)


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Array) -> Array:
    return np.logaddexp(x, 0)


def _softsign(x: Array) -> Array:
    return x / (1 + np.abs(x))


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _sum(*values: Array) -> Array:
    return sum(values[1:], values[0])


def hard_sigmoid(x: Array) -> Array:
    """HardSigmoid with the numbers that it has by itself."""
    return np.clip(0.2 * x + 0.5, 0, 1)


ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "HardSigmoid": hard_sigmoid,
    "Relu": _relu,
    "Sigmoid": _sigmoid,
    "Softplus": _softplus,
    "Softsign": _softsign,
    "Tanh": np.tanh,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Div": np.divide,
    "Mul": np.multiply,
    "Neg": np.negative,
    "Sub": np.subtract,
    "Sum": _sum,
    **{name: function for name, function in ACTIVATIONS.items() if name != "HardSigmoid"},
}
"""Functions of single elements, which broadcast.

What agrees at random numbers agrees at all where it is made of these, of products and movement:
there is no Clip or Where whose limits the numbers might not reach.
"""

RULES: dict[str, Callable[[Node, Sequence[Sampled]], Array]] = {
    "Cast": _float,
    "Gemm": _gemm,
    "HardSigmoid": _hard_sigmoid,
    "MatMul": _matmul,
}

MOVEMENT = frozenset(
    {
        *("Concat", "Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Split"),
        *("Squeeze", "Tile", "Transpose", "Unsqueeze"),
    }
)
"""Ops whose results are elements of their first input, or of all inputs."""
