"""Functions of one tensor."""

import math

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

SMALLEST_NORM = 1e-30
"""Stands for the norm of zeros, which stay zeros; its reciprocal is finite."""


def asin(body: Body) -> None:
    """Asin(x) -> pi / 2 - Acos(x)."""
    angle = body.add("Acos", body.node.inputs[0])
    body.add("Sub", body.constant(math.pi / 2), angle, output=body.node.output)


def acosh(body: Body) -> None:
    """Acosh(x) -> Log(x + Sqrt((x - 1) (x + 1)))."""
    x, one = body.node.inputs[0], body.constant(1.0)
    product = body.add("Mul", body.add("Sub", x, one), body.add("Add", x, one))
    body.add("Log", body.add("Add", x, body.add("Sqrt", product)), output=body.node.output)


def asinh(body: Body) -> None:
    """Asinh(x) -> Sign(x) Log(|x| + Sqrt(x x + 1)): the argument is never a small difference."""
    x = body.node.inputs[0]
    square = body.add("Add", body.add("Mul", x, x), body.constant(1.0))
    total = body.add("Add", body.add("Abs", x), body.add("Sqrt", square))
    body.add("Mul", body.add("Sign", x), body.add("Log", total), output=body.node.output)


def atan(body: Body) -> None:
    """Atan(x) -> pi / 2 - Acos(x / Sqrt(x x + 1)), with x held where its square is finite."""
    x = body.add("Clip", body.node.inputs[0], body.constant(-1e18), body.constant(1e18))
    square = body.add("Add", body.add("Mul", x, x), body.constant(1.0))
    angle = body.add("Acos", body.add("Div", x, body.add("Sqrt", square)))
    body.add("Sub", body.constant(math.pi / 2), angle, output=body.node.output)


def lp_normalization(body: Body) -> None:
    """LpNormalization(x) -> x / max(norm of x along the axis, 1e-30)."""
    x, rank = body.node.inputs[0], len(body.shape(0))
    kind = f"ReduceL{body.node.attribute('p', 2)}"
    norm = body.reduce(kind, x, [body.node.attribute("axis", -1) % rank], keepdims=True)
    safe = body.add("Max", norm, body.constant(SMALLEST_NORM))
    body.add("Div", x, safe, output=body.node.output)


def hardmax(body: Body) -> None:
    """Hardmax(x) -> Cast(ArgMax(x) == 0, 1, ..) along the axis.

    Before opset 13 the dimensions from `axis` on count as one.
    """
    x, shape = body.node.inputs[0], body.shape(0)
    if body.node.opset < 13:
        first = body.node.attribute("axis", 1) % len(shape)
        flat = (math.prod(shape[:first]), math.prod(shape[first:]))
        hits = _largest(body, body.reshape(x, flat), flat, 1)
        body.reshape(body.add("Cast", hits, to=1), shape, body.node.output)
        return
    hits = _largest(body, x, shape, body.node.attribute("axis", -1) % len(shape))
    body.add("Cast", hits, output=body.node.output, to=1)


def shrink(body: Body) -> None:
    """Shrink(x) -> x + bias below -lambd, x - bias above lambd, 0 between."""
    x = body.node.inputs[0]
    limit, bias = body.node.attribute("lambd", 0.5), body.node.attribute("bias", 0.0)
    above = body.add("Sub", x, body.constant(bias))
    below = body.add("Add", x, body.constant(bias))
    is_above = body.add("Greater", x, body.constant(limit))
    is_below = body.add("Less", x, body.constant(-limit))
    rest = body.add("Where", is_above, above, body.constant(0.0))
    body.add("Where", is_below, below, rest, output=body.node.output)


def compress(body: Body) -> None:
    """Compress with a constant condition -> Gather of the indices where it holds."""
    condition, node = body.value(1), body.node
    if condition is None:
        raise UnsupportedNode(f"its condition ('{node.input(1)}') must be constant")
    places = np.flatnonzero(condition).astype(np.int64)
    x, axis = node.inputs[0], node.attributes.get("axis")
    if axis is None:
        x, axis = body.reshape(x, [-1]), 0
    if not places.size:
        raise UnsupportedNode("its result is empty")
    body.add("Gather", x, body.constant(places), output=node.output, axis=axis)


def selu(body: Body) -> None:
    """Selu(x) -> gamma Elu(x)."""
    alpha = body.node.attribute("alpha", 1.6732632)
    gamma = body.node.attribute("gamma", 1.050701)
    curve = body.add("Elu", body.node.inputs[0], alpha=alpha)
    body.add("Mul", curve, body.constant(gamma), output=body.node.output)


def _largest(body: Body, x: str, shape: tuple[int, ...], axis: int) -> str:
    places = np.arange(shape[axis]).reshape(-1, *[1] * (len(shape) - axis - 1))
    index = body.add("ArgMax", x, axis=axis, keepdims=1)
    return body.add("Equal", index, body.constant(places))


COMPOSED: dict[str, Composition] = {
    "Compress": compress,
    "Acosh": acosh,
    "Asin": asin,
    "Asinh": asinh,
    "Atan": atan,
    "Hardmax": hardmax,
    "LpNormalization": lp_normalization,
    "Selu": selu,
    "Shrink": shrink,
}
