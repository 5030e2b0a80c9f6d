"""What recognising an idiom needs: the interface of a fusion, and matchers they share."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from xdsl_tpu.frontend.onnx.graph import Graph, Node

TOLERANCE = 1e-3
"""Relative; exporters round the constants of an idiom to float32, some to a few digits."""


class Fusion(ABC):
    """Recognises one idiom and replaces its last node by a node that means the whole."""

    anchors: ClassVar[frozenset[str]]
    """Op types of the node the search starts from."""

    @abstractmethod
    def apply(self, graph: Graph, anchor: Node) -> bool:
        """Rewrite the idiom around `anchor`; False when it is something else."""


def run_fusions(graph: Graph, fusions: Iterable[Fusion]) -> None:
    """Apply each fusion, in order, everywhere it matches."""
    for fusion in fusions:
        for node in graph.nodes:
            if node.op_type in fusion.anchors and node in graph:
                fusion.apply(graph, node)


def close(value: float | None, expected: float) -> bool:
    """Whether a constant is the one an idiom has."""
    return value is not None and math.isclose(value, expected, rel_tol=TOLERANCE, abs_tol=1e-9)


def with_scalar(graph: Graph, node: Node) -> tuple[str, float] | None:
    """Operands of a commutative node, one of which is a number: the other's name, the number."""
    if len(node.inputs) != 2:
        return None
    left, right = node.inputs
    if (number := graph.scalar(right)) is not None:
        return left, number
    if (number := graph.scalar(left)) is not None:
        return right, number
    return None


def per_element(graph: Graph, node: Node, x: str, shape: tuple[int, ...]) -> str:
    """The constant operand of `node(x, constant)` as a parameter of shape `shape`.

    Leading sizes of 1 do not count, trailing ones are dropped from the parameter. Empty when the
    operand is not constant, is `x` itself, or has another shape.
    """
    name = other_operand(node, x)
    value = graph.constant(name)
    if value is None or value.size != math.prod(shape):
        return ""
    padded = (*[1] * (len(shape) - value.ndim), *value.shape)
    if padded[len(padded) - len(shape) :] != shape:
        return ""
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    if value.shape == shape:
        return name
    graph.add_constant(f"{name}_reshape", value.reshape(shape))
    return f"{name}_reshape"


def other_operand(node: Node, name: str) -> str:
    """The operand of a binary node that is not `name`."""
    return node.inputs[1] if node.inputs[0] == name else node.inputs[0]


def reduced_axes(graph: Graph, node: Node) -> tuple[int, ...] | None:
    """Axes, counted from 0, of a reduction that keeps them as size 1; None otherwise."""
    if not node.attribute("keepdims", 1):
        return None
    rank = len(graph.shape(node.inputs[0]))
    axes = node.attributes.get("axes")
    if node.input(1):
        constant = graph.constant(node.input(1))
        if constant is None:
            return None
        axes = constant.tolist()
    if not axes:
        return None if node.attribute("noop_with_empty_axes", 0) else tuple(range(rank))
    return tuple(sorted(int(axis) % rank for axis in axes))


def polynomial(graph: Graph, name: str, x: str, depth: int = 8) -> dict[int, float] | None:
    """`name` as a polynomial of `x`, powers to coefficients, when it is one of scalars and `x`.

    An idiom can then be told by its coefficients, whichever way its terms are grouped.
    """
    if name == x:
        return {1: 1.0}
    if (number := graph.scalar(name)) is not None:
        return {0: number}
    node = graph.producer(name)
    if node is None or depth == 0 or node.op_type not in ("Add", "Sub", "Mul", "Div", "Pow"):
        return None
    left = polynomial(graph, node.inputs[0], x, depth - 1)
    right = polynomial(graph, node.inputs[1], x, depth - 1)
    if left is None or right is None:
        return None
    return _combine(node.op_type, left, right)


Terms: TypeAlias = Mapping[int, float]


def _combine(op_type: str, left: Terms, right: Terms) -> dict[int, float] | None:
    match op_type:
        case "Add" | "Sub":
            sign = 1.0 if op_type == "Add" else -1.0
            powers = sorted({*left, *right})
            return {p: left.get(p, 0.0) + sign * right.get(p, 0.0) for p in powers}
        case "Mul":
            return _product(left, right)
        case "Div" if set(right) == {0} and right[0]:
            return {p: c / right[0] for p, c in left.items()}
        case "Pow" if set(right) == {0} and right[0] in (1, 2, 3):
            result: Terms = left
            for _ in range(int(right[0]) - 1):
                result = _product(result, left)
            return dict(result)
        case _:
            return None


def _product(left: Terms, right: Terms) -> dict[int, float]:
    result: dict[int, float] = {}
    for p, c in left.items():
        for q, d in right.items():
            result[p + q] = result.get(p + q, 0.0) + c * d
    return result


def is_polynomial(graph: Graph, name: str, x: str, expected: Terms) -> bool:
    """Whether `name` is the polynomial of `x` with these coefficients."""
    found = polynomial(graph, name, x)
    if found is None:
        return False
    return all(close(found.get(p, 0.0), expected.get(p, 0.0)) for p in {*found, *expected})


@dataclass(frozen=True)
class Gated:
    """`x * scale * (gate + offset)`, computed by `last`."""

    x: str
    scale: float
    offset: float
    last: Node


def gated_products(graph: Graph, gate: Node) -> Iterator[Gated]:
    """Every way to read what follows `gate` as a product with another value, shortest first.

    Factors may come in any order, and the scalar may sit on either factor.
    """
    value, offset, scale = gate.output, 0.0, 1.0
    user = graph.sole_user(value)
    if user and user.op_type == "Add" and (pair := with_scalar(graph, user)):
        value, offset = user.output, pair[1]
        user = graph.sole_user(value)
    x = ""
    while user and user.op_type in ("Mul", "Div"):
        other = other_operand(user, value)
        number = graph.scalar(other)
        if user.op_type == "Div" and (number is None or user.inputs[0] != value or not number):
            return
        if number is not None:
            scale *= number if user.op_type == "Mul" else 1 / number
        elif x:
            return
        else:
            x = other
            factor = graph.made_by(other, "Mul", "Div")
            if factor and (pair := with_scalar(graph, factor)) and pair[1]:
                divides = factor.op_type == "Div"
                part = 1 / pair[1] if divides else pair[1]
                if not divides or factor.inputs[0] == pair[0]:
                    yield Gated(pair[0], scale * part, offset, user)
        value = user.output
        if x:
            yield Gated(x, scale, offset, user)
        user = graph.sole_user(value)


def between(graph: Graph, last: Node, *sources: str) -> set[Node]:
    """The nodes `last` depends on, without those that compute `sources` and constants."""
    found: set[Node] = set()
    pending = [*last.inputs]
    while pending:
        name = pending.pop()
        node = graph.producer(name)
        if node and node not in found and name not in sources:
            found.add(node)
            pending.extend(node.inputs)
    return found


def replace(
    graph: Graph, last: Node, x: str, op_type: str, suffix: str = "", **attributes: float | str
) -> bool:
    """Let `last` compute `op_type(x)`, if nothing outside needs what was between them."""
    inside = between(graph, last, x)
    if not graph.private(inside, last):
        return False
    graph.become(last, op_type, [x], suffix, **attributes)
    return True
