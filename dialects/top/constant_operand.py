"""Element-by-element ops of one tensor and a constant."""

from abc import ABC

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR
from xdsl_tpu.dialects.top.abstract import FusedReluOp, SameShapeOp, ShiftedOp, UnaryOp
from xdsl_tpu.dialects.top.enums import COMPARE_MODE
from xdsl_tpu.dialects.top.layout import ElementwiseUnary
from xdsl_tpu.dialects.top.traits import (
    ScalarConsumer,
    ScalarProducer,
    SupportEarlyStride,
    SupportElementwise,
    SupportFuseRelu,
    SupportPermuteMove,
)


class ScalarConstOp(UnaryOp, ABC):
    """An op of one tensor and the number `const_val`."""

    const_val = attr_def(F64)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(
        ScalarConsumer(), ScalarProducer(), SupportElementwise(), SupportEarlyStride()
    )


@irdl_op_definition
class AddConstOp(FusedReluOp, ScalarConstOp):
    """y = x + const_val, then the ReLU if any."""

    name = "top.AddConst"

    traits = traits_def(SupportFuseRelu(), SupportPermuteMove())


@irdl_op_definition
class SubConstOp(FusedReluOp, ScalarConstOp):
    """y = x - const_val, or const_val - x with `is_reverse`; then the ReLU if any."""

    name = "top.SubConst"

    is_reverse = default_attr_def(BOOL, False)

    traits = traits_def(SupportFuseRelu())


@irdl_op_definition
class MulConstOp(FusedReluOp, ScalarConstOp):
    """y = x * const_val, then the ReLU if any."""

    name = "top.MulConst"

    traits = traits_def(SupportFuseRelu(), SupportPermuteMove())


@irdl_op_definition
class DivConstOp(FusedReluOp, ScalarConstOp):
    """y = x / const_val, or const_val / x with `is_reverse`; then the ReLU if any."""

    name = "top.DivConst"

    is_reverse = default_attr_def(BOOL, False)


@irdl_op_definition
class MaxConstOp(ScalarConstOp):
    """y = max(x, const_val)."""

    name = "top.MaxConst"


@irdl_op_definition
class MinConstOp(ScalarConstOp):
    """y = min(x, const_val)."""

    name = "top.MinConst"


@irdl_op_definition
class CompareConstOp(ScalarConstOp):
    """1 where x compares with `const_val` as `mode` says, 0 elsewhere.

    With `inversed` the constant is the left side.
    """

    name = "top.CompareConst"

    mode = attr_def(COMPARE_MODE)
    inversed = attr_def(BOOL)


@irdl_op_definition
class ReciprocalOp(FusedReluOp, UnaryOp):
    """y = const_val / x, then the ReLU if any."""

    name = "top.Reciprocal"

    const_val = default_attr_def(F64, 1.0)

    traits = traits_def(SupportFuseRelu(), SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class PowOp(UnaryOp):
    """y = x ** exponent."""

    name = "top.Pow"

    exponent = attr_def(F64)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class Pow2Op(UnaryOp):
    """y = const_val ** x."""

    name = "top.Pow2"

    const_val = attr_def(F64)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())


@irdl_op_definition
class ClipOp(SameShapeOp):
    """y = min(max(x, min), max)."""

    name = "top.Clip"

    inputs = operand_def(TENSOR)
    output = result_def(TENSOR)
    min = attr_def(F64)
    max = attr_def(F64)

    traits = traits_def(SupportElementwise(), SupportEarlyStride(), ElementwiseUnary())


@irdl_op_definition
class BinaryConstShiftOp(ShiftedOp, UnaryOp):
    """Integer sum, difference or product with `scale`, then a shift as in BinaryShift."""

    name = "top.BinaryConstShift"

    scale = attr_def(SI32)

    traits = traits_def(SupportElementwise(), SupportEarlyStride())
