"""Pooling."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.dialects.top.enums import AUTO_PAD_MODE, ROUND_MODE
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


@irdl_op_definition
class AvgPoolOp(FusedReluOp):
    """1/2/3-D average pooling."""

    name = "top.AvgPool"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    ceil_mode = opt_attr_def(BOOL)
    auto_pad = opt_attr_def(AUTO_PAD_MODE)
    is_adaptive = default_attr_def(BOOL, False)
    keepdims = default_attr_def(BOOL, True)
    pad_value = default_attr_def(I64_INT, 0)
    count_include_pad = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    first_round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MaxPoolOp(FusedReluOp):
    """Max pooling."""

    name = "top.MaxPool"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    ceil_mode = opt_attr_def(BOOL)
    auto_pad = opt_attr_def(AUTO_PAD_MODE)
    is_adaptive = default_attr_def(BOOL, False)
    keepdims = default_attr_def(BOOL, True)
    pad_value = default_attr_def(I64_INT, 0)
    count_include_pad = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    first_round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MaxPoolWithMaskOp(FusedReluOp):
    """Max pooling with index mask."""

    name = "top.MaxPoolWithMask"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    mask = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    ceil_mode = opt_attr_def(BOOL)
    auto_pad = opt_attr_def(AUTO_PAD_MODE)
    is_adaptive = default_attr_def(BOOL, False)
    keepdims = default_attr_def(BOOL, True)
    pad_value = default_attr_def(I64_INT, 0)
    count_include_pad = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    first_round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class AdaptiveAvgPoolOp(NamedOp):
    """Average pool to a fixed output size (torch AdaptiveAvgPool)."""

    name = "top.AdaptiveAvgPool"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    output_size = attr_def(I64_ARRAY)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class PoolMaskOp(NamedOp):
    """Pool mask."""

    name = "top.PoolMask"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    scale = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class MaxUnpoolOp(NamedOp):
    """Max unpooling."""

    name = "top.MaxUnpool"

    input = operand_def(TENSOR)
    mask = operand_def(TENSOR)
    output = result_def(TENSOR)
    scale_h = attr_def(I64_INT)
    scale_w = attr_def(I64_INT)

    traits = traits_def(Pure())
