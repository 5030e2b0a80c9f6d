"""Convolutions and what prepares their inputs."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.enums import RequantMode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import COMPRESS, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportFuseRelu


@irdl_op_definition
class Conv2DOp(LocalOp):
    """2-D convolution."""

    name = "tpu.Conv2D"

    input = operand_def(RankedTensor)
    filter = operand_def(RankedTensor)
    bias = operand_def(TensorOrNone)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    inserts = opt_attr_def(I64_ARRAY)
    do_kernel_rotate = opt_attr_def(BOOL)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    with_bias = attr_def(BOOL)
    weight_is_coeff = default_attr_def(I64_INT, 1)
    coeff_merged = default_attr_def(BOOL, False)
    use_3ic_optimize = default_attr_def(I64_INT, 0)
    kernel_zp = default_attr_def(I64_INT, 0)
    use_winograd = opt_attr_def(I64_INT)
    multiplier = opt_attr_def(I64_ARRAY)
    rshift = opt_attr_def(I64_ARRAY)
    weight_bits = opt_attr_def(I64_INT)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfUp)
    do_leaky_relu = opt_attr_def(BOOL)
    neg_slope = opt_attr_def(F64)
    multiplier_pos = opt_attr_def(SI32)
    multiplier_neg = opt_attr_def(SI32)
    rshift_pos = opt_attr_def(SI32)
    rshift_neg = opt_attr_def(SI32)
    out_f8_scales = opt_attr_def(F64_ARRAY)
    support_compress = default_attr_def(BOOL, True)
    compress_info = opt_attr_def(COMPRESS)
    do_core_parallel = opt_attr_def(BOOL)
    do_winograd = opt_attr_def(BOOL)
    dynweight_reorderd = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class Conv3DOp(LocalOp):
    """3-D convolution."""

    name = "tpu.Conv3D"

    input = operand_def(RankedTensor)
    filter = operand_def(RankedTensor)
    bias = operand_def(TensorOrNone)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    inserts = opt_attr_def(I64_ARRAY)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    with_bias = attr_def(BOOL)
    kernel_zp = default_attr_def(I64_INT, 0)
    multiplier = opt_attr_def(I64_ARRAY)
    rshift = opt_attr_def(I64_ARRAY)
    weight_bits = opt_attr_def(I64_INT)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfUp)
    out_f8_scale = opt_attr_def(F64)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class DeconvOp(LocalOp):
    """Transposed convolution."""

    name = "tpu.Deconv"

    input = operand_def(RankedTensor)
    filter = operand_def(RankedTensor)
    bias = operand_def(TensorOrNone)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    output_padding = opt_attr_def(I64_ARRAY)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    with_bias = attr_def(BOOL)
    multiplier = opt_attr_def(I64_ARRAY)
    rshift = opt_attr_def(I64_ARRAY)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    dynweight_reorderd = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class Deconv3DOp(LocalOp):
    """3-D transposed convolution."""

    name = "tpu.Deconv3D"

    input = operand_def(RankedTensor)
    filter = operand_def(RankedTensor)
    bias = operand_def(TensorOrNone)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    output_padding = opt_attr_def(I64_ARRAY)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    with_bias = attr_def(BOOL)
    multiplier = opt_attr_def(I64_ARRAY)
    rshift = opt_attr_def(I64_ARRAY)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class DeformGatherOp(TpuOp):
    """Im2col-like gather for deformable conv."""

    name = "tpu.DeformGather"

    input = operand_def(RankedTensor)
    offset = operand_def(RankedTensor)
    mask = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    use_mask = default_attr_def(BOOL, False)
    deform_group = default_attr_def(I64_INT, 1)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class CorrelationOp(TpuOp):
    """Correlation cost volume of two feature maps up to max_disp."""

    name = "tpu.Correlation"

    inputs = var_operand_def(RankedTensor)
    max_disp = default_attr_def(I64_INT, 0)
    num_groups = default_attr_def(I64_INT, 1)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
