"""Pooling."""

from typing import Any

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

POOLS: dict[str, type[NamedOp]] = {
    "AveragePool": top.AvgPoolOp,
    "GlobalAveragePool": top.AvgPoolOp,
    "GlobalMaxPool": top.MaxPoolOp,
    "MaxPool": top.MaxPoolOp,
}


def convert_pool(context: Context, node: Node) -> None:
    """AveragePool, MaxPool -> top.AvgPool, top.MaxPool."""
    rank = len(node.attributes["kernel_shape"])
    if any(node.outputs[1:]):
        raise UnsupportedNode("its indices output is not supported")
    if any(size != 1 for size in node.attribute("dilations", [1])):
        raise UnsupportedNode("dilated pooling is not supported")
    attributes: dict[str, Any] = {
        "kernel_shape": node.attributes["kernel_shape"],
        "strides": node.attribute("strides", [1] * rank),
        "pads": node.attribute("pads", [0] * 2 * rank),
        "auto_pad": node.attribute("auto_pad", "NOTSET"),
        "ceil_mode": bool(node.attribute("ceil_mode", 0)),
        "count_include_pad": bool(node.attribute("count_include_pad", 0)),
    }
    node.outputs = node.outputs[:1]
    context.emit(node, POOLS[node.op_type], [context.value(node.inputs[0])], **attributes)


def convert_global_pool(context: Context, node: Node) -> None:
    """GlobalAveragePool, GlobalMaxPool -> a pool whose window shape inference settles."""
    context.emit(
        node,
        POOLS[node.op_type],
        [context.value(node.inputs[0])],
        kernel_shape=[],
        strides=[],
        pads=[],
        count_include_pad=True,
    )


CONVERTERS: dict[str, Converter] = {
    "AveragePool": convert_pool,
    "GlobalAveragePool": convert_global_pool,
    "GlobalMaxPool": convert_global_pool,
    "MaxPool": convert_pool,
}
