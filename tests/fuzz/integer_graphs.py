"""Random ONNX graphs of integers, indices and masks, and what onnxruntime makes of them.

Every tensor is a small array; integers reach to the ends of 32 bits where no step forbids it, so
that a detour by way of a float shows.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
Random = np.random.Generator

LARGEST = (1 << 31) - 1
ARITHMETIC = ("Add", "Sub", "Mul", "Max", "Min")
DIVISIONS = ("Div", "Mod")
COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
LOGIC = ("And", "Or", "Xor")


@dataclass
class Graph:
    """A model being made: nodes, constants, inputs with their values, and tensors by kind."""

    random: Random
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    constants: list[TensorProto] = field(default_factory=list[TensorProto])
    feeds: dict[str, Array] = field(default_factory=dict[str, Array])
    integers: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    truths: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    floats: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    def input(self, values: Array) -> str:
        """A network input with these values."""
        name = f"x{len(self.feeds)}"
        self.feeds[name] = values
        return name

    def constant(self, values: Any, *, shape: bool = False) -> str:
        """A constant; integers are int32, as the chip's, those that say shapes int64."""
        name = f"c{len(self.constants)}"
        array = np.asarray(values)
        if array.dtype.kind == "i" and not shape:
            array = array.astype(np.int32)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, *given: str, **attributes: Any) -> str:
        """A node of one result; its name."""
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, given, [name], name, **attributes))
        return name

    def pick(self, kind: dict[str, tuple[int, ...]]) -> str:
        """One of the tensors of a kind."""
        return str(self.random.choice([*kind]))

    def whole(self, low: int, high: int) -> int:
        """An integer from low to high."""
        return int(self.random.integers(low, high, endpoint=True))


def _shape(graph: Graph) -> tuple[int, ...]:
    return tuple(graph.whole(1, 6) for _ in range(graph.whole(1, 3)))


def _numbers(graph: Graph, shape: tuple[int, ...]) -> Array:
    reach = int(graph.random.choice([5, 3000, 70_000, 1 << 26, LARGEST]))
    return graph.random.integers(-reach, reach, shape, endpoint=True)


def _like(graph: Graph, shape: tuple[int, ...]) -> str:
    """Integers that spread over `shape`: of the graph, or constant."""
    fitting = [name for name, own in graph.integers.items() if own == shape]
    if fitting and graph.random.random() < 0.6:
        return str(graph.random.choice(fitting))
    sizes = tuple(size if graph.random.random() < 0.6 else 1 for size in shape)
    return graph.constant(_numbers(graph, sizes if graph.random.random() < 0.8 else ()))


def _small(graph: Graph, name: str, most: int) -> str:
    """A tensor's integers brought to 0 .. most - 1, whatever they are."""
    return graph.node("Mod", name, graph.constant(np.int64(most)))


def arithmetic(graph: Graph) -> None:
    name = graph.pick(graph.integers)
    shape = graph.integers[name]
    pair = [name, _like(graph, shape)]
    graph.random.shuffle(pair)
    op = str(graph.random.choice(ARITHMETIC))
    graph.integers[graph.node(op, *pair)] = shape


def division(graph: Graph) -> None:
    """By a number that is never 0 (nor -1, of which the lowest integer has no multiple)."""
    name = graph.pick(graph.integers)
    shape = graph.integers[name]
    divisor = _numbers(graph, shape if graph.random.random() < 0.5 else ())
    divisor = np.where(np.abs(divisor) < 2, 7, divisor)
    op = str(graph.random.choice(DIVISIONS))
    options = {"fmod": graph.whole(0, 1)} if op == "Mod" else {}
    graph.integers[graph.node(op, name, graph.constant(divisor), **options)] = shape


def unary(graph: Graph) -> None:
    name = graph.pick(graph.integers)
    op = str(graph.random.choice(["Abs", "Neg", "Sign", "Clip"]))
    given = [name]
    if op == "Clip":
        given += [graph.constant(np.int64(-9)), graph.constant(np.int64(graph.whole(0, 1 << 30)))]
    graph.integers[graph.node(op, *given)] = graph.integers[name]


def compare(graph: Graph) -> None:
    name = graph.pick(graph.integers)
    op = str(graph.random.choice(COMPARISONS))
    shape = graph.integers[name]
    graph.truths[graph.node(op, name, _like(graph, shape))] = shape


