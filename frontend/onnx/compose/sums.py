"""Running sums along axes for which a product with a triangle of ones would be too large."""

from math import isqrt

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition

LONGEST = 2048
"""Sums over more are done in blocks."""

UNIT = 64
"""Blocks are a multiple of it."""


def _in_blocks(body: Body) -> bool:
    """CumSum -> that of each block, plus those of the blocks' sums; False for short axes.

    What is padded is 0, and beyond the end: it changes no sum.
    """
    numbers = body.numbers(1, "axis") or [0]
    shape = body.shape(0)
    axis = numbers[0] % len(shape)
    length = shape[axis]
    if length <= LONGEST or not body.is_float(0):
        return False
    size = -(-isqrt(length) // UNIT) * UNIT
    blocks = -(-length // size)
    node, x = body.node, body.node.inputs[0]
    if blocks * size != length:
        pads = [0] * (2 * len(shape))
        pads[len(shape) + axis] = blocks * size - length
        x = body.add("Pad", x, body.constant(pads))
    taken = body.reshape(x, [*shape[:axis], blocks, size, *shape[axis + 1 :]])
    inner, outer = (body.constant([place]) for place in (axis + 1, axis))
    backwards = node.attribute("reverse", 0)
    exclusive = node.attribute("exclusive", 0)
    inside = body.add("CumSum", taken, inner, exclusive=exclusive, reverse=backwards)
    totals = body.reduce("ReduceSum", taken, [axis + 1], keepdims=True)
    before = body.add("CumSum", totals, outer, exclusive=1, reverse=backwards)
    both = body.add("Add", inside, before)
    whole = [*shape[:axis], blocks * size, *shape[axis + 1 :]]
    if blocks * size == length:
        body.reshape(both, whole, node.output)
    else:
        body.slice(body.reshape(both, whole), axis, 0, length, output=node.output)
    return True


COMPOSED: dict[str, Composition] = {"CumSum": _in_blocks}
