"""Attention and other building blocks of language models."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import RankedTensor, TensorOrNone
from xdsl_tpu.dialects.tpu.enums import RopeMode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import ROPE_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.op import LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportElementwise, SupportFuseRelu


@irdl_op_definition
class AttentionOp(LocalOp):
    """Fused multi-head attention block (Q/K/V/O projections, scale, softmax, optional mask)."""

    name = "tpu.Attention"

    input = operand_def(RankedTensor)
    keys = operand_def(TensorOrNone)
    values = operand_def(TensorOrNone)
    queries_weight = operand_def(RankedTensor)
    queries_bias = operand_def(TensorOrNone)
    keys_weight = operand_def(TensorOrNone)
    keys_bias = operand_def(TensorOrNone)
    values_weight = operand_def(TensorOrNone)
    values_bias = operand_def(TensorOrNone)
    out_weight = operand_def(RankedTensor)
    out_bias = operand_def(TensorOrNone)
    mask = operand_def(TensorOrNone)
    table = operand_def(TensorOrNone)
    quant_param = default_attr_def(I64_ARRAY, (0,))
    scale = attr_def(F64)
    head = attr_def(I64_INT)
    dim = attr_def(I64_INT)
    has_bias = default_attr_def(I64_INT, 0)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportFuseRelu())


@irdl_op_definition
class FAttentionOp(TpuOp):
    """Flash attention."""

    name = "tpu.FAttention"

    queries = operand_def(RankedTensor)
    keys = operand_def(RankedTensor)
    values = operand_def(RankedTensor)
    mask = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    scale = attr_def(F64)
    batch = attr_def(I64_INT)
    q_head = attr_def(I64_INT)
    kv_head = attr_def(I64_INT)
    dim = attr_def(I64_INT)
    mq = attr_def(I64_INT)
    mk = attr_def(I64_INT)
    keep_dims = default_attr_def(BOOL, True)
    mask_size = default_attr_def(SI32, 0)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class FAttentionLseOp(TpuOp):
    """Flash attention that also returns log-sum-exp."""

    name = "tpu.FAttentionLse"

    queries = operand_def(RankedTensor)
    keys = operand_def(RankedTensor)
    values = operand_def(RankedTensor)
    mask = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    scale = attr_def(F64)
    batch = attr_def(I64_INT)
    q_head = attr_def(I64_INT)
    kv_head = attr_def(I64_INT)
    dim = attr_def(I64_INT)
    mq = attr_def(I64_INT)
    mk = attr_def(I64_INT)
    keep_dims = default_attr_def(BOOL, True)
    mask_size = default_attr_def(SI32, 0)
    output = result_def(RankedTensor)
    lse = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class FlexAttentionOp(TpuOp):
    """Attention with a programmable mask/score."""

    name = "tpu.FlexAttention"

    queries = operand_def(RankedTensor)
    keys = operand_def(RankedTensor)
    values = operand_def(RankedTensor)
    mask = operand_def(TensorOrNone)
    block_bitmap = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    scale = attr_def(F64)
    batch = attr_def(I64_INT)
    q_head = attr_def(I64_INT)
    kv_head = attr_def(I64_INT)
    qk_d = attr_def(I64_INT)
    v_d = attr_def(I64_INT)
    mq = attr_def(I64_INT)
    mk = attr_def(I64_INT)
    has_lse = default_attr_def(BOOL, False)
    flex_block = default_attr_def(SI32, 128)
    keep_dims = default_attr_def(BOOL, True)
    mask_size = default_attr_def(SI32, 0)
    output = result_def(RankedTensor)
    lse = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class MlpOp(TpuOp):
    """Fused gated MLP (gate, up, down projections)."""

    name = "tpu.Mlp"

    input = operand_def(RankedTensor)
    weight_gate = operand_def(RankedTensor)
    scale_gate = operand_def(TensorOrNone)
    zp_gate = operand_def(TensorOrNone)
    bias_gate = operand_def(TensorOrNone)
    weight_up = operand_def(RankedTensor)
    scale_up = operand_def(TensorOrNone)
    zp_up = operand_def(TensorOrNone)
    bias_up = operand_def(TensorOrNone)
    weight_down = operand_def(RankedTensor)
    scale_down = operand_def(TensorOrNone)
    zp_down = operand_def(TensorOrNone)
    bias_down = operand_def(TensorOrNone)
    expert_id = operand_def(TensorOrNone)
    buffer = operand_def(TensorOrNone)
    w_transpose_gate = default_attr_def(BOOL, True)
    w_transpose_up = default_attr_def(BOOL, True)
    w_transpose_down = default_attr_def(BOOL, False)
    is_expert = default_attr_def(BOOL, False)
    quantized = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 128)
    weight_bits = default_attr_def(I64_INT, 8)
    num_expert = default_attr_def(I64_INT, 1)
    num_expert_per_tok = default_attr_def(I64_INT, 1)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class RopeOp(LocalOp):
    """Rotary position embedding."""

    name = "tpu.Rope"

    input1 = operand_def(RankedTensor)
    input2 = operand_def(RankedTensor)
    input3 = operand_def(RankedTensor)
    rope_mode = default_attr_def(ROPE_MODE, RopeMode.interleaved_pairs)
    is_permute_optimize = default_attr_def(BOOL, False)
    mul1_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    mul2_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    add_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    mul1_shift = default_attr_def(SI32, 0)
    mul2_shift = default_attr_def(SI32, 0)
    add_shift = default_attr_def(SI32, 0)
    mul1_saturation = default_attr_def(BOOL, True)
    mul2_saturation = default_attr_def(BOOL, True)
    add_saturation = default_attr_def(BOOL, True)
    force_f32 = default_attr_def(BOOL, False)
    output = result_def(RankedTensor)

    traits = traits_def(Pure(), SupportElementwise())


@irdl_op_definition
class ChunkGatedDeltaRuleOp(TpuOp):
    """Chunked gated delta rule linear attention (LLM)."""

    name = "tpu.ChunkGatedDeltaRule"

    query = operand_def(RankedTensor)
    key = operand_def(RankedTensor)
    value = operand_def(RankedTensor)
    g = operand_def(RankedTensor)
    beta = operand_def(RankedTensor)
    recurrent_state = operand_def(RankedTensor)
    triu_mask = operand_def(RankedTensor)
    strict_triu_mask = operand_def(RankedTensor)
    tril_mask = operand_def(RankedTensor)
    eye = operand_def(RankedTensor)
    num_k_heads = attr_def(I64_INT)
    num_v_heads = attr_def(I64_INT)
    d = attr_def(I64_INT)
    chunk_size = attr_def(I64_INT)
    use_qk_l2norm = attr_def(BOOL)
    scale = attr_def(F64)
    attn_out = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class RecurrentGatedDeltaRuleOp(TpuOp):
    """Recurrent gated delta rule linear attention (LLM)."""

    name = "tpu.RecurrentGatedDeltaRule"

    query = operand_def(RankedTensor)
    key = operand_def(RankedTensor)
    value = operand_def(RankedTensor)
    g = operand_def(RankedTensor)
    beta = operand_def(RankedTensor)
    recurrent_state = operand_def(RankedTensor)
    num_k_heads = attr_def(I64_INT)
    num_v_heads = attr_def(I64_INT)
    d = attr_def(I64_INT)
    use_qk_l2norm = attr_def(BOOL)
    scale = attr_def(F64)
    attn_out = result_def(RankedTensor)

    traits = traits_def(Pure())


@irdl_op_definition
class SelectiveScanOp(TpuOp):
    """Mamba selective scan."""

    name = "tpu.SelectiveScan"

    Cs = operand_def(RankedTensor)
    deltaA = operand_def(RankedTensor)
    deltaB_u = operand_def(RankedTensor)
    us = operand_def(RankedTensor)
    Ds = operand_def(TensorOrNone)
    output = result_def(RankedTensor)

    traits = traits_def(Pure())