def logic(graph: Graph) -> None:
    name = graph.pick(graph.truths)
    shape = graph.truths[name]
    others = [other for other, own in graph.truths.items() if own == shape]
    op = str(graph.random.choice(LOGIC))
    if graph.random.random() < 0.3:
        graph.truths[graph.node("Not", name)] = shape
    else:
        graph.truths[graph.node(op, name, str(graph.random.choice(others)))] = shape


def choose(graph: Graph) -> None:
    name = graph.pick(graph.truths)
    shape = graph.truths[name]
    graph.integers[graph.node("Where", name, _like(graph, shape), _like(graph, shape))] = shape


def cast(graph: Graph) -> None:
    """Truths as integers, integers as truths, masks as floats."""
    if graph.random.random() < 0.5:
        name = graph.pick(graph.truths)
        graph.integers[graph.node("Cast", name, to=TensorProto.INT32)] = graph.truths[name]
        return
    name = graph.pick(graph.integers)
    graph.truths[graph.node("Cast", name, to=TensorProto.BOOL)] = graph.integers[name]


def mask(graph: Graph) -> None:
    """What is added to scores: 0 or -1000 by a mask."""
    name = graph.pick(graph.truths)
    value = graph.node("Cast", name, to=TensorProto.FLOAT)
    turned = graph.node("Sub", graph.constant(np.float32(1)), value)
    scaled = graph.node("Mul", turned, graph.constant(np.float32(-1000)))
    graph.floats[scaled] = graph.truths[name]


def move(graph: Graph) -> None:
    name = graph.pick(graph.integers)
    shape = graph.integers[name]
    op = str(graph.random.choice(["Reshape", "Transpose", "Slice", "Unsqueeze", "Tile"]))
    axis = graph.whole(0, len(shape) - 1)
    if op == "Reshape":
        count = int(np.prod(shape))
        made, new = graph.node(op, name, graph.constant(np.array([count]), shape=True)), (count,)
    elif op == "Transpose":
        order = [int(place) for place in graph.random.permutation(len(shape))]
        made, new = graph.node(op, name, perm=order), tuple(shape[place] for place in order)
    elif op == "Slice":
        start = graph.whole(0, shape[axis] - 1)
        bounds = [np.array([n]) for n in (start, shape[axis], axis)]
        made = graph.node(op, name, *(graph.constant(one, shape=True) for one in bounds))
        new = (*shape[:axis], shape[axis] - start, *shape[axis + 1 :])
    elif op == "Unsqueeze" and len(shape) < 4:
        made, new = (
            graph.node(op, name, graph.constant(np.array([axis]), shape=True)),
            (
                *shape[:axis],
                1,
                *shape[axis:],
            ),
        )
    else:
        times = np.ones(len(shape), np.int64)
        times[axis] = 2
        made = graph.node("Tile", name, graph.constant(times, shape=True))
        new = (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])
    if np.prod(new) <= 4000:
        graph.integers[made] = new


def join(graph: Graph) -> None:
    name = graph.pick(graph.integers)
    shape = graph.integers[name]
    axis = graph.whole(0, len(shape) - 1)
    new = (*shape[:axis], 3 * shape[axis], *shape[axis + 1 :])
    if np.prod(new) > 4000:
        return
    other = graph.constant(_numbers(graph, shape))
    graph.integers[graph.node("Concat", name, other, name, axis=axis)] = new


def reduce(graph: Graph) -> None:
    """Sums stay within 32 bits: onnxruntime's do not wrap."""
    source = graph.pick(graph.integers)
    shape = graph.integers[source]
    name = _small(graph, source, 1 << 25)
    axis = graph.whole(0, len(shape) - 1)
    op = str(graph.random.choice(["ReduceSum", "ReduceMax", "ReduceMin", "CumSum"]))
    if op == "CumSum":
        options = {"exclusive": graph.whole(0, 1), "reverse": graph.whole(0, 1)}
        made = graph.node(op, name, graph.constant(np.int64(axis), shape=True), **options)
        graph.integers[made] = shape
        return
    kept = tuple(1 if place == axis else size for place, size in enumerate(shape))
    if op == "ReduceSum":
        made = graph.node(op, name, graph.constant(np.array([axis]), shape=True), keepdims=1)
    else:
        made = graph.node(op, name, axes=[axis], keepdims=1)
    graph.integers[made] = kept


