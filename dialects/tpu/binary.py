"""Element by element on two or more tensors."""

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

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, I32_INT, I64_ARRAY, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.enums import RequantMode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import BINARY_SHIFT, COMPARE_MODE, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportEarlyStride, SupportFuseRelu


@irdl_op_definition
class AddOp(LocalOp):
    """N-ary elementwise sum (numpy broadcast) with a per-input coefficient and optional relu."""

    name = "tpu.Add"

    inputs = var_operand_def(RankedTensor)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    coeff = opt_attr_def(F64_ARRAY)
    do_early_stride = opt_attr_def(BOOL)
    early_stride_h = opt_attr_def(I32_INT)
    early_stride_w = opt_attr_def(I32_INT)
    multipliers = opt_attr_def(I64_ARRAY)
    rshifts = opt_attr_def(I64_ARRAY)
    f8_scales = opt_attr_def(F64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportEarlyStride(), SupportFuseRelu())


@irdl_op_definition
class SubOp(LocalOp):
    """Elementwise difference (optionally reversed)."""

    name = "tpu.Sub"

    inputs = var_operand_def(RankedTensor)
    is_reverse = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    coeff = opt_attr_def(F64_ARRAY)
    multipliers = opt_attr_def(I64_ARRAY)
    rshifts = opt_attr_def(I64_ARRAY)
    f8_scales = opt_attr_def(F64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MulOp(LocalOp):
    """N-ary elementwise product with optional relu."""

    name = "tpu.Mul"

    inputs = var_operand_def(RankedTensor)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    out_f8_scales = opt_attr_def(F64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class DivOp(LocalOp):
    """Elementwise quotient of two tensors."""

    name = "tpu.Div"

    inputs = var_operand_def(RankedTensor)
    is_reverse = default_attr_def(BOOL, False)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    do_core_parallel = opt_attr_def(BOOL)
    is_scalar = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class MaxOp(LocalOp):
    """Elementwise maximum."""

    name = "tpu.Max"

    inputs = var_operand_def(RankedTensor)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    coeff = opt_attr_def(F64_ARRAY)
    multipliers = opt_attr_def(I64_ARRAY)
    rshifts = opt_attr_def(I64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class MinOp(LocalOp):
    """Elementwise minimum."""

    name = "tpu.Min"

    inputs = var_operand_def(RankedTensor)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    coeff = opt_attr_def(F64_ARRAY)
    multipliers = opt_attr_def(I64_ARRAY)
    rshifts = opt_attr_def(I64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class CastAddOp(TpuOp):
    """Fused cast and add."""

    name = "tpu.CastAdd"

    inputs = var_operand_def(RankedTensor)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportEarlyStride(), SupportFuseRelu())


@irdl_op_definition
class BinaryShiftOp(LocalOp):
    """Integer binary op of two tensors followed by an arithmetic shift."""

    name = "tpu.BinaryShift"

    input1 = operand_def(RankedTensor)
    input2 = operand_def(RankedTensor)
    mode = attr_def(BINARY_SHIFT)
    shift = attr_def(SI32)
    is_reverse = default_attr_def(BOOL, False)
    saturation = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class CompareOp(LocalOp):
    """Elementwise comparison of two tensors, result 0/1."""

    name = "tpu.Compare"

    lhs = operand_def(RankedTensor)
    rhs = operand_def(RankedTensor)
    mode = attr_def(COMPARE_MODE)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class LogicalAndOp(TpuOp):
    """Logical and of two tensors."""

    name = "tpu.LogicalAnd"

    inputs = var_operand_def(RankedTensor)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class WhereOp(LocalOp):
    """Select by condition, branches tensor or constant."""

    name = "tpu.Where"

    cond = operand_def(RankedTensor)
    tbrn = operand_def(TensorOrNone)
    fbrn = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    x_is_const = default_attr_def(BOOL, False)
    y_is_const = default_attr_def(BOOL, False)
    x_const_val = default_attr_def(F64, 0.0)
    y_const_val = default_attr_def(F64, 0.0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class MaskedFillOp(LocalOp):
    """Select a constant where the condition holds (or its inverse)."""

    name = "tpu.MaskedFill"

    cond = operand_def(RankedTensor)
    brn = operand_def(RankedTensor)
    inversed = attr_def(BOOL)
    const_val = attr_def(F64)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
