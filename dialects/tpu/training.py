"""Gradients and training-time statistics."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportFuseRelu


@irdl_op_definition
class BatchNormTrainOp(TpuOp):
    """Training batch normalisation (returns saved statistics)."""

    name = "tpu.BatchNormTrain"

    input = operand_def(RankedTensor)
    mean = operand_def(RankedTensor)
    var = operand_def(RankedTensor)
    gamma = operand_def(TensorOrNone)
    beta = operand_def(TensorOrNone)
    running_status_buffer = operand_def(TensorOrNone)
    do_relu = default_attr_def(BOOL, False)
    epsilon = default_attr_def(F64, 1e-05)
    momentum = default_attr_def(F64, 0.1)
    output = result_def(RankedTensor)
    mean_out = result_def(RankedTensor)
    saved_invstd = result_def(RankedTensor)
    running_mean = result_def(RankedTensor)
    running_var = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class BatchNormBwdOp(LocalOp):
    """Backward of batch normalisation."""

    name = "tpu.BatchNormBwd"

    grad_out = operand_def(RankedTensor)
    input = operand_def(RankedTensor)
    weight_opt = operand_def(TensorOrNone)
    saved_mean = operand_def(TensorOrNone)
    saved_invstd = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    epsilon = default_attr_def(F64, 1e-05)
    grad_in = result_def(RankedTensor)
    weight_grad = result_def(TensorOrNone)
    bias_grad = result_def(TensorOrNone)

    traits = traits_def(Pure())


@irdl_op_definition
class ConvBwd_WeightOp(LocalOp):
    """Weight gradient of convolution."""

    name = "tpu.ConvBwd_Weight"

    input = operand_def(RankedTensor)
    gradout = operand_def(RankedTensor)
    gradout_transpose = operand_def(RankedTensor)
    groups = attr_def(I64_INT)
    input_shape = attr_def(I64_ARRAY)
    grad_out_shape = attr_def(I64_ARRAY)
    kernel_shape = attr_def(I64_ARRAY)
    stride = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    padding = attr_def(I64_ARRAY)
    grad_bias_enable = attr_def(BOOL)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class ConvbwdOp(TpuOp):
    """Convolution backward (input, weight, bias gradients)."""

    name = "tpu.Convbwd"

    grad_out = operand_def(RankedTensor)
    input = operand_def(RankedTensor)
    kernel = operand_def(RankedTensor)
    buffer = operand_def(TensorOrNone)
    groups = attr_def(I64_INT)
    input_shape = attr_def(I64_ARRAY)
    grad_out_shape = attr_def(I64_ARRAY)
    kernel_shape = attr_def(I64_ARRAY)
    stride = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    padding = attr_def(I64_ARRAY)
    inserts = attr_def(I64_ARRAY)
    grad_input_enable = attr_def(BOOL)
    grad_weight_enable = attr_def(BOOL)
    grad_bias_enable = attr_def(BOOL)
    grad_input = result_def(TensorOrNone)
    grad_weight = result_def(TensorOrNone)
    grad_bias = result_def(TensorOrNone)

    traits = traits_def(Pure())


@irdl_op_definition
class EmbDenseBwdOp(TpuOp):
    """Gradient of embedding."""

    name = "tpu.EmbDenseBwd"

    grad_output = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    num_weights = attr_def(SI32)
    padding_idx = attr_def(SI32)
    scale_grad_by_freq = attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class GroupNormTrainOp(TpuOp):
    """Training group normalisation."""

    name = "tpu.GroupNormTrain"

    input = operand_def(RankedTensor)
    weight = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    num_groups = attr_def(I64_INT)
    eps = attr_def(F64)
    output = result_def(RankedTensor)
    mean = result_def(RankedTensor)
    rstd = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class LayerNormTrainOp(TpuOp):
    """Training layer normalisation (returns mean/rstd)."""

    name = "tpu.LayerNormTrain"

    input = operand_def(RankedTensor)
    weight = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    normalized_shape = attr_def(I64_ARRAY)
    axis = attr_def(SI32)
    eps = attr_def(F64)
    output = result_def(RankedTensor)
    mean = result_def(RankedTensor)
    variance = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class LayerNormBwdOp(TpuOp):
    """Backward of layer normalisation."""

    name = "tpu.LayerNormBwd"

    grad_out = operand_def(RankedTensor)
    input = operand_def(RankedTensor)
    mean = operand_def(RankedTensor)
    variance = operand_def(RankedTensor)
    weight = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    normalized_shape = attr_def(I64_ARRAY)
    grad_input = result_def(TensorOrNone)
    grad_weight = result_def(TensorOrNone)
    grad_bias = result_def(TensorOrNone)

    traits = traits_def(Pure())


@irdl_op_definition
class MaxPoolingIndicesBwdOp(TpuOp):
    """Backward of max pooling by indices."""

    name = "tpu.MaxPoolingIndicesBwd"

    grad_output = operand_def(RankedTensor)
    indices = operand_def(RankedTensor)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    input_shape = attr_def(I64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    grad_input = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class MeanRstdOp(TpuOp):
    """Mean and reciprocal std with running updates."""

    name = "tpu.MeanRstd"

    input = operand_def(RankedTensor)
    running_mean = operand_def(RankedTensor)
    running_var = operand_def(RankedTensor)
    weight = operand_def(RankedTensor)
    bias = operand_def(RankedTensor)
    eps = attr_def(F64)
    momentum = attr_def(F64)
    mean = result_def(RankedTensor)
    rstd = result_def(RankedTensor)
    running_mean_update = result_def(RankedTensor)
    running_var_update = result_def(RankedTensor)
    scale = result_def(RankedTensor)
    bias_new = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class SoftmaxBwdOp(TpuOp):
    """Backward of softmax."""

    name = "tpu.SoftmaxBwd"

    grad_output = operand_def(RankedTensor)
    output = operand_def(RankedTensor)
    dim = attr_def(SI32)
    grad_input = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class WhereBnbwdOp(TpuOp):
    """Where fused with batchnorm backward."""

    name = "tpu.WhereBnbwdOp"

    where_output = operand_def(TensorOrNone)
    where_grad_out = operand_def(RankedTensor)
    bnbwd_input = operand_def(RankedTensor)
    bnbwd_weight = operand_def(TensorOrNone)
    bnbwd_bias = operand_def(TensorOrNone)
    bnbwd_saved_mean = operand_def(TensorOrNone)
    bnbwd_saved_invstd = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    epsilon = default_attr_def(F64, 1e-05)
    do_recompute = default_attr_def(BOOL, False)
    grad_in = result_def(RankedTensor)
    weight_grad = result_def(TensorOrNone)
    bias_grad = result_def(TensorOrNone)

    traits = traits_def(Pure())
