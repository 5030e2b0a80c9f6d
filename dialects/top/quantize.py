"""Conversions of element types and quantisation."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64_ARRAY,
    I32_DENSE,
    I64_ARRAY,
    I64_INT,
    SI32,
    TEXT,
    default_attr_def,
)
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.top.enums import DEQUANT_MODE, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.top.traits import InOutSameShape


@irdl_op_definition
class CastOp(NamedOp):
    """Element type conversion."""

    name = "top.Cast"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    to = default_attr_def(TEXT, "")

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class DtypeCastOp(NamedOp):
    """Change of element type only, stays in Top dtype domain."""

    name = "top.DtypeCast"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class QuantizeLinearOp(NamedOp):
    """ONNX QuantizeLinear (y_scale, y_zero_point)."""

    name = "top.QuantizeLinear"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    y_scale = attr_def(F64_ARRAY)
    y_zero_point = attr_def(I32_DENSE)
    axis = default_attr_def(I64_INT, 1)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class DequantizeLinearOp(NamedOp):
    """ONNX DequantizeLinear (x_scale, x_zero_point)."""

    name = "top.DequantizeLinear"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    x_scale = attr_def(F64_ARRAY)
    x_zero_point = attr_def(I32_DENSE)
    axis = default_attr_def(I64_INT, 1)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class DequantIntOp(NamedOp):
    """Integer dequantise with multiplier and shift to int."""

    name = "top.DequantInt"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    multiplier = attr_def(I64_ARRAY)
    shift = attr_def(I64_ARRAY)
    lshift = default_attr_def(I64_INT, 0)
    quant_mode = attr_def(DEQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class RequantIntOp(NamedOp):
    """Requantise by integer multiplier and shift."""

    name = "top.RequantInt"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    multiplier = attr_def(I64_ARRAY)
    rshift = attr_def(I64_ARRAY)
    quant_mode = attr_def(REQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    rq_axis = default_attr_def(SI32, 1)
    fuse_rq = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class RequantFpOp(NamedOp):
    """Requantise by float scale and offset."""

    name = "top.RequantFp"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    scale = attr_def(F64_ARRAY)
    offset = attr_def(F64_ARRAY)
    quant_mode = attr_def(REQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    first_round_mode = default_attr_def(ROUND_MODE, "HalfUp")

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class LutOp(NamedOp):
    """Table look-up by 8-bit index."""

    name = "top.Lut"

    input = operand_def(TENSOR)
    table = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class ScaleLutOp(NamedOp):
    """Per-channel scale by look-up."""

    name = "top.ScaleLut"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    scale = attr_def(F64_ARRAY)
    bias = attr_def(F64_ARRAY)
    sign = default_attr_def(BOOL, True)

    traits = traits_def(Pure(), InOutSameShape())
