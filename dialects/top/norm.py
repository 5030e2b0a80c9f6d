"""Normalisations."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.dialects.top.traits import InOutSameShape, SupportFuseRelu


@irdl_op_definition
class BatchNormOp(FusedReluOp):
    """Inference batch normalisation with mean/variance/gamma/beta."""

    name = "top.BatchNorm"

    input = operand_def(TENSOR)
    mean = operand_def(TENSOR)
    variance = operand_def(TENSOR)
    gamma = operand_def(TENSOR_OR_NONE)
    beta = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    epsilon = default_attr_def(F64, 1e-05)

    traits = traits_def(Pure(), SupportFuseRelu(), InOutSameShape())


@irdl_op_definition
class LayerNormOp(NamedOp):
    """Layer normalisation over trailing dims from axis."""

    name = "top.LayerNorm"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    normalized_shape = attr_def(I64_ARRAY)
    axis = attr_def(SI32)
    eps = attr_def(F64)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class GroupNormOp(NamedOp):
    """Group normalisation."""

    name = "top.GroupNorm"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    num_groups = attr_def(I64_INT)
    eps = attr_def(F64)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class InstanceNormOp(NamedOp):
    """Instance normalisation."""

    name = "top.InstanceNorm"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    eps = attr_def(F64)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class PixelNormOp(NamedOp):
    """Normalisation over the channel dim."""

    name = "top.PixelNorm"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    eps = attr_def(F64)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class RMSNormOp(NamedOp):
    """Root-mean-square normalisation."""

    name = "top.RMSNorm"

    input = operand_def(TENSOR)
    gamma = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    eps = attr_def(F64)
    weight_keep_f32 = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class LRNOp(NamedOp):
    """Local response normalisation."""

    name = "top.LRN"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    size = attr_def(I64_INT)
    alpha = default_attr_def(F64, 0.0001)
    beta = default_attr_def(F64, 0.75)
    bias = default_attr_def(F64, 1.0)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class NormalizeOp(NamedOp):
    """L2 normalise with per-channel scale (SSD)."""

    name = "top.Normalize"

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    output = result_def(TENSOR)
    across_spatial = default_attr_def(BOOL, False)
    channel_shared = default_attr_def(BOOL, True)

    traits = traits_def(Pure(), InOutSameShape())
