"""Dilated pools by plain ones, one dimension after the other.

Elements that are `dilation` apart are the rows of an image with `dilation` columns; a pool along
the columns by 1 gives the result at every place, of which a slice takes those of the stride.
"""

from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.frontend.onnx.converters.context import Context
from xdsl_tpu.frontend.onnx.converters.taps import Axis, axes_of
from xdsl_tpu.frontend.onnx.graph import Node


def pooled(context: Context, node: Node, x: SSAValue, op: type[NamedOp], fill: float) -> SSAValue:
    """The maximum, or the sum over the product of all kernel sizes, of every window."""
    shape = list(context.shape(node.inputs[0]))
    for place, axis in enumerate(axes_of(context, node)):
        x = _along(context, node, x, shape, 2 + place, axis, op, fill)
        shape[2 + place] = axis.out
    return x


def _along(
    context: Context,
    node: Node,
    x: SSAValue,
    shape: list[int],
    place: int,
    axis: Axis,
    op: type[NamedOp],
    fill: float,
) -> SSAValue:
    outer, inner = prod(shape[:place]), prod(shape[place + 1 :])
    rows = -(-(axis.before + axis.size + axis.missing) // axis.dilation)
    length = rows * axis.dilation
    places = rows - axis.kernel + 1

    def reshaped(label: str, value: SSAValue, sizes: tuple[int, ...]) -> SSAValue:
        return context.step(node, f"{label}{place}", top.ReshapeOp, [value], sizes, shape=[*sizes])

    x = reshaped("lines", x, (outer, axis.size, inner))
    paddings = [0, axis.before, 0, 0, length - axis.before - axis.size, 0]
    if any(paddings):
        x = context.step(
            node,
            f"padded{place}",
            top.PadOp,
            [x],
            (outer, length, inner),
            paddings=paddings,
            val=fill,
            mode="constant",
        )
    x = reshaped("phases", x, (outer, 1, rows, axis.dilation * inner))
    x = context.step(
        node,
        f"pooled{place}",
        op,
        [x],
        (outer, 1, places, axis.dilation * inner),
        kernel_shape=[axis.kernel, 1],
        strides=[1, 1],
        pads=[0] * 4,
        count_include_pad=True,
    )
    x = reshaped("places", x, (outer, places * axis.dilation, inner))
    x = context.step(
        node,
        f"strided{place}",
        top.SliceOp,
        [x, *[context.none] * 3],
        (outer, axis.out, inner),
        offset=[0, 0, 0],
        ends=[outer, (axis.out - 1) * axis.stride + 1, inner],
        steps=[1, axis.stride, 1],
    )
    return reshaped("pools", x, (*shape[:place], axis.out, *shape[place + 1 :]))


def mean(context: Context, node: Node, x: SSAValue, padding: bool) -> SSAValue:
    """The mean of every window; padding counts if asked for, what is beyond it never."""
    shape, axes = context.shape(node.output), axes_of(context, node)
    factor = np.ones((1,) * len(shape))
    for place, axis in enumerate(axes):
        spread = [1] * len(shape)
        spread[2 + place] = axis.out
        factor = factor * (axis.kernel / axis.counts(padding)).reshape(spread)
    weight = context.weight(f"{node.output}_factors", factor)
    total = pooled(context, node, x, top.AvgPoolOp, 0.0)
    return context.step(node, "mean", top.MulOp, [total, weight], shape)


def total(context: Context, node: Node, x: SSAValue) -> SSAValue:
    """The sum of every window."""
    size = float(prod(axis.kernel for axis in axes_of(context, node)))
    parts = pooled(context, node, x, top.AvgPoolOp, 0.0)
    shape = context.shape(node.output)
    return context.step(node, "total", top.MulConstOp, [parts], shape, const_val=size)
