"""Resizing and sampling of images."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interpreters.numerics.resize import interpolate_axis
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.converters.products import product_along
from xdsl_tpu.frontend.onnx.converters.sampling import Sampling, matrix, outside, resized
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

MODES = frozenset({"nearest", "linear", "cubic"})
COORDINATES = frozenset({"align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel"})
"""Coordinates that `top.Interp` knows."""

LARGEST_MATRIX = 1 << 24
"""Elements of a constant matrix that an axis may be resized with."""

_VECTORS = 3
"""How many random vectors two ways to resize an axis are compared by."""


def convert_resize(context: Context, node: Node) -> None:
    """Resize -> top.Interp where that samples alike, else products with constant matrices.

    `top.Interp` resizes the last one or two dimensions of 3 or 4, nearest or linear. A nearest
    resize that only repeats elements is written with asymmetric coordinates, whichever way the
    model says it. One dimension is resized as an image of height 1.
    """
    source, target = context.shape(node.inputs[0]), context.shape(node.output)
    scales = _scales(context, node)
    ways = [_sampling(context, node, axis) for axis in range(len(source))]
    axes = [a for a in range(len(source)) if source[a] != target[a] or scales[a] != 1]
    axes += [a for a in range(len(source)) if _crops(ways[a]) and a not in axes]
    coordinates = _interp_coordinates(ways, source, target, scales, sorted(axes))
    if coordinates is None:
        _resize_by_products(context, node, sorted(axes), ways, scales)
        return
    attributes: dict[str, Any] = {"mode": ways[0].mode, "coord_mode": coordinates}
    attributes |= {"scale_h": scales[-2] if len(source) == 4 else 1.0, "scale_w": scales[-1]}
    x = context.value(node.inputs[0])
    if len(source) == 4:
        context.emit(node, top.InterpOp, [x, context.none], **attributes)
        return
    flat, wide = (*source[:2], 1, source[2]), (*target[:2], 1, target[2])
    x = context.step(node, "image", top.ReshapeOp, [x], flat, shape=flat)
    y = context.step(node, "resized", top.InterpOp, [x, context.none], wide, **attributes)
    context.emit(node, top.ReshapeOp, [y], shape=target)


def _crops(how: Sampling) -> bool:
    return how.coordinates == "tf_crop_and_resize"


def _sampling(context: Context, node: Node, axis: int) -> Sampling:
    """How one axis is read; raises UnsupportedNode for unknown ways."""
    mode = node.attribute("mode", "nearest")
    if mode not in MODES:
        raise UnsupportedNode(f"mode '{mode}' is not supported")
    is_smooth = bool(node.attribute("antialias", 0)) and mode != "nearest"
    how = Sampling(
        mode,
        node.attribute("coordinate_transformation_mode", "half_pixel"),
        node.attribute("nearest_mode", "round_prefer_floor"),
        node.attribute("cubic_coeff_a", -0.75),
        bool(node.attribute("exclude_outside", 0)) and (mode == "cubic" or is_smooth),
        is_smooth,
    )
    if not _crops(how):
        return how
    roi = context.graph.constant(node.input(1))
    axes = [a % _rank(context, node) for a in _axes(context, node)]
    if roi is None:
        raise UnsupportedNode("its region of interest must be constant")
    if axis not in axes:
        return replace(how, coordinates="half_pixel")
    place = axes.index(axis)
    return replace(how, start=float(roi[place]), end=float(roi[len(axes) + place]))


def _rank(context: Context, node: Node) -> int:
    return len(context.shape(node.inputs[0]))


def _axes(context: Context, node: Node) -> Sequence[int]:
    return node.attribute("axes", [*range(_rank(context, node))])


def _scales(context: Context, node: Node) -> list[float]:
    """Scale of every dimension, given or worked out from the sizes."""
    source, target = context.shape(node.inputs[0]), context.shape(node.output)
    result = [new / old for old, new in zip(source, target, strict=True)]
    axes = _axes(context, node)
    given = context.graph.constant(node.input(2))
    if node.input(2) and given is None:
        raise UnsupportedNode("its scales must be constant")
    if given is not None and given.size:
        for axis, scale in zip(axes, given, strict=True):
            result[axis] = float(scale)
        return result
    policy = node.attribute("keep_aspect_ratio_policy", "stretch")
    sizes = context.graph.constant(node.input(3))
    if policy == "stretch" or sizes is None:
        return result
    ratios = [float(size) / source[axis] for axis, size in zip(axes, sizes, strict=True)]
    for axis in axes:
        result[axis] = min(ratios) if policy == "not_larger" else max(ratios)
    return result


def _interp_coordinates(
    ways: Sequence[Sampling],
    source: Sequence[int],
    target: Sequence[int],
    scales: Sequence[float],
    axes: Sequence[int],
) -> str | None:
    """The coordinates with which `top.Interp` reads the same elements; None when none do.

    Both ways to resize an axis are linear: they are the same where they make the same of some
    random vectors.
    """
    how = ways[0]
    if len(source) not in (3, 4) or min(axes, default=2) < 2 or how.mode == "cubic":
        return None
    for axis in range(2, len(source)):
        if int(source[axis] * scales[axis] + 1e-6) != target[axis]:
            return None
    random = np.random.default_rng(0)
    vectors = {a: random.standard_normal((_VECTORS, source[a])) for a in axes}
    wanted = {a: resized(ways[a], vectors[a], target[a], scales[a]) for a in axes}
    for candidate in ("asymmetric", how.coordinates):
        if candidate in COORDINATES and all(
            np.allclose(
                wanted[a],
                interpolate_axis(vectors[a], 1, target[a], scales[a], how.mode, candidate),
                atol=1e-5,
            )
            for a in axes
        ):
            return candidate
    return None


def _resize_by_products(
    context: Context,
    node: Node,
    axes: Sequence[int],
    ways: Sequence[Sampling],
    scales: Sequence[float],
) -> None:
    """One product an axis; results outside the input are 0, plus the extrapolation value."""
    source, target = context.shape(node.inputs[0]), context.shape(node.output)
    if any(source[a] * target[a] > LARGEST_MATRIX for a in axes):
        raise UnsupportedNode(f"resizing {source} to {target} needs too large matrices")
    x, shape = context.value(node.inputs[0]), list(source)
    beyond = np.zeros((1,) * len(target), bool)
    for axis in axes:
        weights = matrix(ways[axis], source[axis], target[axis], scales[axis])
        if _crops(ways[axis]):
            gone = outside(ways[axis], source[axis], target[axis], scales[axis])
            weights[:, gone] = 0
            beyond = beyond | gone.reshape(-1, *(1,) * (len(target) - 1 - axis))
        x = product_along(context, node, x, shape, axis, weights)
        shape[axis] = target[axis]
    value = node.attribute("extrapolation_value", 0.0)
    if value and beyond.any():
        rest = context.weight(f"{node.output}_outside", np.where(beyond, value, 0.0))
        x = context.step(node, "extrapolated", top.AddOp, [x, rest], target)
    context.emit(node, top.ReshapeOp, [x], shape=target)


GRID_MODES = {"bilinear": 0, "linear": 0, "nearest": 1, "bicubic": 2, "cubic": 2}
"""Modes of GridSample, with their names before opset 20, as `top.GridSampler` counts them."""

GRID_PADDINGS = ("zeros", "border", "reflection")
"""Paddings of GridSample, in the order in which `top.GridSampler` counts them."""


def convert_grid_sample(context: Context, node: Node) -> None:
    """GridSample -> top.GridSampler."""
    context.emit(
        node,
        top.GridSamplerOp,
        [context.value(name) for name in node.inputs],
        mode=GRID_MODES[node.attribute("mode", "linear")],
        padding_mode=GRID_PADDINGS.index(node.attribute("padding_mode", "zeros")),
        align_corners=bool(node.attribute("align_corners", 0)),
    )


CONVERTERS: dict[str, Converter] = {
    "GridSample": convert_grid_sample,
    "Resize": convert_resize,
}
