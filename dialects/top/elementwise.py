"""Element-by-element ops of several tensors, with broadcasting."""

from abc import ABC

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
    var_operand_def,
)

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError
from xdsl_tpu.dialects.top.abstract import BroadcastOp, FusedReluOp, ShiftedOp
from xdsl_tpu.dialects.top.enums import COMPARE_MODE
from xdsl_tpu.dialects.top.traits import (
    ScalarConsumer,
    ScalarProducer,
    SupportConstant,
    SupportFuseRelu,
)


class SeveralInputsOp(BroadcastOp, ABC):
    """An op of any number of inputs, at least one."""

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)

    def result_shapes(self) -> tuple[Shape, ...]:
        if not self.inputs:
            raise ShapeError("there are no inputs")
        return super().result_shapes()


class TwoInputsOp(SeveralInputsOp, ABC):
    """An op of two inputs."""

    def result_shapes(self) -> tuple[Shape, ...]:
        if len(self.inputs) != 2:
            raise ShapeError(f"there are {len(self.inputs)} inputs instead of 2")
        return super().result_shapes()


class CoefficientsOp(SeveralInputsOp, ABC):
    """An op that may multiply each input by a factor of its own, 1 when `coeff` is absent."""

    coeff = opt_attr_def(F64_ARRAY)

    def result_shapes(self) -> tuple[Shape, ...]:
        if self.coeff is not None and len(self.coeff) != len(self.inputs):
            raise ShapeError(f"coeff has {len(self.coeff)} values for {len(self.inputs)} inputs")
        return super().result_shapes()


@irdl_op_definition
class AddOp(FusedReluOp, CoefficientsOp):
    """Sum of all inputs, each times its `coeff`, then the ReLU if any."""

    name = "top.Add"

    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(ScalarConsumer(), ScalarProducer(), SupportConstant(), SupportFuseRelu())


@irdl_op_definition
class SubOp(FusedReluOp, TwoInputsOp, CoefficientsOp):
    """First input less the second, or the other way round with `is_reverse`; then the ReLU if any.

    Each input is first multiplied by its `coeff`.
    """

    name = "top.Sub"

    is_reverse = default_attr_def(BOOL, False)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(ScalarConsumer(), ScalarProducer(), SupportConstant(), SupportFuseRelu())


@irdl_op_definition
class MulOp(FusedReluOp, SeveralInputsOp):
    """Product of all inputs, then the ReLU if any."""

    name = "top.Mul"

    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(ScalarConsumer(), ScalarProducer(), SupportConstant(), SupportFuseRelu())


@irdl_op_definition
class DivOp(FusedReluOp, TwoInputsOp):
    """First input by the second, or the other way round with `is_reverse`; then the ReLU if any."""

    name = "top.Div"

    is_reverse = default_attr_def(BOOL, False)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(ScalarConsumer(), ScalarProducer())


@irdl_op_definition
class MaxOp(SeveralInputsOp):
    """The largest of the inputs, element by element."""

    name = "top.Max"

    traits = traits_def(SupportConstant())


@irdl_op_definition
class MinOp(SeveralInputsOp):
    """The smallest of the inputs, element by element."""

    name = "top.Min"

    traits = traits_def(SupportConstant())


@irdl_op_definition
class ModOp(TwoInputsOp):
    """Remainder of the first input by the second, with the sign that ONNX's Mod gives it."""

    name = "top.Mod"


@irdl_op_definition
class RemainderOp(TwoInputsOp):
    """Remainder of the first input by the second, with the sign of the second (torch)."""

    name = "top.Remainder"


@irdl_op_definition
class Pow3Op(TwoInputsOp):
    """First input to the power of the second."""

    name = "top.Pow3"


@irdl_op_definition
class WhereOp(BroadcastOp):
    """`tbrn` where the condition is not 0, `fbrn` elsewhere.

    A branch may be a constant instead: with `x_is_const` the first is `x_const_val` and its
    operand none, with `y_is_const` the second.
    """

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
    """`const_val` where the condition is not 0 and `brn` elsewhere; `inversed` swaps the two."""

    name = "top.MaskedFill"

    cond = operand_def(TENSOR)
    brn = operand_def(TENSOR)
    output = result_def(TENSOR)
    inversed = attr_def(BOOL)
    const_val = attr_def(F64)


@irdl_op_definition
class CompareOp(BroadcastOp):
    """1 where the comparison of both sides holds, 0 elsewhere."""

    name = "top.Compare"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(COMPARE_MODE)

    traits = traits_def(SupportConstant())


@irdl_op_definition
class LogicalAndOp(SeveralInputsOp):
    """1 where no input is 0, 0 elsewhere."""

    name = "top.LogicalAnd"


@irdl_op_definition
class BinaryShiftOp(ShiftedOp, BroadcastOp):
    """Integer sum, difference or product of two tensors, then an arithmetic shift.

    Bits shifted out round by `round_mode`; `saturation` clips to the result's type.
    """

    name = "top.BinaryShift"

    input1 = operand_def(TENSOR)
    input2 = operand_def(TENSOR)
    output = result_def(TENSOR)
