"""Grids of positions to sample at."""

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.graph import Array
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def affine_grid(body: Body) -> None:
    """AffineGrid(theta, size) -> MatMul of the positions of an even grid, and 1, with theta turned.

    theta (N, d, d + 1) maps positions from -1 to 1, the last dimension of the image first; the
    result is (N, spatial, d).
    """
    size = body.numbers(1, "size")
    if size is None:
        raise UnsupportedNode("it has no size")
    spatial = size[2:]
    aligned = body.node.attribute("align_corners", 0)
    lines = [_line(n, bool(aligned)) for n in reversed(spatial)]
    places = np.meshgrid(*reversed(lines), indexing="ij")
    even = [place.reshape(-1) for place in (*reversed(places), np.ones_like(places[0]))]
    points = body.constant(np.stack(even, 1).astype(np.float32))
    moved = body.add("MatMul", points, body.transpose(body.node.inputs[0], [0, 2, 1]))
    body.reshape(moved, (size[0], *spatial, len(spatial)), body.node.output)


def _line(count: int, aligned: bool) -> Array:
    """Positions of the elements of one dimension; of their centres unless corners are `aligned`."""
    if aligned:
        return np.linspace(-1, 1, count)
    return (2 * np.arange(count) + 1) / count - 1


COMPOSED: dict[str, Composition] = {"AffineGrid": affine_grid}
