"""Convolutions."""

import numpy as np

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def convert_conv(context: Context, node: Node) -> None:
    """Conv -> top.Conv."""
    filter_shape = context.shape(node.inputs[1])
    rank = len(filter_shape) - 2
    context.emit(
        node,
        top.ConvOp,
        [context.value(node.input(index)) for index in range(3)],
        kernel_shape=node.attribute("kernel_shape", [*filter_shape[2:]]),
        strides=node.attribute("strides", [1] * rank),
        dilations=node.attribute("dilations", [1] * rank),
        pads=node.attribute("pads", [0] * 2 * rank),
        auto_pad=node.attribute("auto_pad", "NOTSET"),
        group=node.attribute("group", 1),
        weight_is_coeff=int(node.inputs[1] in context.graph.constants),
    )


def convert_conv_transpose(context: Context, node: Node) -> None:
    """ConvTranspose -> top.Deconv, its filter turned from C, OC / group to OC, C / group."""
    name = node.inputs[1]
    data = context.graph.constant(name)
    if data is None:
        raise UnsupportedNode("its filter must be constant")
    group = node.attribute("group", 1)
    channels, per_group, *kernel = data.shape
    swapped = data.reshape(group, channels // group, per_group, *kernel).swapaxes(1, 2)
    filter_ = swapped.reshape(group * per_group, channels // group, *kernel)
    extra = node.attribute("output_padding", [0] * len(kernel))
    context.emit(
        node,
        top.DeconvOp,
        [
            context.value(node.inputs[0]),
            context.weight(f"{name}_fix", filter_),
            context.value(node.input(2)),
        ],
        kernel_shape=kernel,
        strides=node.attribute("strides", [1] * len(kernel)),
        dilations=node.attribute("dilations", [1] * len(kernel)),
        pads=_transposed_pads(context, node, kernel, extra),
        output_padding=extra,
        group=group,
    )


def _transposed_pads(
    context: Context, node: Node, kernel: list[int], extra: list[int]
) -> list[int]:
    """Padding, worked out from the output's size when the node gives that instead.

    ONNX operators, ConvTranspose: the odd element goes after, but for SAME_LOWER before... of
    the *output*, hence the names look swapped.
    """
    auto_pad = node.attribute("auto_pad", "NOTSET")
    if auto_pad in ("NOTSET", "VALID") and "output_shape" not in node.attributes:
        return node.attribute("pads", [0] * 2 * len(kernel))
    strides = node.attribute("strides", [1] * len(kernel))
    dilations = node.attribute("dilations", [1] * len(kernel))
    source = np.array(context.shape(node.inputs[0])[2:])
    target = np.array(context.shape(node.output)[2:])
    extent = (np.array(kernel) - 1) * dilations + 1
    total = strides * (source - 1) + extra + extent - target
    small, large = total // 2, total - total // 2
    before, after = (small, large) if auto_pad == "SAME_UPPER" else (large, small)
    return [int(size) for size in (*before, *after)]


CONVERTERS: dict[str, Converter] = {
    "Conv": convert_conv,
    "ConvTranspose": convert_conv_transpose,
}
