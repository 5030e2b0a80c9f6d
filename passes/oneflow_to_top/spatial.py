"""Convolutions, pools and normalisations.

Those of `top` have channels second: with channels last they get a permute before and one after,
which canonicalisation removes between neighbours.
"""

from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import oneflow, top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import NamedOp, is_none
from xdsl_tpu.dialects.oneflow.base import CHANNELS_FIRST
from xdsl_tpu.dialects.oneflow.norm import BatchNormOp, parameters_of
from xdsl_tpu.dialects.oneflow.pool import SpatialOp
from xdsl_tpu.passes.oneflow_to_top.context import (
    TO_FIRST,
    TO_LAST,
    Context,
    Converters,
    UnsupportedOp,
    elements,
    refuse_used,
)
from xdsl_tpu.passes.tensors import shape_of


def _first(context: Context, op: Operation, value: SSAValue, form: StringAttr) -> SSAValue:
    """An image or weight with channels second."""
    return value if form.data == CHANNELS_FIRST else context.permuted(op, value, TO_FIRST)


def _back(context: Context, op: Operation, value: SSAValue, form: StringAttr) -> SSAValue:
    """The result in the form the op has."""
    return value if form.data == CHANNELS_FIRST else context.permuted(op, value, TO_LAST)


def convert_conv(context: Context, op: oneflow.Conv2DOp) -> None:
    """conv2d -> top.Conv."""
    form = op.data_format
    made = context.emit(
        op,
        top.ConvOp,
        (
            _first(context, op, context.value(op.input), form),
            _first(context, op, context.value(op.weight), form),
            context.optional(op.bias),
        ),
        kernel_shape=ints(op.kernel_size),
        strides=ints(op.strides),
        pads=ints(op.padding_before) * 2,
        dilations=ints(op.dilation_rate),
        group=op.groups.value.data,
    )
    out = _back(context, op, made, form)
    context.finish(op, context.plus(op, out, op.add_to_output))


def _pooled(context: Context, op: SpatialOp, kind: type[NamedOp], **attributes: Any) -> SSAValue:
    x = _first(context, op, context.value(op.x), op.data_format)
    return context.emit(op, kind, (x,), **attributes)


def convert_max_pool(context: Context, op: oneflow.MaxPool2DOp) -> None:
    """max_pool_2d -> top.MaxPool, when nobody wants the indices."""
    refuse_used(op, 1, "indices")
    if set(ints(op.dilation)) != {1}:
        raise UnsupportedOp("dilated pooling is not supported")
    made = _pooled(
        context,
        op,
        top.MaxPoolOp,
        kernel_shape=ints(op.kernel_size),
        strides=ints(op.stride),
        pads=ints(op.padding) * 2,
        ceil_mode=bool(op.ceil_mode.value.data),
    )
    context.finish(op, _back(context, op, made, op.data_format))


def convert_avg_pool(context: Context, op: oneflow.AvgPool2DOp) -> None:
    """avg_pool_2d -> top.AvgPool, times a factor if something else is to be divided by."""
    divisor, ceil = op.divisor_override.value.data, bool(op.ceil_mode.value.data)
    if divisor and ceil:
        raise UnsupportedOp("divisor_override with ceil_mode is not supported")
    kernel = ints(op.kernel_size)
    made = _pooled(
        context,
        op,
        top.AvgPoolOp,
        kernel_shape=kernel,
        strides=ints(op.stride),
        pads=ints(op.padding) * 2,
        ceil_mode=ceil,
        count_include_pad=bool(divisor) or bool(op.count_include_pad.value.data),
    )
    if divisor:
        made = context.times(op, made, elements(kernel) / divisor)
    context.finish(op, _back(context, op, made, op.data_format))


