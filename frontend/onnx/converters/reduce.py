"""Reductions and scans."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.frontend.onnx.converters.context import Context, Converter
from xdsl_tpu.frontend.onnx.converters.products import product_along
from xdsl_tpu.frontend.onnx.graph import Node

PLAIN = frozenset({"ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum"})


def convert_reduce(context: Context, node: Node) -> None:
    """ReduceMean, ReduceSum, .. -> top.Reduce of the same name."""
    axes, x = _axes(context, node), context.value(node.inputs[0])
    if not axes:
        context.bind(node.output, x)
        return
    _emit(context, node, x, axes, node.op_type)


def convert_sum_square(context: Context, node: Node) -> None:
    """ReduceSumSquare -> top.Mul(x, x), then ReduceSum."""
    x = context.value(node.inputs[0])
    square = context.step(node, "square", top.MulOp, [x, x], context.shape(node.inputs[0]))
    _emit(context, node, square, _axes(context, node), "ReduceSum")


def convert_log_sum(context: Context, node: Node) -> None:
    """ReduceLogSum -> ReduceSum, then top.Log."""
    total = _step(context, node, "sum", context.value(node.inputs[0]), "ReduceSum")
    context.emit(node, top.LogOp, [total])


def convert_log_sum_exp(context: Context, node: Node) -> None:
    """ReduceLogSumExp(x) -> m + Log(ReduceSum(Exp(x - m))) with m = ReduceMax(x)."""
    x, shape = context.value(node.inputs[0]), context.shape(node.inputs[0])
    axes = _axes(context, node)
    kept = [1 if axis in axes else size for axis, size in enumerate(shape)]
    largest = _kept(context, node, "max", x, axes, kept, "ReduceMax")
    shifted = context.step(node, "shifted", top.SubOp, [x, largest], shape)
    powers = context.step(node, "exp", top.ExpOp, [shifted], shape)
    total = _kept(context, node, "sum", powers, axes, kept, "ReduceSum")
    logarithm = context.step(node, "log", top.LogOp, [total], kept)
    if node.attribute("keepdims", 1):
        context.emit(node, top.AddOp, [logarithm, largest])
        return
    result = context.step(node, "add", top.AddOp, [logarithm, largest], kept)
    scalar = not context.shape(node.output)
    context.emit(node, top.SqueezeOp, [result], axes=axes, is_scalar=scalar)


def convert_arg(context: Context, node: Node) -> None:
    """ArgMax, ArgMin -> top.Arg without its values."""
    shape = context.shape(node.inputs[0])
    index = node.output
    node.outputs = [index, ""]
    context.emit(
        node,
        top.ArgOp,
        [context.value(node.inputs[0])],
        axis=node.attribute("axis", 0) % len(shape),
        keepdims=bool(node.attribute("keepdims", 1)),
        mode=node.op_type,
        select_last_index=bool(node.attribute("select_last_index", 0)),
    )


def convert_cumsum(context: Context, node: Node) -> None:
    """CumSum -> top.CumSum; exclusive and reverse sums -> a product with a triangle of ones, or
    of integers, which no product is exact for, the total - sum + x and the sum - x."""
    axes, shape = context.numbers(node.inputs[1], "axis") or [0], context.shape(node.inputs[0])
    axis, x = axes[0] % len(shape), context.value(node.inputs[0])
    exclusive, reverse = node.attribute("exclusive", 0), node.attribute("reverse", 0)
    if not exclusive and not reverse:
        context.emit(node, top.CumSumOp, [x, context.none], axis=axis)
        return
    if is_integer_tensor(x):
        _integer_cumsum(context, node, x, axis, exclusive=bool(exclusive), reverse=bool(reverse))
        return
    ones = np.tri(shape[axis], k=-1 if exclusive else 0)
    total = product_along(context, node, x, shape, axis, ones if reverse else ones.T)
    context.emit(node, top.ReshapeOp, [total], shape=shape)


def _integer_cumsum(
    context: Context, node: Node, x: SSAValue, axis: int, *, exclusive: bool, reverse: bool
) -> None:
    shape = context.shape(node.inputs[0])
    sums = context.step(node, "sums", top.CumSumOp, [x, context.none], shape, axis=axis)
    if not reverse:
        context.emit(node, top.SubOp, [sums, x])
        return
    kept = [1 if place == axis else size for place, size in enumerate(shape)]
    total = _kept(context, node, "total", x, [axis], kept, "ReduceSum")
    if exclusive:
        context.emit(node, top.SubOp, [total, sums])
        return
    before = context.step(node, "before", top.SubOp, [sums, x], shape)
    context.emit(node, top.SubOp, [total, before])


def _axes(context: Context, node: Node) -> list[int]:
    """Axes counted from 0: the second input, the attribute, or all of them."""
    rank = len(context.shape(node.inputs[0]))
    axes = context.numbers(node.input(1), "axes") or node.attribute("axes", list[int]())
    if not axes and not node.attribute("noop_with_empty_axes", 0):
        axes = range(rank)
    return sorted(axis % rank for axis in axes)


def _emit(context: Context, node: Node, value: SSAValue, axes: Sequence[int], mode: str) -> None:
    context.emit(
        node,
        top.ReduceOp,
        [value],
        axes=axes,
        keepdims=bool(node.attribute("keepdims", 1)),
        mode=mode,
        is_scalar=not context.shape(node.output),
    )


def _step(context: Context, node: Node, label: str, value: SSAValue, mode: str) -> SSAValue:
    return context.step(
        node,
        label,
        top.ReduceOp,
        [value],
        context.shape(node.output),
        axes=_axes(context, node),
        keepdims=bool(node.attribute("keepdims", 1)),
        mode=mode,
        is_scalar=not context.shape(node.output),
    )


def _kept(
    context: Context,
    node: Node,
    label: str,
    value: SSAValue,
    axes: Sequence[int],
    shape: Sequence[int],
    mode: str,
) -> SSAValue:
    return context.step(
        node, label, top.ReduceOp, [value], shape, axes=axes, keepdims=True, mode=mode
    )


CONVERTERS: dict[str, Converter] = {
    **dict.fromkeys(PLAIN, convert_reduce),
    "ArgMax": convert_arg,
    "ArgMin": convert_arg,
    "CumSum": convert_cumsum,
    "ReduceLogSum": convert_log_sum,
    "ReduceLogSumExp": convert_log_sum_exp,
    "ReduceSumSquare": convert_sum_square,
}
