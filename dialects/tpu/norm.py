"""Normalisations."""

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
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape


@irdl_op_definition
class LayerNormOp(LocalOp):
    """Layer normalisation over trailing dims from axis."""

    name = "tpu.LayerNorm"

    input = operand_def(RankedTensor)
    weight = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    table = operand_def(TensorOrNone)
    mantissa_table = operand_def(TensorOrNone)
    normalized_shape = attr_def(I64_ARRAY)
    axis = attr_def(SI32)
    eps = attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class LayerNormCastOp(TpuOp):
    """Layer norm fused with output cast."""

    name = "tpu.LayerNormCast"

    input = operand_def(RankedTensor)
    weight = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    axis = attr_def(SI32)
    eps = attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    isCastAtEnd = default_attr_def(I64_INT, 1)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class GroupNormOp(LocalOp):
    """Group normalisation."""

    name = "tpu.GroupNorm"

    input = operand_def(RankedTensor)
    weight = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    table = operand_def(TensorOrNone)
    mantissa_table = operand_def(TensorOrNone)
    num_groups = attr_def(I64_INT)
    eps = attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class InstanceNormOp(LocalOp):
    """Instance normalisation."""

    name = "tpu.InstanceNorm"

    input = operand_def(RankedTensor)
    weight = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    table = operand_def(TensorOrNone)
    mantissa_table = operand_def(TensorOrNone)
    eps = attr_def(F64)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class PixelNormOp(LocalOp):
    """Normalisation over the channel dim."""

    name = "tpu.PixelNorm"

    input = operand_def(RankedTensor)
    weight = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    table = operand_def(TensorOrNone)
    mantissa_table = operand_def(TensorOrNone)
    eps = attr_def(F64)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class RMSNormOp(LocalOp):
    """Root-mean-square normalisation."""

    name = "tpu.RMSNorm"

    input = operand_def(RankedTensor)
    gamma = operand_def(TensorOrNone)
    eps = attr_def(F64)
    weight_keep_f32 = default_attr_def(BOOL, False)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class LRNOp(LocalOp):
    """Local response normalisation."""

    name = "tpu.LRN"

    input = operand_def(RankedTensor)
    table = operand_def(TensorOrNone)
    mantissa = operand_def(TensorOrNone)
    size = attr_def(I64_INT)
    alpha = default_attr_def(F64, 0.0001)
    beta = default_attr_def(F64, 0.75)
    bias = default_attr_def(F64, 1.0)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())
