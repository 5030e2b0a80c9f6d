"""Nodes of quantised models."""

import numpy as np

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def _parameters(context: Context, node: Node) -> tuple[list[float], list[int]]:
    scale = context.graph.constant(node.inputs[1])
    zero = context.graph.constant(node.input(2))
    if scale is None or (node.input(2) and zero is None):
        raise UnsupportedNode("its scale and zero point must be constant")
    if node.attribute("block_size", 0):
        raise UnsupportedNode("blocked quantisation is not supported")
    scales = [float(value) for value in scale.reshape(-1)]
    zeros = np.zeros(len(scales)) if zero is None else zero.reshape(-1)
    return scales, [int(value) for value in zeros]


def convert_quantize(context: Context, node: Node) -> None:
    """QuantizeLinear -> top.QuantizeLinear."""
    scales, zeros = _parameters(context, node)
    context.emit(
        node,
        top.QuantizeLinearOp,
        [context.value(node.inputs[0])],
        y_scale=scales,
        y_zero_point=zeros,
        axis=node.attribute("axis", 1),
    )


def convert_dequantize(context: Context, node: Node) -> None:
    """DequantizeLinear -> top.DequantizeLinear."""
    scales, zeros = _parameters(context, node)
    context.emit(
        node,
        top.DequantizeLinearOp,
        [context.value(node.inputs[0])],
        x_scale=scales,
        x_zero_point=zeros,
        axis=node.attribute("axis", 1),
    )


CONVERTERS: dict[str, Converter] = {
    "DequantizeLinear": convert_dequantize,
    "QuantizeLinear": convert_quantize,
}
