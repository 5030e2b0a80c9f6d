"""Transposed convolutions whose filter is computed, as convolutions."""

from collections.abc import Sequence

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def conv_transpose(body: Body) -> bool:
    """ConvTranspose(x, w) with a computed filter -> Conv of x with zeros between its elements.

    The filter (C, OC / group, kernel) is turned to (OC, C / group, kernel) and round. One that is
    constant is left to the converter.
    """
    node = body.node
    if body.value(1) is not None:
        return False
    if node.attribute("auto_pad", "NOTSET") != "NOTSET" or "output_shape" in node.attributes:
        raise UnsupportedNode("a computed filter needs pads, not auto_pad or output_shape")
    channels, per_group, *kernel = body.shape(1)
    rank, group = len(kernel), node.attribute("group", 1)
    strides = node.attribute("strides", [1] * rank)
    dilations = node.attribute("dilations", [1] * rank)
    pads = node.attribute("pads", [0] * 2 * rank)
    extra = node.attribute("output_padding", [0] * rank)
    reach = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    before = [r - p for r, p in zip(reach, pads[:rank], strict=True)]
    after = [
        r - p + e - (s - 1) for r, p, e, s in zip(reach, pads[rank:], extra, strides, strict=True)
    ]
    x = _spread(body, strides)
    x = body.add("Pad", x, body.constant([0, 0, *before, 0, 0, *after]))
    split = (group, channels // group, per_group, *kernel)
    filter_ = body.reshape(node.inputs[1], split)
    filter_ = body.transpose(filter_, [0, 2, 1, *range(3, 3 + rank)])
    filter_ = body.reshape(filter_, (group * per_group, channels // group, *kernel))
    for axis, size in enumerate(kernel, 2):
        backwards = body.constant(np.arange(size)[::-1].copy())
        filter_ = body.add("Gather", filter_, backwards, axis=axis)
    bias = [node.inputs[2]] if node.input(2) else []
    body.add("Conv", x, filter_, *bias, output=node.output, group=group, dilations=dilations)
    return True


def _spread(body: Body, strides: Sequence[int]) -> str:
    """x (N, C, spatial) with stride - 1 zeros behind each element of every dimension."""
    x, shape = body.node.inputs[0], body.shape(0)
    if max(strides) == 1:
        return x
    apart = [n for size in shape[2:] for n in (size, 1)]
    x = body.reshape(x, (*shape[:2], *apart))
    after = [n for stride in strides for n in (0, stride - 1)]
    x = body.add("Pad", x, body.constant([0] * len(after) + [0] * 4 + after))
    sizes = [size * stride for size, stride in zip(shape[2:], strides, strict=True)]
    return body.reshape(x, (*shape[:2], *sizes))


COMPOSED: dict[str, Composition] = {"ConvTranspose": conv_transpose}
