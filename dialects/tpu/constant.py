"""Element by element on a tensor and a number written in the op."""

from abc import ABC

from xdsl.irdl import attr_def, irdl_op_definition, opt_attr_def, traits_def

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError
from xdsl_tpu.dialects.tpu.kinds import COMPARE_MODE
from xdsl_tpu.dialects.tpu.op import ElementwiseOp, FusedReluOp, ShiftedOp, UnaryOp
from xdsl_tpu.dialects.traits import SupportFuseRelu


class ScaledConstOp(FusedReluOp, ElementwiseOp, ABC):
    """An op that, quantised, scales by `multiplier` and `rshift`."""

    const_val = attr_def(F64)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)


class SumConstOp(ScaledConstOp, ABC):
    """The sum or difference of x and `const_val`, then the ReLU if any.

    Quantised, x is scaled by `multiplier` and `rshift`, and `const_val` is in units of the output.
    """

    f8_scale = default_attr_def(F64, 1.0)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(SupportFuseRelu())


@irdl_op_definition
class AddConstOp(SumConstOp):
    """x + const_val, then the ReLU if any."""

    name = "tpu.AddConst"


@irdl_op_definition
class SubConstOp(SumConstOp):
    """x - const_val, or const_val - x with `is_reverse`, then the ReLU if any."""

    name = "tpu.SubConst"

    is_reverse = default_attr_def(BOOL, False)


@irdl_op_definition
class MulConstOp(ScaledConstOp):
    """x * const_val, then the ReLU if any."""

    name = "tpu.MulConst"

    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(SupportFuseRelu())


@irdl_op_definition
class MaxConstOp(ScaledConstOp):
    """The larger of x and const_val."""

    name = "tpu.MaxConst"


@irdl_op_definition
class MinConstOp(ScaledConstOp):
    """The smaller of x and const_val."""

    name = "tpu.MinConst"


@irdl_op_definition
class ReciprocalOp(FusedReluOp, ElementwiseOp):
    """const_val / x, then the ReLU if any."""

    name = "tpu.Reciprocal"

    const_val = default_attr_def(F64, 1.0)

    traits = traits_def(SupportFuseRelu())


@irdl_op_definition
class BinaryConstShiftOp(ShiftedOp, ElementwiseOp):
    """An integer operation with a number, then an arithmetic shift."""

    name = "tpu.BinaryConstShift"

    scale = attr_def(SI32)


@irdl_op_definition
class CompareConstOp(ElementwiseOp):
    """1 where `x mode const_val` holds and 0 elsewhere; sides swapped when `inversed`."""

    name = "tpu.CompareConst"

    mode = attr_def(COMPARE_MODE)
    const_val = attr_def(F64)
    inversed = attr_def(BOOL)


@irdl_op_definition
class ClipOp(UnaryOp):
    """x limited to the range from `min` to `max`."""

    name = "tpu.Clip"

    min = attr_def(F64)
    max = attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)

    def result_shapes(self) -> tuple[Shape, ...]:
        low, high = self.min.value.data, self.max.value.data
        if low > high:
            raise ShapeError(f"the range from {low} to {high} is empty")
        return super().result_shapes()
