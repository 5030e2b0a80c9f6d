"""Training: backward passes and running statistics."""

from abc import ABC

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED, TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.dialects.top.traits import InOutSameShape, SupportFuseRelu


@irdl_op_definition
class BatchNormTrainOp(FusedReluOp):
    """Batch normalisation with the statistics of the batch, which it also returns and averages."""

    name = "top.BatchNormTrain"

    input = operand_def(TENSOR)
    mean = operand_def(TENSOR)
    var = operand_def(TENSOR)
    gamma = operand_def(TENSOR_OR_NONE)
    beta = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    mean_out = result_def(TENSOR)
    saved_invstd = result_def(TENSOR)
    running_mean = result_def(TENSOR)
    running_var = result_def(TENSOR)
    epsilon = default_attr_def(F64, 1e-05)
    momentum = default_attr_def(F64, 0.1)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class BatchNormBwdOp(NamedOp):
    """Gradients of batch normalisation."""

    name = "top.BatchNormBwd"

    grad_out = operand_def(TENSOR)
    input = operand_def(TENSOR)
    weight_opt = operand_def(TENSOR_OR_NONE)
    saved_mean = operand_def(TENSOR_OR_NONE)
    saved_invstd = operand_def(TENSOR_OR_NONE)
    grad_in = result_def(TENSOR)
    weight_grad = result_def(TENSOR_OR_NONE)
    bias_grad = result_def(TENSOR_OR_NONE)
    epsilon = default_attr_def(F64, 1e-05)

    traits = traits_def(Pure())


class NormTrainOp(NamedOp, ABC):
    """Normalisation that returns, behind `output`, the statistics its gradient needs."""

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    eps = attr_def(F64)

    traits = traits_def(Pure())


@irdl_op_definition
class LayerNormTrainOp(NormTrainOp):
    """Layer normalisation that also returns mean and reciprocal standard deviation."""

    name = "top.LayerNormTrain"

    output = result_def(TENSOR)
    mean = result_def(TENSOR)
    variance = result_def(TENSOR)
    normalized_shape = attr_def(I64_ARRAY)
    axis = attr_def(SI32)


@irdl_op_definition
class LayerNormBwdOp(NamedOp):
    """Gradients of layer normalisation."""

    name = "top.LayerNormBwd"

    grad_out = operand_def(TENSOR)
    input = operand_def(TENSOR)
    mean = operand_def(TENSOR)
    variance = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    grad_input = result_def(TENSOR_OR_NONE)
    grad_weight = result_def(TENSOR_OR_NONE)
    grad_bias = result_def(TENSOR_OR_NONE)
    normalized_shape = attr_def(I64_ARRAY)

    traits = traits_def(Pure())


@irdl_op_definition
class GroupNormTrainOp(NormTrainOp):
    """Group normalisation that also returns mean and reciprocal standard deviation."""

    name = "top.GroupNormTrain"

    output = result_def(TENSOR)
    mean = result_def(TENSOR)
    rstd = result_def(TENSOR)
    num_groups = attr_def(I64_INT)


class ConvGradientOp(NamedOp, ABC):
    """Gradients of a convolution, whose shapes and windows the attributes hold."""

    groups = attr_def(I64_INT)
    input_shape = attr_def(I64_ARRAY)
    grad_out_shape = attr_def(I64_ARRAY)
    kernel_shape = attr_def(I64_ARRAY)
    stride = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    padding = attr_def(I64_ARRAY)
    grad_bias_enable = attr_def(BOOL)

    traits = traits_def(Pure())


@irdl_op_definition
class ConvbwdOp(ConvGradientOp):
    """Gradients of a convolution for its input, filter and bias."""

    name = "top.Convbwd"

    grad_out = operand_def(TENSOR)
    input = operand_def(TENSOR)
    kernel = operand_def(TENSOR)
    grad_input = result_def(TENSOR_OR_NONE)
    grad_weight = result_def(TENSOR_OR_NONE)
    grad_bias = result_def(TENSOR_OR_NONE)
    inserts = attr_def(I64_ARRAY)
    grad_input_enable = attr_def(BOOL)
    grad_weight_enable = attr_def(BOOL)


@irdl_op_definition
class ConvBwd_WeightOp(ConvGradientOp):
    """Gradient of a convolution for its filter."""

    name = "top.ConvBwd_Weight"

    input = operand_def(TENSOR)
    gradout = operand_def(TENSOR)
    gradout_transpose = operand_def(TENSOR)
    output = result_def(TENSOR)


@irdl_op_definition
class EmbDenseBwdOp(NamedOp):
    """Gradient of an embedding table of `num_weights` rows."""

    name = "top.EmbDenseBwd"

    grad_output = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    output = result_def(TENSOR)
    num_weights = attr_def(SI32)

    traits = traits_def(Pure())


@irdl_op_definition
class MeanRstdOp(NamedOp):
    """Mean and reciprocal standard deviation of each channel, and updated running statistics."""

    name = "top.MeanRstd"

    input = operand_def(TENSOR)
    running_mean = operand_def(TENSOR)
    running_var = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    mean = result_def(TENSOR)
    rstd = result_def(TENSOR)
    running_mean_update = result_def(TENSOR)
    running_var_update = result_def(TENSOR)
    scale = result_def(TENSOR)
    bias_new = result_def(TENSOR)
    eps = attr_def(F64)
    momentum = attr_def(F64)

    traits = traits_def(Pure())


@irdl_op_definition
class MaxPoolingIndicesBwdOp(NamedOp):
    """Gradient of max pooling, from the indices of the winners."""

    name = "top.MaxPoolingIndicesBwd"

    grad_output = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    grad_input = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    input_shape = attr_def(I64_ARRAY)

    traits = traits_def(Pure())


@irdl_op_definition
class SoftmaxBwdOp(NamedOp):
    """Gradient of softmax along `dim`."""

    name = "top.SoftmaxBwd"

    grad_output = operand_def(TENSOR)
    output = operand_def(TENSOR)
    grad_input = result_def(RANKED)
    dim = attr_def(SI32)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class WeightReorderOp(NamedOp):
    """A weight computed at run time, put into the layout that the chip wants."""

    name = "top.WeightReorder"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    reorder_mode = default_attr_def(I64_INT, 0)

    traits = traits_def(Pure())
