"""Matrix products and contractions."""

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

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.dialects.top.enums import DQ_TYPE, EINSUM_MODE
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


@irdl_op_definition
class MatMulOp(FusedReluOp):
    """Matrix product with optional batch dims, transposes, bias and relu."""

    name = "top.MatMul"

    input = operand_def(TENSOR)
    right = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    right_transpose = default_attr_def(BOOL, False)
    left_transpose = default_attr_def(BOOL, False)
    output_transpose = default_attr_def(BOOL, False)
    hdim_is_batch = default_attr_def(BOOL, False)
    keep_dims = default_attr_def(BOOL, True)
    is_lora = default_attr_def(BOOL, False)
    weight_bits = opt_attr_def(I64_INT)
    in_int4_scale = opt_attr_def(F64)
    in_int4_zp = opt_attr_def(F64)
    out_int8_scale = opt_attr_def(F64)
    out_int8_zp = opt_attr_def(F64)
    dq_type = default_attr_def(DQ_TYPE, "NONE")
    q_group_size = default_attr_def(I64_INT, 0)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class A16MatMulOp(NamedOp):
    """Float16/bfloat16 activation times packed low-bit weight (int4/int8) with scale/zero-
    point per group."""

    name = "top.A16MatMul"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    zp = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    right_transpose = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 128)
    weight_bits = default_attr_def(I64_INT, 8)
    dq_type = default_attr_def(DQ_TYPE, "NONE")

    traits = traits_def(Pure())


@irdl_op_definition
class Fp8MatMulOp(NamedOp):
    """Matmul of fp8 block-scaled weights."""

    name = "top.Fp8MatMul"

    input = operand_def(TENSOR)
    weight = operand_def(TENSOR)
    weight_scale = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    weight_transpose = default_attr_def(BOOL, False)
    block_size = default_attr_def(I64_INT, 128)

    traits = traits_def(Pure())


@irdl_op_definition
class MlpOp(NamedOp):
    """Fused gated MLP (gate, up, down projections)."""

    name = "top.Mlp"

    input = operand_def(TENSOR)
    weight_gate = operand_def(TENSOR)
    weight_up = operand_def(TENSOR)
    weight_down = operand_def(TENSOR)
    bias_gate = operand_def(TENSOR_OR_NONE)
    bias_up = operand_def(TENSOR_OR_NONE)
    bias_down = operand_def(TENSOR_OR_NONE)
    expert_id = operand_def(TENSOR_OR_NONE)
    scale_gate = operand_def(TENSOR_OR_NONE)
    scale_up = operand_def(TENSOR_OR_NONE)
    scale_down = operand_def(TENSOR_OR_NONE)
    zp_gate = operand_def(TENSOR_OR_NONE)
    zp_up = operand_def(TENSOR_OR_NONE)
    zp_down = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    right_transpose_gate = default_attr_def(BOOL, True)
    right_transpose_up = default_attr_def(BOOL, True)
    right_transpose_down = default_attr_def(BOOL, False)
    is_expert = default_attr_def(BOOL, False)
    quantized = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 128)
    weight_bits = default_attr_def(I64_INT, 8)
    num_expert = default_attr_def(I64_INT, 1)
    num_expert_per_tok = default_attr_def(I64_INT, 1)

    traits = traits_def(Pure())


@irdl_op_definition
class EinsumOp(NamedOp):
    """Einsum for a closed list of equations."""

    name = "top.Einsum"

    inputs = var_operand_def(TENSOR)
    output = result_def(TENSOR)
    mode = attr_def(EINSUM_MODE)

    traits = traits_def(Pure(), SupportFuseRelu())
