"""Resizing and sampling of images."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

Positions = npt.NDArray[np.float64]

COORDINATES = frozenset({"align_corners", "asymmetric", "half_pixel", "pytorch_half_pixel"})


def _prefer_ceil(positions: Positions) -> Positions:
    return np.floor(positions + 0.5)


def _prefer_floor(positions: Positions) -> Positions:
    return np.ceil(positions - 0.5)


ROUNDINGS: dict[str, Callable[[Positions], Positions]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round_prefer_ceil": _prefer_ceil,
    "round_prefer_floor": _prefer_floor,
}


def convert_resize(context: Context, node: Node) -> None:
    """Resize of the last one or two dimensions, nearest or linear -> top.Interp.

    A nearest resize that only repeats elements is written with asymmetric coordinates,
    whichever way the model says it. One dimension is resized as an image of height 1.
    """
    x, source = context.value(node.inputs[0]), context.shape(node.inputs[0])
    target = context.shape(node.output)
    scales = _scales(context, node)
    if len(source) not in (3, 4) or source[:2] != target[:2]:
        raise UnsupportedNode(f"resizing {source} to {target} is not supported")
    mode, coordinates = _mode(node, source[2:], target[2:], scales[2:])
    attributes: dict[str, Any] = {"mode": mode, "coord_mode": coordinates}
    attributes |= {"scale_h": scales[-2] if len(source) == 4 else 1.0, "scale_w": scales[-1]}
    if len(source) == 4:
        context.emit(node, top.InterpOp, [x, context.none], **attributes)
        return
    flat, wide = (*source[:2], 1, source[2]), (*target[:2], 1, target[2])
    x = context.step(node, "image", top.ReshapeOp, [x], flat, shape=flat)
    y = context.step(node, "resized", top.InterpOp, [x, context.none], wide, **attributes)
    context.emit(node, top.ReshapeOp, [y], shape=target)


def _scales(context: Context, node: Node) -> list[float]:
    """Scale of every dimension, given or worked out from the sizes."""
    source, target = context.shape(node.inputs[0]), context.shape(node.output)
    result = [new / old for old, new in zip(source, target, strict=True)]
    given = context.graph.constant(node.input(2))
    if node.input(2) and given is None:
        raise UnsupportedNode("its scales must be constant")
    if given is not None and given.size:
        axes = node.attribute("axes", [*range(len(source))])
        for axis, scale in zip(axes, given, strict=True):
            result[axis] = float(scale)
    elif node.attribute("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise UnsupportedNode("keeping the aspect ratio is not supported")
    return result


def _mode(
    node: Node, source: tuple[int, ...], target: tuple[int, ...], scales: list[float]
) -> tuple[str, str]:
    mode = node.attribute("mode", "nearest")
    coordinates = node.attribute("coordinate_transformation_mode", "half_pixel")
    if mode not in ("nearest", "linear") or node.attribute("antialias", 0):
        raise UnsupportedNode(f"{mode} interpolation, or antialiasing, is not supported")
    if coordinates not in COORDINATES:
        raise UnsupportedNode(f"coordinates '{coordinates}' are not supported")
    if mode == "linear":
        return mode, coordinates
    for candidate in ("asymmetric", coordinates):
        rounding = "floor" if candidate == "asymmetric" else "round_prefer_floor"
        wanted = node.attribute("nearest_mode", "round_prefer_floor")
        if all(
            np.array_equal(
                _nearest(old, new, scale, coordinates, wanted),
                _nearest(old, new, scale, candidate, rounding),
            )
            for old, new, scale in zip(source, target, scales, strict=True)
        ):
            return mode, candidate
    raise UnsupportedNode(f"nearest mode '{wanted}' with '{coordinates}' is not supported")


def _nearest(old: int, new: int, scale: float, coordinates: str, rounding: str) -> Positions:
    """Which element each of `new` reads (ONNX operators, Resize)."""
    index = np.arange(new, dtype=np.float64)
    if coordinates == "align_corners":
        index *= (old - 1) / (new - 1) if new > 1 else 0.0
    elif coordinates == "asymmetric":
        index /= scale
    elif coordinates == "pytorch_half_pixel" and new == 1:
        index *= 0
    else:
        index = (index + 0.5) / scale - 0.5
    return np.clip(ROUNDINGS[rounding](index), 0, old - 1)


def convert_grid_sample(context: Context, node: Node) -> None:
    """GridSample -> top.GridSampler."""
    modes = {"bilinear": 0, "linear": 0, "nearest": 1}
    mode = node.attribute("mode", "bilinear")
    if mode not in modes:
        raise UnsupportedNode(f"{mode} sampling is not supported")
    paddings = ("zeros", "border", "reflection")
    context.emit(
        node,
        top.GridSamplerOp,
        [context.value(name) for name in node.inputs],
        mode=modes[mode],
        padding_mode=paddings.index(node.attribute("padding_mode", "zeros")),
        align_corners=bool(node.attribute("align_corners", 0)),
    )


CONVERTERS: dict[str, Converter] = {
    "GridSample": convert_grid_sample,
    "Resize": convert_resize,
}
