"""Ops that move elements, and reductions."""

from collections.abc import Mapping

from xdsl.ir import Operation

from xdsl_tpu.dialects import oneflow, top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.oneflow.reduce import ReduceOp
from xdsl_tpu.passes.oneflow_to_top.context import Context, Converters, result_shape
from xdsl_tpu.passes.tensors import shape_of

View = oneflow.ReshapeOp | oneflow.FlattenOp | oneflow.SqueezeOp | oneflow.ExpandDimsOp

_MODES: Mapping[type[Operation], str] = {
    oneflow.ReduceMaxOp: "ReduceMax",
    oneflow.ReduceMeanOp: "ReduceMean",
    oneflow.ReduceSumOp: "ReduceSum",
}


def convert_view(context: Context, op: View) -> None:
    """reshape, flatten, squeeze, expand_dims -> top.Reshape."""
    shape = result_shape(op.output) or (1,)
    context.finish(op, context.reshaped(op, context.value(op.input), shape))


def convert_transpose(context: Context, op: oneflow.TransposeOp) -> None:
    """transpose -> top.Permute."""
    context.finish(op, context.permuted(op, context.value(op.input), ints(op.perm)))


def convert_cat(context: Context, op: oneflow.CatOp) -> None:
    """cat -> top.Concat."""
    operands = [context.value(operand) for operand in op.inputs]
    axis = op.axis.value.data % len(result_shape(op.output))
    context.finish(op, context.emit(op, top.ConcatOp, operands, axis=axis))


def convert_narrow(context: Context, op: oneflow.NarrowOp) -> None:
    """narrow -> top.Slice."""
    x, none = context.value(op.input), context.none
    shape = shape_of(x)
    dim, start = op.dim.value.data % len(shape), op.start.value.data
    offset, ends = [0] * len(shape), list(shape)
    offset[dim], ends[dim] = start, start + op.length.value.data
    made = context.emit(
        op, top.SliceOp, (x, none, none, none), offset=offset, steps=[1] * len(shape), ends=ends
    )
    context.finish(op, made)


def convert_reduce(context: Context, op: ReduceOp) -> None:
    """reduce_sum, reduce_mean, reduce_max -> top.Reduce."""
    x = context.value(op.input)
    rank = len(shape_of(x))
    axes = sorted(axis % rank for axis in ints(op.axis)) or list(range(rank))
    keepdims = bool(op.keepdims.value.data)
    mode = _MODES[type(op)]
    made = context.emit(op, top.ReduceOp, (x,), axes=axes, keepdims=keepdims, mode=mode)
    context.finish(op, made)


CONVERTERS: Converters = {
    oneflow.CatOp: convert_cat,
    oneflow.ExpandDimsOp: convert_view,
    oneflow.FlattenOp: convert_view,
    oneflow.NarrowOp: convert_narrow,
    oneflow.ReduceMaxOp: convert_reduce,
    oneflow.ReduceMeanOp: convert_reduce,
    oneflow.ReduceSumOp: convert_reduce,
    oneflow.ReshapeOp: convert_view,
    oneflow.SqueezeOp: convert_view,
    oneflow.TransposeOp: convert_transpose,
}
