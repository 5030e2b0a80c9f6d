"""Products over an axis, by halves."""

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition


def reduce_prod(body: Body) -> None:
    """ReduceProd -> along each axis Mul of its halves, until one index is left."""
    shape, node = body.shape(0), body.node
    axes = body.numbers(1, "axes") or node.attribute("axes", list[int]())
    if not axes and not node.attribute("noop_with_empty_axes", 0):
        axes = [*range(len(shape))]
    x = node.inputs[0]
    for axis in sorted(axis % len(shape) for axis in axes):
        x = _product(body, x, axis, shape[axis])
    body.reshape(x, _reduced(shape, axes, bool(node.attribute("keepdims", 1))), node.output)


def _reduced(shape: tuple[int, ...], axes: list[int], keepdims: bool) -> list[int]:
    gone = {axis % len(shape) for axis in axes}
    if keepdims:
        return [1 if axis in gone else size for axis, size in enumerate(shape)]
    return [size for axis, size in enumerate(shape) if axis not in gone]


def _product(body: Body, x: str, axis: int, size: int) -> str:
    while size > 1:
        half = size // 2
        halves = (body.slice(x, axis, start, start + half) for start in (0, half))
        product = body.add("Mul", *halves)
        if size % 2:
            product = body.add("Concat", product, body.slice(x, axis, size - 1, size), axis=axis)
        x, size = product, half + size % 2
    return x


def cum_prod(body: Body) -> None:
    """CumProd -> y = y * (y moved by 1, 2, 4, .. with ones in front)."""
    shape, node = body.shape(0), body.node
    (axis,) = (index % len(shape) for index in body.numbers(1, "axis") or [0])
    reverse, size = bool(node.attribute("reverse", 0)), shape[axis]
    x = node.inputs[0]
    if node.attribute("exclusive", 0):
        x = _moved(body, x, shape, axis, 1, reverse)
    distance = 1
    while distance < size:
        x = body.add("Mul", x, _moved(body, x, shape, axis, distance, reverse))
        distance *= 2
    body.add("Identity", x, output=node.output)


def _moved(
    body: Body, x: str, shape: tuple[int, ...], axis: int, distance: int, reverse: bool
) -> str:
    """x moved along the axis, ones coming in."""
    size = shape[axis]
    sizes = [distance if place == axis else n for place, n in enumerate(shape)]
    dtype = np.float32 if body.is_float(0) else np.int32
    ones = body.add("CastLike", body.constant(np.ones(sizes, dtype)), x)
    if reverse:
        kept = body.slice(x, axis, distance, size)
        return body.add("Concat", kept, ones, axis=axis) if distance < size else ones
    kept = body.slice(x, axis, 0, size - distance)
    return body.add("Concat", ones, kept, axis=axis) if distance < size else ones


COMPOSED: dict[str, Composition] = {"CumProd": cum_prod, "ReduceProd": reduce_prod}
