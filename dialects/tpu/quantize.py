"""Between number formats."""

from abc import ABC

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
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import DEQUANT_MODE, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.op import ElementwiseOp, LocalOp, SameShape, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape


class ConversionOp(ElementwiseOp, ABC):
    """Another element type, rounded by `round_mode`."""

    extra_input = opt_attr_def(BOOL)
    with_scale = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)


class PerChannelOp(SameShape, LocalOp, ABC):
    """Scaling of every channel by numbers of its own, from `quant`."""

    input = operand_def(RANKED)
    quant = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())


class Requantization(TpuOp, ABC):
    """Which formula makes integers of numbers in finer steps."""

    quant_mode = attr_def(REQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)


class FloatRequantization(Requantization, ABC):
    """Requantisation in floats, to which integers are converted by `first_round_mode`."""

    first_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)


class Dequantization(TpuOp, ABC):
    """Which formula makes wider integers of quantised values."""

    lshift = default_attr_def(I64_INT, 0)
    quant_mode = attr_def(DEQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)


@irdl_op_definition
class CastOp(ConversionOp):
    """The values in another number format, rounded by `round_mode`.

    Between floats and quantised integers `with_scale` divides or multiplies by the scale.
    """

    name = "tpu.Cast"

    def follows_reader(self) -> bool:
        return True


@irdl_op_definition
class DtypeCastOp(ConversionOp):
    """Another element type for a tensor that stays a plain, unquantised one."""

    name = "tpu.DtypeCast"


@irdl_op_definition
class RequantIntOp(Requantization, ElementwiseOp):
    """round(x * multiplier / 2^rshift), saturated to the result's integers."""

    name = "tpu.RequantInt"

    multiplier = attr_def(SI32)
    rshift = attr_def(SI32)


@irdl_op_definition
class RequantIntAxisOp(Requantization, PerChannelOp):
    """RequantInt with a multiplier, shift and zero point for every channel, from `quant`."""

    name = "tpu.RequantIntAxis"

    rq_axis = default_attr_def(SI32, 1)
    fuse_rq_axis = default_attr_def(BOOL, False)
    do_core_parallel = opt_attr_def(BOOL)


@irdl_op_definition
class RequantFpOp(FloatRequantization, ElementwiseOp):
    """round(x * scale + offset), saturated to the result's integers."""

    name = "tpu.RequantFp"

    scale = attr_def(F64)
    offset = default_attr_def(F64, 0.0)


@irdl_op_definition
class RequantFpAxisOp(FloatRequantization, PerChannelOp):
    """RequantFp with a scale and offset for every channel, from `quant`."""

    name = "tpu.RequantFpAxis"


@irdl_op_definition
class DequantIntOp(Dequantization, ElementwiseOp):
    """x times an integer multiplier, shifted: quantised values as wider integers."""

    name = "tpu.DequantInt"

    multiplier = attr_def(SI32)
    shift = attr_def(I64_INT)


@irdl_op_definition
class DequantIntAxisOp(Dequantization, PerChannelOp):
    """DequantInt with a multiplier and shift for every channel, from `quant`."""

    name = "tpu.DequantIntAxis"


@irdl_op_definition
class MulShiftOp(ElementwiseOp):
    """round(x * multiplier / 2^rshift), saturated: a quantised tensor under another scale."""

    name = "tpu.MulShift"

    multiplier = attr_def(SI32)
    rshift = attr_def(SI32)
    const_val = opt_attr_def(F64)
    do_relu = opt_attr_def(BOOL)
    is_scalar = opt_attr_def(BOOL)
    relu_limit = opt_attr_def(F64)
