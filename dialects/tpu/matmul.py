"""Matrix products."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.enums import RequantMode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import DQ_TYPE, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportFuseRelu


@irdl_op_definition
class MatMulOp(LocalOp):
    """Matrix product with optional batch dims, transposes, bias and relu."""

    name = "tpu.MatMul"

    input = operand_def(RankedTensor)
    right = operand_def(RankedTensor)
    bias = operand_def(TensorOrNone)
    multi = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    left_transpose = default_attr_def(BOOL, False)
    right_transpose = default_attr_def(BOOL, False)
    output_transpose = default_attr_def(BOOL, False)
    hdim_is_batch = default_attr_def(BOOL, False)
    keep_dims = default_attr_def(BOOL, True)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multipliers = default_attr_def(I64_ARRAY, (1,))
    rshifts = default_attr_def(I64_ARRAY, (0,))
    right_zp = default_attr_def(I64_INT, 0)
    input_zp = default_attr_def(I64_INT, 0)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    left_reuse = default_attr_def(I64_INT, 1)
    out_scales = opt_attr_def(F64_ARRAY)
    multi_core = opt_attr_def(BOOL)
    fuse_rq = default_attr_def(BOOL, False)
    is_lora = default_attr_def(BOOL, False)
    weight_bits = opt_attr_def(I64_INT)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    dq_type = default_attr_def(DQ_TYPE, "NONE")
    q_group_size = default_attr_def(I64_INT, 0)
    cal_i8 = opt_attr_def(BOOL)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class MatMulLutOp(LocalOp):
    """Matmul fused with a LUT."""

    name = "tpu.MatMulLut"

    input = operand_def(RankedTensor)
    table = operand_def(RankedTensor)
    right = operand_def(RankedTensor)
    bias = operand_def(TensorOrNone)
    multi = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    left_transpose = default_attr_def(BOOL, False)
    right_transpose = default_attr_def(BOOL, False)
    output_transpose = default_attr_def(BOOL, False)
    hdim_is_batch = default_attr_def(BOOL, False)
    keep_dims = default_attr_def(BOOL, True)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    multipliers = default_attr_def(I64_ARRAY, (1,))
    rshifts = default_attr_def(I64_ARRAY, (0,))
    right_zp = default_attr_def(I64_INT, 0)
    input_zp = default_attr_def(I64_INT, 0)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    left_reuse = default_attr_def(I64_INT, 1)
    out_f8_scales = opt_attr_def(F64_ARRAY)
    multi_core = opt_attr_def(BOOL)
    fuse_rq = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class A16MatMulOp(TpuOp):
    """Float16/bfloat16 activation times packed low-bit weight (int4/int8) with scale/zero-point
    per group.
    """

    name = "tpu.A16MatMul"

    input = operand_def(RankedTensor)
    weight = operand_def(RankedTensor)
    scale = operand_def(TensorOrNone)
    zp = operand_def(TensorOrNone)
    bias = operand_def(TensorOrNone)
    weight_bits = attr_def(I64_INT)
    sign = default_attr_def(BOOL, True)
    w_transpose = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 0)
    do_core_parallel = opt_attr_def(BOOL)
    dq_type = default_attr_def(DQ_TYPE, "NONE")
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class Fp8MatMulOp(TpuOp):
    """Matmul of fp8 block-scaled weights."""

    name = "tpu.Fp8MatMul"

    input = operand_def(RankedTensor)
    weight = operand_def(RankedTensor)
    weight_scale = operand_def(RankedTensor)
    bias = operand_def(TensorOrNone)
    weight_transpose = default_attr_def(BOOL, False)
    block_size = default_attr_def(I64_INT, 128)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
