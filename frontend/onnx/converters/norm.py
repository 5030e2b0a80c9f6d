"""Normalisations and softmax."""

from math import prod

from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def convert_batch_norm(context: Context, node: Node) -> None:
    """BatchNormalization -> top.BatchNorm, whose parameters come in another order."""
    x, gamma, beta, mean, variance = (context.value(name) for name in node.inputs)
    epsilon = node.attribute("epsilon", 1e-5)
    context.emit(node, top.BatchNormOp, [x, mean, variance, gamma, beta], epsilon=epsilon)


def convert_layer_norm(context: Context, node: Node) -> None:
    """LayerNormalization -> top.LayerNorm; parameters that change nothing are left out."""
    shape, axis = context.shape(node.inputs[0]), node.attribute("axis", -1)
    size = prod(shape[axis % len(shape) :])
    _statistics(context, node, [*range(axis % len(shape), len(shape))])
    node.outputs = node.outputs[:1]
    context.emit(
        node,
        top.LayerNormOp,
        [context.value(node.inputs[0]), *_affine(context, node, size)],
        axis=axis,
        eps=node.attribute("epsilon", 1e-5),
        normalized_shape=[],
    )


def _statistics(context: Context, node: Node, axes: list[int]) -> None:
    """The mean and 1 / deviation that LayerNormalization can give beside its result."""
    if not any(node.outputs[1:]):
        return
    x, shape = context.value(node.inputs[0]), context.shape(node.inputs[0])
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    how = {"axes": axes, "keepdims": True, "mode": "ReduceMean"}
    mean = context.step(node, "mean", top.ReduceOp, [x], kept, **how)
    apart = context.step(node, "apart", top.SubOp, [x, mean], shape)
    square = context.step(node, "square", top.MulOp, [apart, apart], shape)
    variance = context.step(node, "variance", top.ReduceOp, [square], kept, **how)
    epsilon = node.attribute("epsilon", 1e-5)
    positive = context.step(node, "positive", top.AddConstOp, [variance], kept, const_val=epsilon)
    inverse = context.step(node, "inverse", top.RsqrtOp, [positive], kept)
    for name, value in zip(node.outputs[1:], (mean, inverse), strict=False):
        if name:
            context.bind(name, value)


def convert_pixel_norm(context: Context, node: Node) -> None:
    """PixelNormalization, a recognised idiom -> top.PixelNorm."""
    parameters = _affine(context, node, context.shape(node.inputs[0])[1])
    eps = node.attribute("epsilon", 1e-5)
    context.emit(node, top.PixelNormOp, [context.value(node.inputs[0]), *parameters], eps=eps)


def convert_instance_norm(context: Context, node: Node) -> None:
    """InstanceNormalization -> top.InstanceNorm."""
    operands = [context.value(name) for name in node.inputs]
    context.emit(node, top.InstanceNormOp, operands, eps=node.attribute("epsilon", 1e-5))


def convert_group_norm(context: Context, node: Node) -> None:
    """GroupNormalization -> top.GroupNorm; parameters are per channel (opset 21)."""
    context.emit(
        node,
        top.GroupNormOp,
        [context.value(name) for name in node.inputs[:3]],
        num_groups=node.attributes["num_groups"],
        eps=node.attribute("epsilon", 1e-5),
    )


def _affine(context: Context, node: Node, size: int) -> list[SSAValue]:
    """Scale and bias; none when constant and neutral."""
    result: list[SSAValue] = []
    for index, neutral in ((1, 1.0), (2, 0.0)):
        name = node.input(index)
        data = context.graph.constant(name)
        if data is not None and bool((data == neutral).all()) and size % data.size == 0:
            name = ""
        if name and prod(context.shape(name)) != size:
            raise UnsupportedNode(f"its parameter '{name}' needs {size} elements")
        result.append(context.value(name))
    return result


def convert_rms_norm(context: Context, node: Node) -> None:
    """RMSNormalization -> top.RMSNorm, over several axes as one."""
    shape = context.shape(node.inputs[0])
    axis, epsilon = node.attribute("axis", -1) % len(shape), node.attribute("epsilon", 1e-5)
    operands, size = [context.value(name) for name in node.inputs], prod(shape[axis:])
    if axis == len(shape) - 1:
        context.emit(node, top.RMSNormOp, operands, eps=epsilon)
        return
    if prod(context.shape(node.inputs[1])) != size:
        raise UnsupportedNode(f"its scale needs {size} elements")
    flat = [prod(shape[:axis]), size]
    x = context.step(node, "flat", top.ReshapeOp, operands[:1], flat, shape=flat)
    gamma = context.step(node, "scale", top.ReshapeOp, operands[1:2], [size], shape=[size])
    y = context.step(node, "normal", top.RMSNormOp, [x, gamma], flat, eps=epsilon)
    context.emit(node, top.ReshapeOp, [y], shape=shape)


def convert_softmax(context: Context, node: Node) -> None:
    """Softmax, LogSoftmax -> top.Softmax.

    Before opset 13 the dimensions from `axis` on count as one; where that differs, the data is
    reshaped for it.
    """
    shape, log = context.shape(node.inputs[0]), node.op_type == "LogSoftmax"
    x = context.value(node.inputs[0])
    axis = node.attribute("axis", -1 if node.opset >= 13 else 1)
    first = axis % len(shape)
    if node.opset >= 13 or prod(shape[first + 1 :]) == 1:
        context.emit(node, top.SoftmaxOp, [x], axis=axis, log=log)
        return
    flat = (prod(shape[:first]), prod(shape[first:]))
    x = context.step(node, "flat", top.ReshapeOp, [x], flat, shape=flat)
    y = context.step(node, "softmax", top.SoftmaxOp, [x], flat, axis=1, log=log)
    context.emit(node, top.ReshapeOp, [y], shape=shape)


def convert_lrn(context: Context, node: Node) -> None:
    """LRN -> top.LRN."""
    context.emit(
        node,
        top.LRNOp,
        [context.value(node.inputs[0])],
        size=node.attributes["size"],
        alpha=node.attribute("alpha", 1e-4),
        beta=node.attribute("beta", 0.75),
        bias=node.attribute("bias", 1.0),
    )


CONVERTERS: dict[str, Converter] = {
    "BatchNormalization": convert_batch_norm,
    "GroupNormalization": convert_group_norm,
    "InstanceNormalization": convert_instance_norm,
    "LRN": convert_lrn,
    "LayerNormalization": convert_layer_norm,
    "LogSoftmax": convert_softmax,
    "PixelNormalization": convert_pixel_norm,
    "RMSNormalization": convert_rms_norm,
    "Softmax": convert_softmax,
}
