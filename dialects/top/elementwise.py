"""Element-by-element ops of several tensors, with broadcasting."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE
from xdsl_tpu.dialects.top.abstract import BroadcastOp, FusedReluOp
from xdsl_tpu.dialects.top.enums import BINARY_SHIFT, COMPARE_MODE, ROUND_MODE
from xdsl_tpu.dialects.top.traits import (
    InOutSameShape,
    ScalarConsumer,
    ScalarProducer,
    SupportConstant,
    SupportFuseRelu,
)


@irdl_op_definition
class AddOp(FusedReluOp, BroadcastOp):
    """N-ary elementwise sum (numpy broadcast) with a per-input coefficient and optional relu."""

    name = "top.Add"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    coeff = opt_attr_def(F64_ARRAY)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(ScalarConsumer(), ScalarProducer(), SupportConstant(), SupportFuseRelu())


@irdl_op_definition
class SubOp(FusedReluOp, BroadcastOp):
    """Elementwise difference (optionally reversed)."""

    name = "top.Sub"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    is_reverse = default_attr_def(BOOL, False)
    coeff = opt_attr_def(F64_ARRAY)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(ScalarConsumer(), ScalarProducer(), SupportConstant(), SupportFuseRelu())


@irdl_op_definition
class MulOp(FusedReluOp, BroadcastOp):
    """N-ary elementwise product with optional relu."""

    name = "top.Mul"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(ScalarConsumer(), ScalarProducer(), SupportConstant(), SupportFuseRelu())


@irdl_op_definition
class DivOp(FusedReluOp, BroadcastOp):
    """Elementwise quotient of two tensors."""

    name = "top.Div"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    is_reverse = default_attr_def(BOOL, False)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(ScalarConsumer(), ScalarProducer())


@irdl_op_definition
class MaxOp(BroadcastOp):
    """Elementwise maximum."""

    name = "top.Max"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(SupportConstant())


@irdl_op_definition
class MinOp(BroadcastOp):
    """Elementwise minimum."""

    name = "top.Min"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(SupportConstant())


@irdl_op_definition
class ModOp(BroadcastOp):
    """Elementwise modulo."""

    name = "top.Mod"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)


@irdl_op_definition
class RemainderOp(BroadcastOp):
    """Elementwise remainder."""

    name = "top.Remainder"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)


@irdl_op_definition
class Pow3Op(BroadcastOp):
    """X^y for two tensors."""

    name = "top.Pow3"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)


@irdl_op_definition
class ScaleOp(FusedReluOp):
    """Per-channel x*scale+bias, optional relu."""

    name = "top.Scale"

    input = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    bias = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure(), SupportFuseRelu(), InOutSameShape())


@irdl_op_definition
class WhereOp(BroadcastOp):
    """Select by condition, branches tensor or constant."""

    name = "top.Where"

    cond = operand_def(TENSOR)
    tbrn = operand_def(TENSOR_OR_NONE)
    fbrn = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    x_is_const = default_attr_def(BOOL, False)
    y_is_const = default_attr_def(BOOL, False)
    x_const_val = default_attr_def(F64, 0.0)
    y_const_val = default_attr_def(F64, 0.0)


@irdl_op_definition
class MaskedFillOp(BroadcastOp):
    """Select a constant where the condition holds (or its inverse)."""

    name = "top.MaskedFill"

    cond = operand_def(TENSOR)
    brn = operand_def(TENSOR)
    output = result_def(TENSOR)
    inversed = attr_def(BOOL)
    const_val = attr_def(F64)


@irdl_op_definition
class CompareOp(BroadcastOp):
    """Elementwise comparison of two tensors, result 0/1."""

    name = "top.Compare"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(COMPARE_MODE)

    traits = traits_def(SupportConstant())


@irdl_op_definition
class LogicalAndOp(BroadcastOp):
    """Logical and of two tensors."""

    name = "top.LogicalAnd"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)


@irdl_op_definition
class BinaryShiftOp(BroadcastOp):
    """Integer binary op of two tensors followed by an arithmetic shift."""

    name = "top.BinaryShift"

    input1 = operand_def(TENSOR)
    input2 = operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(BINARY_SHIFT)
    shift = attr_def(SI32)
    is_reverse = default_attr_def(BOOL, False)
    saturation = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
