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
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import BINARY_SHIFT, COMPARE_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise, SupportFuseRelu


@irdl_op_definition
class AddConstOp(LocalOp):
    """X + constant, optional relu."""

    name = "tpu.AddConst"

    input = operand_def(RankedTensor)
    const_val = attr_def(F64)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    f8_scale = default_attr_def(F64, 1.0)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise(), SupportFuseRelu())


@irdl_op_definition
class SubConstOp(LocalOp):
    """X - constant or constant - x (is_reverse)."""

    name = "tpu.SubConst"

    input = operand_def(RankedTensor)
    const_val = attr_def(F64)
    is_reverse = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    f8_scale = default_attr_def(F64, 1.0)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise(), SupportFuseRelu())


@irdl_op_definition
class MulConstOp(LocalOp):
    """X * constant, optional relu."""

    name = "tpu.MulConst"

    input = operand_def(RankedTensor)
    const_val = attr_def(F64)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise(), SupportFuseRelu())


@irdl_op_definition
class MaxConstOp(LocalOp):
    """Max(x, constant)."""

    name = "tpu.MaxConst"

    input = operand_def(RankedTensor)
    const_val = attr_def(F64)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class MinConstOp(LocalOp):
    """Min(x, constant)."""

    name = "tpu.MinConst"

    input = operand_def(RankedTensor)
    const_val = attr_def(F64)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class ReciprocalOp(LocalOp):
    """Const_val / x."""

    name = "tpu.Reciprocal"

    input = operand_def(RankedTensor)
    const_val = default_attr_def(F64, 1.0)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise(), SupportFuseRelu())


@irdl_op_definition
class BinaryConstShiftOp(LocalOp):
    """Integer binary op with a constant followed by an arithmetic shift."""

    name = "tpu.BinaryConstShift"

    input = operand_def(RankedTensor)
    scale = attr_def(SI32)
    mode = attr_def(BINARY_SHIFT)
    shift = attr_def(SI32)
    is_reverse = default_attr_def(BOOL, False)
    saturation = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class CompareConstOp(LocalOp):
    """Comparison with a constant, optionally with operands swapped (inversed)."""

    name = "tpu.CompareConst"

    input = operand_def(RankedTensor)
    mode = attr_def(COMPARE_MODE)
    const_val = attr_def(F64)
    inversed = attr_def(BOOL)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class ClipOp(LocalOp):
    """Clamp to [min,max]."""

    name = "tpu.Clip"

    input = operand_def(RankedTensor)
    min = attr_def(F64)
    max = attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), InOutSameShape())
