"""Conversions of element types and quantisation."""

from abc import ABC

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def

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
from xdsl_tpu.dialects.base import TENSOR
from xdsl_tpu.dialects.top.abstract import SameShapeOp
from xdsl_tpu.dialects.top.enums import DEQUANT_MODE, REQUANT_MODE, ROUND_MODE


class ConversionOp(SameShapeOp, ABC):
    """The elements of one tensor, represented otherwise."""

    input = operand_def(TENSOR)
    output = result_def(TENSOR)


class RequantOp(ConversionOp, ABC):
    """32-bit integers to fewer bits by the formula that `quant_mode` names."""

    quant_mode = attr_def(REQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")


@irdl_op_definition
class CastOp(ConversionOp):
    """Conversion to the element type that `to` names (F32, INT32 ...), rounding by `round_mode`."""

    name = "top.Cast"

    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    to = default_attr_def(TEXT, "")


@irdl_op_definition
class DtypeCastOp(ConversionOp):
    """Another element type without a change of meaning."""

    name = "top.DtypeCast"


@irdl_op_definition
class QuantizeLinearOp(ConversionOp):
    """round(x / y_scale) + y_zero_point, clipped to 8 bits (ONNX operators, QuantizeLinear).

    One scale and zero point, or one for each index of `axis`.
    """

    name = "top.QuantizeLinear"

    y_scale = attr_def(F64_ARRAY)
    y_zero_point = attr_def(I32_DENSE)
    axis = default_attr_def(I64_INT, 1)


@irdl_op_definition
class DequantizeLinearOp(ConversionOp):
    """(x - x_zero_point) * x_scale (ONNX operators, DequantizeLinear).

    One scale and zero point, or one for each index of `axis`.
    """

    name = "top.DequantizeLinear"

    x_scale = attr_def(F64_ARRAY)
    x_zero_point = attr_def(I32_DENSE)
    axis = default_attr_def(I64_INT, 1)


@irdl_op_definition
class DequantIntOp(ConversionOp):
    """8-bit to 16- or 32-bit integers by an integer multiplier and shifts."""

    name = "top.DequantInt"

    multiplier = attr_def(I64_ARRAY)
    shift = attr_def(I64_ARRAY)
    lshift = default_attr_def(I64_INT, 0)
    quant_mode = attr_def(DEQUANT_MODE)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")


@irdl_op_definition
class RequantIntOp(RequantOp):
    """32-bit integers to fewer bits by a multiplier and a right shift for each channel."""

    name = "top.RequantInt"

    multiplier = attr_def(I64_ARRAY)
    rshift = attr_def(I64_ARRAY)
    rq_axis = default_attr_def(SI32, 1)
    fuse_rq = default_attr_def(BOOL, False)


@irdl_op_definition
class RequantFpOp(RequantOp):
    """32-bit integers to fewer bits by a float scale and offset for each channel."""

    name = "top.RequantFp"

    scale = attr_def(F64_ARRAY)
    offset = attr_def(F64_ARRAY)
    first_round_mode = default_attr_def(ROUND_MODE, "HalfUp")


@irdl_op_definition
class LutOp(SameShapeOp):
    """Each 8-bit element replaced by the entry of a table of 256."""

    name = "top.Lut"

    input = operand_def(TENSOR)
    table = operand_def(TENSOR)
    output = result_def(TENSOR)


@irdl_op_definition
class ScaleLutOp(ConversionOp):
    """A scale and a bias for each channel of an 8-bit image, done by tables."""

    name = "top.ScaleLut"

    scale = attr_def(F64_ARRAY)
    bias = attr_def(F64_ARRAY)
    sign = default_attr_def(BOOL, True)