def best(graph: Graph) -> None:
    name = graph.pick(graph.integers)
    shape = graph.integers[name]
    axis = graph.whole(0, len(shape) - 1)
    found = graph.node("ArgMax", name, axis=axis, keepdims=1)
    made = graph.node("Cast", found, to=TensorProto.INT32)
    graph.integers[made] = tuple(1 if n == axis else size for n, size in enumerate(shape))


def embed(graph: Graph) -> None:
    """Rows of a table of floats, or of integers, by ids made of the graph's integers."""
    name = graph.pick(graph.integers)
    shape = graph.integers[name]
    rows = int(graph.random.choice([3, 500, 5000]))
    ids = _small(graph, name, rows)
    if graph.random.random() < 0.3:  # counted from the end
        ids = graph.node("Sub", ids, graph.constant(np.int64(rows)))
    if graph.random.random() < 0.5:
        table = graph.constant(_numbers(graph, (rows,)))
        graph.integers[graph.node("Gather", table, ids)] = shape
    else:
        values = graph.random.standard_normal((rows, 2)).astype(np.float16).astype(np.float32)
        graph.floats[graph.node("Gather", graph.constant(values), ids)] = (*shape, 2)


def pick_elements(graph: Graph) -> None:
    name = graph.pick(graph.integers)
    shape = graph.integers[name]
    axis = graph.whole(0, len(shape) - 1)
    ids = _small(graph, name, shape[axis])
    graph.integers[graph.node("GatherElements", name, ids, axis=axis)] = shape


def angle(graph: Graph) -> None:
    """The sine of a position times a frequency."""
    name = graph.pick(graph.integers)
    position = _small(graph, name, 1 << 15)
    value = graph.node("Cast", position, to=TensorProto.FLOAT)
    scaled = graph.node("Mul", value, graph.constant(np.float32(0.37)))
    op = str(graph.random.choice(["Sin", "Cos"]))
    graph.floats[graph.node(op, scaled)] = graph.integers[name]


def bucket(graph: Graph) -> None:
    """Positions cast to floats, computed with, and cast back."""
    name = graph.pick(graph.integers)
    value = graph.node("Cast", _small(graph, name, 9000), to=TensorProto.FLOAT)
    scaled = graph.node("Mul", value, graph.constant(np.float32(0.25)))
    moved = graph.node("Add", scaled, graph.constant(np.float32(-700)))
    made = graph.node("Cast", moved, to=TensorProto.INT32)
    graph.integers[made] = graph.integers[name]


STEPS = (
    *(angle, arithmetic, arithmetic, best, bucket, cast, choose, compare, division, embed),
    *(join, logic, mask, move, move, pick_elements, reduce, unary),
)


def random_graph(seed: int) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """A model of about ten steps, all of whose tensors that nothing reads are outputs, and values
    for its inputs: every sum and product stays within 32 bits, or wraps as int32 does."""
    graph = Graph(np.random.default_rng(seed))
    for _ in range(2):
        shape = _shape(graph)
        name = graph.input(_numbers(graph, shape).astype(np.int32))
        graph.integers[name] = shape
    first = graph.pick(graph.integers)
    graph.truths[graph.node("Less", first, _like(graph, graph.integers[first]))] = graph.integers[
        first
    ]
    for _ in range(graph.whole(4, 12)):
        graph.random.choice(np.array(STEPS, object))(graph)
    return _model(graph), graph.feeds


def _model(graph: Graph) -> onnx.ModelProto:
    used = {name for node in graph.nodes for name in node.input}
    kinds = (
        (graph.integers, TensorProto.INT32),
        (graph.truths, TensorProto.BOOL),
        (graph.floats, TensorProto.FLOAT),
    )
    outputs = [
        helper.make_tensor_value_info(name, kind, shape)
        for tensors, kind in kinds
        for name, shape in tensors.items()
        if name not in used and name not in graph.feeds
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT32, value.shape)
        for name, value in graph.feeds.items()
        if name in used
    ]
    for name in [name for name in graph.feeds if name not in used]:
        del graph.feeds[name]
    made = helper.make_graph(graph.nodes, "integers", inputs, outputs, graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
