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
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportFuseRelu


@irdl_op_definition
class BatchNormTrainOp(TpuOp):
    """Batch normalisation by the batch's own statistics, which it also returns."""

    name = "tpu.BatchNormTrain"

    input = operand_def(RANKED)
    mean = operand_def(RANKED)
    var = operand_def(RANKED)
    gamma = operand_def(RANKED_OR_NONE)
    beta = operand_def(RANKED_OR_NONE)
    running_status_buffer = operand_def(RANKED_OR_NONE)
    do_relu = default_attr_def(BOOL, False)
    epsilon = default_attr_def(F64, 1e-05)
    momentum = default_attr_def(F64, 0.1)
    output = result_def(RANKED)
    mean_out = result_def(RANKED)
    saved_invstd = result_def(RANKED)
    running_mean = result_def(RANKED)
    running_var = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class BatchNormBwdOp(LocalOp):
    """Gradients of batch normalisation."""

    name = "tpu.BatchNormBwd"

    grad_out = operand_def(RANKED)
    input = operand_def(RANKED)
    weight_opt = operand_def(RANKED_OR_NONE)
    saved_mean = operand_def(RANKED_OR_NONE)
    saved_invstd = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    epsilon = default_attr_def(F64, 1e-05)
    grad_in = result_def(RANKED)
    weight_grad = result_def(RANKED_OR_NONE)
    bias_grad = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())


@irdl_op_definition
class ConvBwd_WeightOp(LocalOp):
    """The gradient of a convolution's filter."""

    name = "tpu.ConvBwd_Weight"

    input = operand_def(RANKED)
    gradout = operand_def(RANKED)
    gradout_transpose = operand_def(RANKED)
    groups = attr_def(I64_INT)
    input_shape = attr_def(I64_ARRAY)
    grad_out_shape = attr_def(I64_ARRAY)
    kernel_shape = attr_def(I64_ARRAY)
    stride = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    padding = attr_def(I64_ARRAY)
    grad_bias_enable = attr_def(BOOL)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class ConvbwdOp(TpuOp):
    """The gradients of a convolution's input, filter and bias."""

    name = "tpu.Convbwd"

    grad_out = operand_def(RANKED)
    input = operand_def(RANKED)
    kernel = operand_def(RANKED)
    buffer = operand_def(RANKED_OR_NONE)
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
    grad_input = result_def(RANKED_OR_NONE)
    grad_weight = result_def(RANKED_OR_NONE)
    grad_bias = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())


@irdl_op_definition
class EmbDenseBwdOp(TpuOp):
    """The gradient of an embedding table."""

    name = "tpu.EmbDenseBwd"

    grad_output = operand_def(RANKED)
    indices = operand_def(RANKED)
    num_weights = attr_def(SI32)
    padding_idx = attr_def(SI32)
    scale_grad_by_freq = attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class GroupNormTrainOp(TpuOp):
    """Group normalisation that also returns mean and reciprocal deviation."""

    name = "tpu.GroupNormTrain"

    input = operand_def(RANKED)
    weight = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    num_groups = attr_def(I64_INT)
    eps = attr_def(F64)
    output = result_def(RANKED)
    mean = result_def(RANKED)
    rstd = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class LayerNormTrainOp(TpuOp):
    """Layer normalisation that also returns mean and reciprocal deviation."""

    name = "tpu.LayerNormTrain"

    input = operand_def(RANKED)
    weight = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    normalized_shape = attr_def(I64_ARRAY)
    axis = attr_def(SI32)
    eps = attr_def(F64)
    output = result_def(RANKED)
    mean = result_def(RANKED)
    variance = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class LayerNormBwdOp(TpuOp):
    """Gradients of layer normalisation."""

    name = "tpu.LayerNormBwd"

    grad_out = operand_def(RANKED)
    input = operand_def(RANKED)
    mean = operand_def(RANKED)
    variance = operand_def(RANKED)
    weight = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    normalized_shape = attr_def(I64_ARRAY)
    grad_input = result_def(RANKED_OR_NONE)
    grad_weight = result_def(RANKED_OR_NONE)
    grad_bias = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())


@irdl_op_definition
class MaxPoolingIndicesBwdOp(TpuOp):
    """The gradient of max pooling, sent where the indices say."""

    name = "tpu.MaxPoolingIndicesBwd"

    grad_output = operand_def(RANKED)
    indices = operand_def(RANKED)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    input_shape = attr_def(I64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    grad_input = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class MeanRstdOp(TpuOp):
    """Batch statistics, their running averages and the scale and bias made of them."""

    name = "tpu.MeanRstd"

    input = operand_def(RANKED)
    running_mean = operand_def(RANKED)
    running_var = operand_def(RANKED)
    weight = operand_def(RANKED)
    bias = operand_def(RANKED)
    eps = attr_def(F64)
    momentum = attr_def(F64)
    mean = result_def(RANKED)
    rstd = result_def(RANKED)
    running_mean_update = result_def(RANKED)
    running_var_update = result_def(RANKED)
    scale = result_def(RANKED)
    bias_new = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class SoftmaxBwdOp(TpuOp):
    """The gradient of softmax."""

    name = "tpu.SoftmaxBwd"

    grad_output = operand_def(RANKED)
    output = operand_def(RANKED)
    dim = attr_def(SI32)
    grad_input = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class WhereBnbwdOp(TpuOp):
    """Gradients of a batch normalisation followed by Where, in one op."""

    name = "tpu.WhereBnbwdOp"

    where_output = operand_def(RANKED_OR_NONE)
    where_grad_out = operand_def(RANKED)
    bnbwd_input = operand_def(RANKED)
    bnbwd_weight = operand_def(RANKED_OR_NONE)
    bnbwd_bias = operand_def(RANKED_OR_NONE)
    bnbwd_saved_mean = operand_def(RANKED_OR_NONE)
    bnbwd_saved_invstd = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    epsilon = default_attr_def(F64, 1e-05)
    do_recompute = default_attr_def(BOOL, False)
    grad_in = result_def(RANKED)
    weight_grad = result_def(RANKED_OR_NONE)
    bias_grad = result_def(RANKED_OR_NONE)

    traits = traits_def(Pure())
