"""Element by element on one tensor."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.enums import LutBF16Mode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import ACTIVE_MODE, AFFINE_MAP, LUT_BF16_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise, SupportFuseRelu


@irdl_op_definition
class ActiveOp(LocalOp):
    """Unary activation selected by mode."""

    name = "tpu.Active"

    input = operand_def(RankedTensor)
    mode = attr_def(ACTIVE_MODE)
    coeffs = opt_attr_def(F64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class ReluOp(LocalOp):
    """Max(x,0) with an optional upper limit."""

    name = "tpu.Relu"

    input = operand_def(RankedTensor)
    relu_limit = default_attr_def(F64, -1.0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class LeakyReluOp(LocalOp):
    """Leaky relu."""

    name = "tpu.LeakyRelu"

    input = operand_def(RankedTensor)
    alpha = opt_attr_def(F64)
    multiplier = opt_attr_def(SI32)
    multiplier_neg = opt_attr_def(SI32)
    rshift = opt_attr_def(SI32)
    rshift_neg = opt_attr_def(SI32)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class PReluOp(LocalOp):
    """Parametric relu with slope tensor."""

    name = "tpu.PReluOp"

    input = operand_def(RankedTensor)
    slope = operand_def(RankedTensor)
    rshift = default_attr_def(SI32, 0)
    rshift_pos = opt_attr_def(SI32)
    multiplier_pos = opt_attr_def(SI32)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class LutOp(LocalOp):
    """Table look-up by 8-bit index."""

    name = "tpu.Lut"

    input = operand_def(RankedTensor)
    table = operand_def(RankedTensor)
    do_core_parallel = opt_attr_def(BOOL)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class LutBF16Op(LocalOp):
    """Bf16 table look-up with slope/mantissa tables."""

    name = "tpu.LutBF16"

    input = operand_def(RankedTensor)
    table = operand_def(RankedTensor)
    mantissa = operand_def(TensorOrNone)
    max_range = default_attr_def(F64, 8)
    min_range = default_attr_def(F64, -8)
    lut_mode = default_attr_def(LUT_BF16_MODE, LutBF16Mode.Other)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class ScaleOp(LocalOp):
    """Per-channel x*scale+bias, optional relu."""

    name = "tpu.Scale"

    input = operand_def(RankedTensor)
    scale = operand_def(RankedTensor)
    bias = operand_def(RankedTensor)
    lshift = operand_def(TensorOrNone)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportFuseRelu())


@irdl_op_definition
class ScaleLutOp(LocalOp):
    """Per-channel scale by look-up."""

    name = "tpu.ScaleLut"

    input = operand_def(RankedTensor)
    table = operand_def(RankedTensor)
    scale = attr_def(F64_ARRAY)
    bias = attr_def(F64_ARRAY)
    sign = default_attr_def(BOOL, True)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class FusedActiveCastOp(TpuOp):
    """Activation fused with cast."""

    name = "tpu.FusedActiveCast"

    input = operand_def(RankedTensor)
    mode = attr_def(ACTIVE_MODE)
    coeffs = opt_attr_def(F64_ARRAY)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())
