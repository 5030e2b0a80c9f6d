"""Ops that are linear in their input, everything else being constant: one matrix product.

The matrix is what the ONNX reference implementation makes of every unit vector.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from xdsl_tpu.dialects.interpreters.numerics.grid_sample import grid_sample as sample
from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.converters.resize import GRID_MODES, GRID_PADDINGS
from xdsl_tpu.frontend.onnx.graph import Array, Node

MOST_PIXELS = 64
"""Of an image: reading so many numbers of a matrix takes as long as gathering the neighbours of
a place, and a matrix has a number for each pixel and place."""

CHANNELS_AT_ONCE = 32
"""Of a pixel: so many are gathered in the time of one."""


def grid_sample(body: Body) -> bool:
    """GridSample of small images on a constant grid -> MatMul of the pixels, per image.

    Others are left alone. Places of all images are read at once: the reference implementation
    goes pixel by pixel, which takes minutes where there are many.
    """
    grid = body.value(1)
    if grid is None:
        return False
    (batch, channels, *spatial), places = body.shape(0), grid.shape[1:-1]
    size, target = prod(spatial), prod(places)
    if size > MOST_PIXELS * max(1, channels // CHANNELS_AT_ONCE):
        return False
    node = body.node
    pixels = np.eye(size, dtype=np.float32).reshape(1, size, *spatial)
    sampled = sample(
        pixels,
        grid.astype(np.float32).reshape(1, -1, *(1,) * (len(places) - 1), len(places)),
        mode=GRID_MODES[node.attribute("mode", "linear")],
        padding_mode=GRID_PADDINGS.index(node.attribute("padding_mode", "zeros")),
        align_corners=bool(node.attribute("align_corners", 0)),
    )
    matrix = np.moveaxis(sampled.reshape(size, batch, target), 1, 0)
    flat = body.reshape(node.inputs[0], (batch, channels, size))
    product = body.add("MatMul", flat, body.constant(np.ascontiguousarray(matrix)))
    body.reshape(product, (batch, channels, *places), node.output)
    return True


def dft(body: Body) -> None:
    """DFT -> MatMul with the transform of unit vectors, over the axis and the complex parts."""
    node, shape = body.node, body.shape(0)
    rank, new = len(shape), node.opset >= DFT_AXIS_INPUT
    axes = (body.numbers(2, "axis") or [-2]) if new else [node.attribute("axis", 1)]
    axis, size, parts = axes[0] % rank, shape[axes[0]], shape[-1]
    length = body.numbers(1, "length")
    unit = np.eye(size * parts, dtype=np.float32).reshape(-1, size, parts)
    attributes = {key: value for key, value in node.attributes.items() if key != "axis"}
    extra: list[Array | None] = [None if length is None else np.array(length[0], np.int64)]
    if new:
        extra.append(np.array(1, np.int64))
    else:
        attributes["axis"] = 1
    images = _reference(node, [unit, *extra], attributes)
    _, points, complex_parts = images.shape
    matrix = images.reshape(size * parts, points * complex_parts)
    outer = [place for place in range(rank - 1) if place != axis]
    order = [*outer, axis, rank - 1]
    sizes = [shape[place] for place in outer]
    x = body.transpose(node.inputs[0], order)
    x = body.reshape(x, (*sizes, size * parts))
    x = body.reshape(body.add("MatMul", x, body.constant(matrix)), (*sizes, points, complex_parts))
    body.transpose(x, [order.index(place) for place in range(rank)], node.output)


DFT_AXIS_INPUT = 20
"""From this opset on the axis is an input."""


def _reference(node: Node, inputs: Sequence[Array | None], attributes: Mapping[str, Any]) -> Array:
    """What ONNX's reference implementation gives for these inputs; no attributes: the node's."""
    names = ["" if value is None else f"x{index}" for index, value in enumerate(inputs)]
    proto = helper.make_node(node.op_type, names, ["y"], **(attributes or node.attributes))
    evaluator = ReferenceEvaluator(proto, opsets={"": node.opset})
    feeds = {name: value for name, value in zip(names, inputs, strict=True) if name}
    # onnx leaves a parameter of `run` without a type
    results = evaluator.run(None, feeds)  # pyright: ignore[reportUnknownMemberType]
    return np.asarray(cast(list[Any], results)[0], np.float32)


COMPOSED: dict[str, Composition] = {"DFT": dft, "GridSample": grid_sample}
