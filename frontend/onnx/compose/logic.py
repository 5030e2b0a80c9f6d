"""Conditions joined with constants that decide nothing, or everything."""

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition


def _joined(body: Body, neutral: bool) -> bool:
    """And(x, all true) -> x, Or(x, all false) -> x; stretched to the shape of the result.

    Masks of attention come so: that of the padding, for all rows, and one for rows that hides
    nothing. Written as an Expand, what reads it may do without the copies.
    """
    for index in (0, 1):
        constant, other = body.value(index), body.node.inputs[1 - index]
        if constant is None or body.value(1 - index) is not None:
            continue
        if np.all(constant.astype(bool) == neutral):
            shape = np.broadcast_shapes(body.shape(0), body.shape(1))
            if shape == body.shape(1 - index):
                body.add("Identity", other, output=body.node.output)
            else:
                body.add("Expand", other, body.constant(shape), output=body.node.output)
            return True
    return False


def logical_and(body: Body) -> bool:
    """And(x, all true) -> x."""
    return _joined(body, neutral=True)


def logical_or(body: Body) -> bool:
    """Or(x, all false) -> x."""
    return _joined(body, neutral=False)


COMPOSED: dict[str, Composition] = {"And": logical_and, "Or": logical_or}
