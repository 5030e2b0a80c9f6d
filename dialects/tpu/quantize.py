"""Between number formats."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.interfaces.shape import dims
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import DEQUANT_MODE, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import MAX_CHANNELS, PassesMargins
from xdsl_tpu.dialects.tpu.op import LocalOp, SameShape
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise


@irdl_op_definition
class CastOp(PassesMargins, SameShape, LocalOp):
    """The values in another number format, rounded by `round_mode`.

    Between floats and quantised integers `with_scale` divides or multiplies by the scale.
    """

    name = "tpu.Cast"

    input = operand_def(RANKED)
    extra_input = opt_attr_def(BOOL)
    with_scale = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class DtypeCastOp(SameShape, LocalOp):
    """Another element type for a tensor that stays a plain, unquantised one."""

    name = "tpu.DtypeCast"

    input = operand_def(RANKED)
    extra_input = opt_attr_def(BOOL)
    with_scale = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class RequantIntOp(SameShape, LocalOp):
    """round(x * multiplier / 2^rshift), saturated to the result's integers."""

    name = "tpu.RequantInt"

    input = operand_def(RANKED)
    multiplier = attr_def(SI32)
    rshift = attr_def(SI32)
    quant_mode = attr_def(REQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class RequantIntAxisOp(SameShape, LocalOp):
    """RequantInt with a multiplier, shift and zero point for every channel, from `quant`."""

    name = "tpu.RequantIntAxis"

    input = operand_def(RANKED)
    quant = operand_def(RANKED)
    quant_mode = attr_def(REQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    rq_axis = default_attr_def(SI32, 1)
    fuse_rq_axis = default_attr_def(BOOL, False)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class RequantFpOp(SameShape, LocalOp):
    """round(x * scale + offset), saturated to the result's integers."""

    name = "tpu.RequantFp"

    input = operand_def(RANKED)
    scale = attr_def(F64)
    offset = default_attr_def(F64, 0.0)
    quant_mode = attr_def(REQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class RequantFpAxisOp(SameShape, LocalOp):
    """RequantFp with a scale and offset for every channel, from `quant`."""

    name = "tpu.RequantFpAxis"

    input = operand_def(RANKED)
    quant = operand_def(RANKED)
    quant_mode = attr_def(REQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class DequantIntOp(SameShape, LocalOp):
    """x times an integer multiplier, shifted: quantised values as wider integers."""

    name = "tpu.DequantInt"

    input = operand_def(RANKED)
    multiplier = attr_def(SI32)
    shift = attr_def(I64_INT)
    lshift = default_attr_def(I64_INT, 0)
    quant_mode = attr_def(DEQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class DequantIntAxisOp(SameShape, LocalOp):
    """DequantInt with a multiplier and shift for every channel, from `quant`."""

    name = "tpu.DequantIntAxis"

    input = operand_def(RANKED)
    quant = operand_def(RANKED)
    lshift = default_attr_def(I64_INT, 0)
    quant_mode = attr_def(DEQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class MulShiftOp(SameShape, LocalOp):
    """round(x * multiplier / 2^rshift), saturated: a quantised tensor under another scale."""

    name = "tpu.MulShift"

    input = operand_def(RANKED)
    multiplier = attr_def(SI32)
    rshift = attr_def(SI32)
    do_core_parallel = opt_attr_def(BOOL)
    const_val = opt_attr_def(F64)
    do_relu = opt_attr_def(BOOL)
    is_scalar = opt_attr_def(BOOL)
    relu_limit = opt_attr_def(F64)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())

    def local_support(self, kind: GroupType) -> str | None:
        shape = self.shape_of(self.input)
        if len(shape) >= 3 and shape[1] > MAX_CHANNELS:
            return f"dimension 1 of {dims(shape)} is above {MAX_CHANNELS}"
        return None
