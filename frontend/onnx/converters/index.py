"""Reading and writing by indices, sorting, masks made from positions."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.far_index import FarIndex
from xdsl_tpu.dialects.integers import INTEGER, is_integer_tensor
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.converters.elementwise import TRUNCATED
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

Array = npt.NDArray[Any]

REDUCTIONS = {"none": 0, "add": 1, "max": 3, "min": 4, "mul": 5}
"""ONNX's names of scatter reductions and the numbers `top` has for them."""


def convert_gather(context: Context, node: Node) -> None:
    """Gather -> top.Gather; one index without dimensions drops the axis (keepdims false)."""
    shape = context.shape(node.inputs[0])
    axis = node.attribute("axis", 0)
    indices = _indices(context, node.inputs[1], shape, axis)
    context.emit(
        node,
        top.GatherOp,
        [context.value(node.inputs[0]), indices],
        axis=axis,
        keepdims=bool(context.shape(node.inputs[1])),
        is_scalar=not context.shape(node.output),
    )


def _indices(context: Context, name: str, shape: Sequence[int], axis: int) -> SSAValue:
    """Indices along an axis; constant ones that count from the end are made to count from 0."""
    data = context.graph.constant(name)
    if data is None:
        return context.value(name)
    places = _from_start(data, shape, axis)
    if np.array_equal(places, data):
        return context.value(name)
    return context.weight(f"{name}_from_{shape[axis]}", places)


def _from_start(data: Array, shape: Sequence[int], axis: int) -> Array:
    """Constant indices along an axis, counted from 0; raises UnsupportedNode for one beyond it."""
    size = shape[axis]
    beyond = data[(data < -size) | (data >= size)]
    if beyond.size:
        told = FarIndex(axis % len(shape), int(beyond[0])).told
        raise UnsupportedNode(f"{told} of its table {list(shape)}")
    return np.where(data < 0, data + size, data)


def convert_gather_elements(context: Context, node: Node) -> None:
    """GatherElements -> top.GatherElements."""
    shape = context.shape(node.inputs[0])
    axis = node.attribute("axis", 0) % len(shape)
    indices = _indices(context, node.inputs[1], shape, axis)
    operands = [context.value(node.inputs[0]), indices]
    context.emit(node, top.GatherElementsOp, operands, axis=axis)


def convert_gather_nd(context: Context, node: Node) -> None:
    """GatherND -> top.GatherND."""
    operands = [context.value(name) for name in node.inputs]
    context.emit(node, top.GatherNDOp, operands, batch_dims=node.attribute("batch_dims", 0))


def convert_scatter_elements(context: Context, node: Node) -> None:
    """ScatterElements -> top.ScatterElements; by maximum, minimum, product -> top.ScatterND."""
    shape = context.shape(node.inputs[0])
    axis = node.attribute("axis", 0) % len(shape)
    if _reduction(node) > 1:
        _scatter_joined(context, node, axis)
        return
    x, updates = context.value(node.inputs[0]), context.value(node.inputs[2])
    indices = _indices(context, node.inputs[1], shape, axis)
    context.emit(
        node,
        top.ScatterElementsOp,
        [x, indices, updates],
        axis=axis,
        reduction=_reduction(node),
    )


def _scatter_joined(context: Context, node: Node, axis: int) -> None:
    """Elements joined with what is there, as rows of one element of the flat input."""
    shape, places = context.shape(node.inputs[0]), context.shape(node.inputs[1])
    data = context.graph.constant(node.inputs[1])
    if data is None:
        raise UnsupportedNode("its indices must be constant for this reduction")
    at = list(np.indices(places))
    at[axis] = _from_start(data, shape, axis)
    rows = np.ravel_multi_index(at, shape).reshape(-1, 1)
    count, size = rows.size, prod(shape)
    flat = [
        context.step(node, label, top.ReshapeOp, [context.value(name)], (length,), shape=[length])
        for label, name, length in (
            ("flat", node.inputs[0], size),
            ("updates", node.inputs[2], count),
        )
    ]
    operands = [flat[0], context.weight(f"{node.output}_rows", rows), flat[1]]
    reduction = _reduction(node)
    joined = context.step(node, "joined", top.ScatterNDOp, operands, (size,), reduction=reduction)
    context.emit(node, top.ReshapeOp, [joined], shape=shape)


