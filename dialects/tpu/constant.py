"""Element by element on a tensor and a number written in the op."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import BINARY_SHIFT, COMPARE_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import TakesMargins
from xdsl_tpu.dialects.tpu.op import LocalOp, SameShape
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise, SupportFuseRelu


@irdl_op_definition
class AddConstOp(TakesMargins, SameShape, LocalOp):
    """x + const_val, then the ReLU if any.

    Quantised, x is scaled by `multiplier` and `rshift`, and `const_val` is in units of the output.
    """

    name = "tpu.AddConst"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    f8_scale = default_attr_def(F64, 1.0)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise(), SupportFuseRelu())


@irdl_op_definition
class SubConstOp(TakesMargins, SameShape, LocalOp):
    """x - const_val, or const_val - x with `is_reverse`, then the ReLU if any."""

    name = "tpu.SubConst"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    is_reverse = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    f8_scale = default_attr_def(F64, 1.0)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise(), SupportFuseRelu())


@irdl_op_definition
class MulConstOp(SameShape, LocalOp):
    """x * const_val, then the ReLU if any."""

    name = "tpu.MulConst"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise(), SupportFuseRelu())


@irdl_op_definition
class MaxConstOp(SameShape, LocalOp):
    """The larger of x and const_val."""

    name = "tpu.MaxConst"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class MinConstOp(SameShape, LocalOp):
    """The smaller of x and const_val."""

    name = "tpu.MinConst"

    input = operand_def(RANKED)
    const_val = attr_def(F64)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class ReciprocalOp(SameShape, LocalOp):
    """const_val / x, then the ReLU if any."""

    name = "tpu.Reciprocal"

    input = operand_def(RANKED)
    const_val = default_attr_def(F64, 1.0)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise(), SupportFuseRelu())


@irdl_op_definition
class BinaryConstShiftOp(TakesMargins, SameShape, LocalOp):
    """An integer operation with a number, then an arithmetic shift."""

    name = "tpu.BinaryConstShift"

    input = operand_def(RANKED)
    scale = attr_def(SI32)
    mode = attr_def(BINARY_SHIFT)
    shift = attr_def(SI32)
    is_reverse = default_attr_def(BOOL, False)
    saturation = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class CompareConstOp(SameShape, LocalOp):
    """1 where `x mode const_val` holds and 0 elsewhere; sides swapped when `inversed`."""

    name = "tpu.CompareConst"

    input = operand_def(RANKED)
    mode = attr_def(COMPARE_MODE)
    const_val = attr_def(F64)
    inversed = attr_def(BOOL)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class ClipOp(SameShape, LocalOp):
    """x limited to the range from `min` to `max`."""

    name = "tpu.Clip"

    input = operand_def(RANKED)
    min = attr_def(F64)
    max = attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())

    def result_shapes(self) -> tuple[Shape, ...]:
        low, high = self.min.value.data, self.max.value.data
        if low > high:
            raise ShapeError(f"the range from {low} to {high} is empty")
        return super().result_shapes()
