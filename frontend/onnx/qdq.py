"""Quantised models in QDQ form: pairs of QuantizeLinear and DequantizeLinear become ranges.

A pair says that a tensor is held in 8-bit integers, and in which: that is what a calibrated range
says in `top`. So the pair goes, the tensor keeps its range, and the INT8 lowering makes the same
integers of it; every other lowering ignores ranges. Constants behind a DequantizeLinear have been
computed before; their scale stays with them, so that quantising them again is exact.

Integers that begin with 0 are a ReLU or a Clip, which quantisers take away in front of them: it is
put back. Pairs in 16 bits, and in floats of 8, say nothing of ranges: such tensors are floats.
"""

import math
from collections.abc import Iterator

import numpy as np

from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node
from xdsl_tpu.frontend.onnx.problems import Problem, UnsupportedNode, node_problem

LIMITS = {"int8": (-128, 127), "uint8": (0, 255)}
"""Types of quantised tensors, and their integers."""

FLOATS = frozenset(
    ["int16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "uint16"]
)
"""Types that are computed in floats, which are not rounded to them."""


def dissolve_pairs(graph: Graph) -> Iterator[Problem]:
    """Replace pairs by ranges of the tensors they quantise; gives what cannot be replaced."""
    for node in graph.nodes:
        if node.op_type != "QuantizeLinear" or node not in graph:
            continue
        try:
            _dissolve(graph, node)
        except UnsupportedNode as error:
            types = [graph.types.get(name) for name in node.inputs]
            yield node_problem(node, types, str(error))


def weight_scales(node: Node, inputs: list[Array | None]) -> Array | None:
    """The scales of a constant DequantizeLinear that symmetric 8 bits can keep; else None.

    One scale, or one for each index of the first axis; no zero point but 0.
    """
    data, scale = inputs[0], inputs[1]
    zero = inputs[2] if len(inputs) > 2 else None
    if data is None or scale is None or node.attribute("block_size", 0):
        return None
    if data.dtype.name not in ("int4", "int8"):
        return None
    if zero is not None and zero.any():
        return None
    if scale.size == 1 or (scale.shape == data.shape[:1] and node.attribute("axis", 1) == 0):
        return scale.reshape(-1).astype(np.float64)
    return None


def _dissolve(graph: Graph, node: Node) -> None:
    found = _range(graph, node)
    readers = graph.users(node.output)
    if node.output in graph.outputs or any(r.op_type != "DequantizeLinear" for r in readers):
        raise UnsupportedNode("its integers are used as they are; only pairs are supported")
    for reader in readers:
        if _parameters(graph, reader) != _parameters(graph, node):
            raise UnsupportedNode(f"'{reader.title}' behind it has another scale or zero point")
    source, is_known = node.inputs[0], graph.types[node.output].dtype in LIMITS
    if found[0] == 0 and readers and not _is_positive(graph, source):
        first, *readers = readers
        bounds = [f"{first.output}_{label}" for label in ("lowest", "highest")]
        for name, bound in zip(bounds, found, strict=True):
            graph.add_constant(name, np.array(bound, np.float32))
        graph.become(first, "Clip", [source, *bounds])
        if is_known:
            graph.ranges.setdefault(source, (-found[1], found[1]))
            graph.ranges.setdefault(first.output, found)
        source = first.output
    elif is_known:
        graph.ranges.setdefault(source, found)
    for reader in readers:
        graph.alias(reader, source)


LOWEST: dict[str, float] = {
    **dict.fromkeys(("Abs", "Exp", "HardSigmoid", "Relu", "ReduceL2", "Sigmoid", "Softmax"), 0.0),
    **dict.fromkeys(("Softplus", "Sqrt"), 0.0),
    **dict.fromkeys(("Cos", "Erf", "Sin", "Tanh"), -1.0),
}
"""The lowest result of functions."""

KEEPING = frozenset(
    [
        "AveragePool",
        "Concat",
        "Flatten",
        "Gather",
        "GlobalAveragePool",
        "GlobalMaxPool",
        "Identity",
        "MaxPool",
        "ReduceMax",
        "ReduceMean",
        "Reshape",
        "Resize",
        "Slice",
        "Split",
        "Squeeze",
        "Transpose",
        "Unsqueeze",
    ]
)
"""Ops whose results are not below all of their operands; a Resize that is cubic swings below."""


def _is_positive(graph: Graph, value: str) -> bool:
    """Whether integers that begin with 0 cut nothing off: quantisers leave a ReLU to them."""
    return _lowest(graph, value, {}) >= 0


def _lowest(graph: Graph, value: str, seen: dict[str, float]) -> float:
    """A number that no element of a value is below.

    What a network is given counts as what it was quantised for.
    """
    node = graph.producer(value)
    if node is None:
        constant = graph.constant(value)
        is_number = constant is not None and constant.dtype.kind == "f" and constant.size > 0
        return float(constant.min()) if is_number and constant is not None else 0.0
    if value not in seen:
        known = graph.ranges.get(value)
        seen[value] = -math.inf if known is None else known[0]
        seen[value] = max(seen[value], _lowest_result(graph, node, seen))
    return seen[value]


def _lowest_result(graph: Graph, node: Node, seen: dict[str, float]) -> float:
    if node.op_type in LOWEST:
        return LOWEST[node.op_type]
    operands = [_lowest(graph, name, seen) for name in filter(None, node.inputs)]
    if node.op_type == "Add":
        return sum(operands)
    if node.op_type == "Mul":
        is_square = node.inputs[0] == node.inputs[1]
        return 0.0 if is_square or min(operands) >= 0 else -math.inf
    keeps = node.op_type in KEEPING and node.attribute("mode", "") != "cubic"
    return min(operands) if keeps else -math.inf


def _parameters(graph: Graph, node: Node) -> tuple[float, int]:
    scale, zero = graph.constant(node.inputs[1]), graph.constant(node.input(2))
    if scale is None or (node.input(2) and zero is None):
        raise UnsupportedNode("its scale and zero point must be constant")
    if scale.size != 1 or node.attribute("block_size", 0):
        raise UnsupportedNode("a tensor that is computed needs one scale, not several")
    return float(scale.reshape(())), 0 if zero is None else int(zero.reshape(()))


def _range(graph: Graph, node: Node) -> tuple[float, float]:
    """The numbers the integers stand for; symmetric ones as +-127 steps.

    Zero point 128 of uint8 is the same as 0 of int8. From below zero to above it for floats.
    """
    kind = graph.types[node.output].dtype
    if kind not in LIMITS and kind not in FLOATS:
        known = ", ".join(sorted((*LIMITS, *FLOATS)))
        raise UnsupportedNode(f"quantisation to {kind} is not supported, only to {known}")
    scale, zero = _parameters(graph, node)
    if kind not in LIMITS:
        return (0.0 if kind == "uint16" and not zero else -65535 * scale), 65535 * scale
    low, high = LIMITS[kind]
    if low - zero == -128:
        return -127 * scale, 127 * scale
    return (low - zero) * scale, (high - zero) * scale
