"""Pooling."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.frontend.onnx.converters import dilated
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.converters.taps import LOWEST, Taps
from xdsl_tpu.frontend.onnx.graph import Node

POOLS: dict[str, type[NamedOp]] = {
    "AveragePool": top.AvgPoolOp,
    "GlobalAveragePool": top.AvgPoolOp,
    "GlobalMaxPool": top.MaxPoolOp,
    "MaxPool": top.MaxPoolOp,
}


def convert_pool(context: Context, node: Node) -> None:
    """AveragePool, MaxPool -> top.AvgPool, top.MaxPool; see `dilated` and `taps`."""
    x = context.value(node.inputs[0])
    if any(node.outputs[1:]):
        _max_pool_with_indices(context, node, x)
        return
    node.outputs = node.outputs[:1]
    if all(size == 1 for size in node.attribute("dilations", [1])):
        attributes = _attributes(node)
        attributes["count_include_pad"] = bool(node.attribute("count_include_pad", 0))
        context.emit(node, POOLS[node.op_type], [x], **attributes)
        return
    if node.op_type == "MaxPool":
        result = dilated.pooled(context, node, x, top.MaxPoolOp, LOWEST)
    else:
        padding = bool(node.attribute("count_include_pad", 0))
        result = dilated.mean(context, node, x, padding)
    context.emit(node, top.ReshapeOp, [result], shape=context.shape(node.output))


def _attributes(node: Node) -> dict[str, Any]:
    rank = len(node.attributes["kernel_shape"])
    return {
        "kernel_shape": node.attributes["kernel_shape"],
        "strides": node.attribute("strides", [1] * rank),
        "pads": node.attribute("pads", [0] * 2 * rank),
        "auto_pad": node.attribute("auto_pad", "NOTSET"),
        "ceil_mode": bool(node.attribute("ceil_mode", 0)),
    }


def _max_pool_with_indices(context: Context, node: Node, x: SSAValue) -> None:
    """MaxPool whose second output says where each maximum is."""
    values, places = Taps(context, node, x, LOWEST).largest(
        bool(node.attribute("storage_order", 0))
    )
    for name, value in zip(node.outputs, (values, places), strict=True):
        if name:
            context.bind(name, value)


def convert_lp_pool(context: Context, node: Node) -> None:
    """LpPool -> the sum of |x|^p over the window, that is its mean times its size, to 1 / p."""
    shape, target = context.shape(node.inputs[0]), context.shape(node.output)
    power = float(node.attribute("p", 2))
    x = _to_the(context, node, "power", context.value(node.inputs[0]), shape, power)
    plain = all(size == 1 for size in node.attribute("dilations", [1]))
    if plain and not node.attribute("ceil_mode", 0):
        attributes = _attributes(node) | {"count_include_pad": True}
        x = context.step(node, "mean", top.AvgPoolOp, [x], target, **attributes)
        size = float(prod(node.attributes["kernel_shape"]))
        x = context.step(node, "sum", top.MulConstOp, [x], target, const_val=size)
    else:
        x = dilated.total(context, node, x)
    _root(context, node, x, power)


def convert_global_lp_pool(context: Context, node: Node) -> None:
    """GlobalLpPool -> the sum of |x|^p over all positions, to 1 / p."""
    shape, target = context.shape(node.inputs[0]), context.shape(node.output)
    power = float(node.attribute("p", 2))
    x = _to_the(context, node, "power", context.value(node.inputs[0]), shape, power)
    axes = [*range(2, len(shape))]
    x = context.step(
        node, "sum", top.ReduceOp, [x], target, axes=axes, keepdims=True, mode="ReduceSum"
    )
    _root(context, node, x, power)


def _to_the(
    context: Context, node: Node, label: str, x: SSAValue, shape: Sequence[int], power: float
) -> SSAValue:
    """|x| to a power."""
    if power == 2:
        return context.step(node, label, top.MulOp, [x, x], shape)
    x = context.step(node, "abs", top.AbsOp, [x], shape)
    return x if power == 1 else context.step(node, label, top.PowOp, [x], shape, exponent=power)


def _root(context: Context, node: Node, x: SSAValue, power: float) -> None:
    """The op's result: x to 1 / power."""
    if power == 2:
        context.emit(node, top.SqrtOp, [x])
    elif power == 1:
        context.emit(node, top.ReshapeOp, [x], shape=context.shape(node.output))
    else:
        context.emit(node, top.PowOp, [x], exponent=1 / power)


def convert_max_unpool(context: Context, node: Node) -> None:
    """MaxUnpool -> top.ScatterElements into zeros."""
    x, target = context.value(node.inputs[0]), context.shape(node.output)
    count, size = prod(context.shape(node.inputs[0])), prod(target)
    zeros = context.weight(f"{node.output}_zeros", np.zeros(size, np.float32))
    flat = [
        context.step(node, label, top.ReshapeOp, [value], (count,), shape=[count])
        for label, value in (("places", context.value(node.inputs[1])), ("values", x))
    ]
    spread = context.step(node, "spread", top.ScatterElementsOp, [zeros, *flat], (size,), axis=0)
    context.emit(node, top.ReshapeOp, [spread], shape=target)


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
    "GlobalLpPool": convert_global_lp_pool,
    "GlobalMaxPool": convert_global_pool,
    "LpPool": convert_lp_pool,
    "MaxPool": convert_pool,
    "MaxUnpool": convert_max_unpool,
}
