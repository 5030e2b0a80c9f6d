"""Convolutions."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.dialects.top.enums import AUTO_PAD_MODE
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


@irdl_op_definition
class ConvOp(FusedReluOp):
    """1/2/3-D convolution with weight, optional bias and relu; filter layout OIHW."""

    name = "top.Conv"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    inserts = opt_attr_def(I64_ARRAY)
    dynweight_reorderd = default_attr_def(BOOL, False)
    weight_is_coeff = default_attr_def(I64_INT, 1)
    do_winograd = opt_attr_def(BOOL)
    auto_pad = opt_attr_def(AUTO_PAD_MODE)
    in_int4_scale = opt_attr_def(F64)
    in_int4_zp = opt_attr_def(F64)
    out_int8_scale = opt_attr_def(F64)
    out_int8_zp = opt_attr_def(F64)
    weight_bits = opt_attr_def(I64_INT)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class DeconvOp(FusedReluOp):
    """Transposed convolution."""

    name = "top.Deconv"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    output_padding = opt_attr_def(I64_ARRAY)
    dynweight_reorderd = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class DeformConv2DOp(FusedReluOp):
    """Deformable convolution (offset and optional mask inputs)."""

    name = "top.DeformConv2D"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    offset = operand_def(TENSOR)
    mask = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    deform_group = default_attr_def(I64_INT, 1)
    use_mask = default_attr_def(BOOL, False)
    dilations = opt_attr_def(I64_ARRAY)

    traits = traits_def(Pure(), SupportFuseRelu())