def convert_adaptive_pool(context: Context, op: oneflow.AdaptiveAvgPool2DOp) -> None:
    """adaptive_avg_pool2d -> top.AvgPool, when the parts are equal and do not overlap."""
    pairs = list(zip(op.sizes, ints(op.output_size), strict=True))
    if any(size % parts for size, parts in pairs):
        raise UnsupportedOp("sizes that do not divide by output_size are not supported")
    steps = [size // parts for size, parts in pairs]
    made = _pooled(context, op, top.AvgPoolOp, kernel_shape=steps, strides=steps, pads=[0] * 4)
    context.finish(op, _back(context, op, made, op.data_format))


def convert_batch_norm(context: Context, op: BatchNormOp) -> None:
    """normalization, normalization_infer -> top.BatchNorm."""
    if op.uses_batch_statistics:
        raise UnsupportedOp(
            "it is in training; make it oneflow.normalization_infer or set training = false"
        )
    refuse_used(op, 1, "mean and inv_variance")
    x, parameters = context.value(op.x), [context.optional(p) for p in parameters_of(op)]
    if any(not is_none(p) and not isinstance(p.owner, top.WeightOp) for p in parameters):
        raise UnsupportedOp("its parameters must be variables")
    rank = len(shape_of(x))
    axis = op.axis.value.data % rank
    order = (0, axis, *(d for d in range(1, rank) if d != axis))
    if axis == 0:
        raise UnsupportedOp("normalisation along the batch is not supported")
    operands = (context.permuted(op, x, order), *parameters)
    made = context.emit(op, top.BatchNormOp, operands, epsilon=op.epsilon.value.data)
    back = tuple(order.index(dimension) for dimension in range(rank))
    out = context.permuted(op, made, back)
    context.finish(op, context.plus(op, out, op.add_to_output))


def convert_layer_norm(context: Context, op: oneflow.LayerNormOp) -> None:
    """layer_norm -> top.LayerNorm."""
    refuse_used(op, 1, "mean and inv_variance")
    axis = op.begin_norm_axis.value.data
    x = context.value(op.x)
    rank = len(shape_of(x))
    has_parameters = op.gamma is not None or op.beta is not None
    if has_parameters and op.begin_params_axis.value.data % rank != axis % rank:
        raise UnsupportedOp("begin_params_axis must be begin_norm_axis")
    made = context.emit(
        op,
        top.LayerNormOp,
        (x, context.optional(op.gamma), context.optional(op.beta)),
        axis=axis % rank,
        eps=op.epsilon.value.data,
        normalized_shape=[],
    )
    context.finish(op, made)


def convert_group_norm(context: Context, op: oneflow.GroupNormOp) -> None:
    """group_norm -> top.GroupNorm, then top.SiLU if it says so."""
    refuse_used(op, 1, "mean and inv_variance")
    x = context.value(op.x)
    if op.data_format.data != CHANNELS_FIRST and len(shape_of(x)) != 4:
        raise UnsupportedOp("channels last are supported for images only")
    made = context.emit(
        op,
        top.GroupNormOp,
        (
            _first(context, op, x, op.data_format),
            context.optional(op.gamma),
            context.optional(op.beta),
        ),
        num_groups=op.num_groups.value.data,
        eps=op.epsilon.value.data,
    )
    if op.activation.data == "silu":
        made = context.emit(op, top.SiLUOp, (made,))
    context.finish(op, _back(context, op, made, op.data_format))


def convert_softmax(context: Context, op: oneflow.SoftmaxOp | oneflow.LogSoftmaxOp) -> None:
    """softmax, log_softmax -> top.Softmax over the last dimension."""
    x, log = context.value(op.input), isinstance(op, oneflow.LogSoftmaxOp)
    axis = len(shape_of(x)) - 1
    context.finish(op, context.emit(op, top.SoftmaxOp, (x,), axis=axis, log=log))


CONVERTERS: Converters = {
    oneflow.AdaptiveAvgPool2DOp: convert_adaptive_pool,
    oneflow.AvgPool2DOp: convert_avg_pool,
    oneflow.Conv2DOp: convert_conv,
    oneflow.GroupNormOp: convert_group_norm,
    oneflow.LayerNormOp: convert_layer_norm,
    oneflow.LogSoftmaxOp: convert_softmax,
    oneflow.MaxPool2DOp: convert_max_pool,
    oneflow.NormalizationInferOp: convert_batch_norm,
    oneflow.NormalizationOp: convert_batch_norm,
    oneflow.SoftmaxOp: convert_softmax,
}