def convert_scatter_nd(context: Context, node: Node) -> None:
    """ScatterND -> top.ScatterND."""
    operands = [context.value(name) for name in node.inputs]
    context.emit(node, top.ScatterNDOp, operands, reduction=_reduction(node))


def _reduction(node: Node) -> int:
    name = node.attribute("reduction", "none")
    if name not in REDUCTIONS:
        raise UnsupportedNode(f"reduction '{name}' is not supported")
    return REDUCTIONS[name]


def convert_top_k(context: Context, node: Node) -> None:
    """TopK with a constant count -> top.TopK."""
    count = context.numbers(node.inputs[1], "K") or [1]
    rank = len(context.shape(node.inputs[0]))
    context.emit(
        node,
        top.TopKOp,
        [context.value(node.inputs[0])],
        axis=node.attribute("axis", -1) % rank,
        K=count[0],
        largest=bool(node.attribute("largest", 1)),
        sorted=bool(node.attribute("sorted", 1)),
    )


def convert_one_hot(context: Context, node: Node) -> None:
    """OneHot -> compare the indices with 0, 1, .. and -depth, .., then scale 0/1 to off/on.

    Integer results are scaled as integers.
    """
    depth = context.numbers(node.inputs[1], "depth")
    values = context.graph.constant(node.inputs[2])
    if depth is None or values is None:
        raise UnsupportedNode("its depth and values must be constant")
    off, on = (float(value) for value in values)
    shape, source = context.shape(node.output), context.shape(node.inputs[0])
    axis = node.attribute("axis", -1) % len(shape)
    spread = [*source[:axis], 1, *source[axis:]]
    indices = context.step(
        node, "indices", top.ReshapeOp, [context.value(node.inputs[0])], spread, shape=spread
    )
    hits: list[SSAValue] = []
    for label, first in (("from_start", 0), ("from_end", -depth[0])):
        places = np.arange(first, first + depth[0]).reshape(-1, *[1] * (len(shape) - axis - 1))
        kind = np.int64 if is_integer_tensor(indices) else np.float32
        weight = context.weight(f"{node.output}_{label}", places.astype(kind))
        operands = [indices, weight]
        hits.append(context.step(node, label, top.CompareOp, operands, shape, mode="Equal"))
    hit = context.step(node, "hit", top.AddOp, hits, shape)
    if context.graph.types[node.output].is_integer:
        name = f"{node.output}_OneHot_whole"
        hit = context.typed(name, top.CastOp, [hit], INTEGER, shape, **TRUNCATED)
    scaled = context.step(node, "scaled", top.MulConstOp, [hit], shape, const_val=on - off)
    context.emit(node, top.AddConstOp, [scaled], const_val=off)


def convert_trilu(context: Context, node: Node) -> None:
    """Trilu with a constant diagonal -> top.Trilu."""
    diagonal = context.numbers(node.input(1), "k") or [0]
    context.emit(
        node,
        top.TriluOp,
        [context.value(node.inputs[0])],
        upper=node.attribute("upper", 1),
        diagonal=diagonal[0],
    )


def convert_reverse_sequence(context: Context, node: Node) -> None:
    """ReverseSequence of whole sequences -> top.Reverse."""
    axis = node.attribute("time_axis", 0)
    size = context.shape(node.inputs[0])[axis]
    lengths = context.numbers(node.inputs[1], "sequence lengths") or []
    if any(length != size for length in lengths):
        raise UnsupportedNode("sequences of different lengths are not supported")
    context.emit(node, top.ReverseOp, [context.value(node.inputs[0])], axis=axis)


CONVERTERS: dict[str, Converter] = {
    "Gather": convert_gather,
    "GatherElements": convert_gather_elements,
    "GatherND": convert_gather_nd,
    "OneHot": convert_one_hot,
    "ReverseSequence": convert_reverse_sequence,
    "Scatter": convert_scatter_elements,
    "ScatterElements": convert_scatter_elements,
    "ScatterND": convert_scatter_nd,
    "TopK": convert_top_k,
    "Trilu": convert_trilu,
}
