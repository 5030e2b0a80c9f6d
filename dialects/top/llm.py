"""Attention and other blocks of language models, and traffic between chips."""

from abc import ABC

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, I64_ARRAY, I64_INT, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.language_models import (
    EqualHeads,
    GatedDeltaRule,
    RopeArithmetic,
    SparseBlocks,
)
from xdsl_tpu.dialects.top.abstract import SameShapeOp, ShapedOp
from xdsl_tpu.dialects.top.enums import ROPE_MODE, ROUND_MODE


@irdl_op_definition
class AttentionOp(NamedOp):
    """A whole multi-head attention block: projections, softmax(q k^T * scale + mask) v, output."""

    name = "top.Attention"

    input = operand_def(TENSOR)
    keys = operand_def(TENSOR)
    values = operand_def(TENSOR)
    queries_weight = operand_def(TENSOR)
    queries_bias = operand_def(TENSOR_OR_NONE)
    keys_weight = operand_def(TENSOR)
    keys_bias = operand_def(TENSOR_OR_NONE)
    values_weight = operand_def(TENSOR)
    values_bias = operand_def(TENSOR_OR_NONE)
    out_weight = operand_def(TENSOR)
    out_bias = operand_def(TENSOR_OR_NONE)
    mask = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    scale = attr_def(F64)
    head = attr_def(I64_INT)
    dim = default_attr_def(I64_INT, 0)
    scale_param = default_attr_def(F64_ARRAY, [1.0])
    zp_param = default_attr_def(I64_ARRAY, [0])
    has_bias = default_attr_def(I64_INT, 0)

    traits = traits_def(Pure())


class ScoresOp(EqualHeads, ABC):
    """softmax(q k^T * scale + mask) v; an op with a second result declares the first anew."""

    queries = operand_def(TENSOR)
    keys = operand_def(TENSOR)
    values = operand_def(TENSOR)
    mask = operand_def(TENSOR_OR_NONE)
    buffer = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class FAttentionOp(ScoresOp):
    """softmax(q k^T * scale + mask) v, computed in tiles without the whole score matrix."""

    name = "top.FAttention"


@irdl_op_definition
class FAttentionLseOp(ScoresOp):
    """FAttention that also gives the logarithm of each row's sum of exponentials."""

    name = "top.FAttentionLse"

    output = result_def(TENSOR)
    lse = result_def(TENSOR)


@irdl_op_definition
class FlexAttentionOp(SparseBlocks):
    """FAttention with a bitmap that says which blocks of scores matter."""

    name = "top.FlexAttention"

    queries = operand_def(TENSOR)
    keys = operand_def(TENSOR)
    values = operand_def(TENSOR)
    mask = operand_def(TENSOR_OR_NONE)
    block_bitmap = operand_def(TENSOR_OR_NONE)
    buffer = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    lse = result_def(TENSOR)

    traits = traits_def(Pure())


@irdl_op_definition
class ScaleDotProductAttentionOp(ShapedOp):
    """softmax(q k^T * scale + mask) v (torch); a scale of 0 means 1 / sqrt(size of a head)."""

    name = "top.ScaleDotProductAttention"

    query = operand_def(TENSOR)
    key = operand_def(TENSOR)
    value = operand_def(TENSOR)
    mask = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    dropout_p = default_attr_def(F64, 0.0)
    is_causal = default_attr_def(BOOL, False)
    scale = default_attr_def(F64, 0.0)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        q, k, v = (self.shape_of(operand, 3, 4) for operand in (self.query, self.key, self.value))
        if q[:-2] != k[:-2] or k[:-1] != v[:-1] or q[-1] != k[-1]:
            raise ShapeError(f"query {dims(q)}, key {dims(k)} and value {dims(v)} do not fit")
        return ((*q[:-1], v[-1]),)


@irdl_op_definition
class RopeOp(RopeArithmetic, SameShapeOp):
    """Rotary position embedding: input1 * input2 + rotated(input1) * input3 (cosine and sine)."""

    name = "top.Rope"

    input1 = operand_def(TENSOR)
    input2 = operand_def(TENSOR)
    input3 = operand_def(TENSOR)
    output = result_def(TENSOR)
    rope_mode = default_attr_def(ROPE_MODE, "interleaved_pairs")
    mul1_round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    mul2_round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    add_round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")


@irdl_op_definition
class ChunkGatedDeltaRuleOp(GatedDeltaRule):
    """Linear attention by the gated delta rule, a chunk of tokens at a time."""

    name = "top.ChunkGatedDeltaRule"

    query = operand_def(TENSOR)
    key = operand_def(TENSOR)
    value = operand_def(TENSOR)
    g = operand_def(TENSOR)
    beta = operand_def(TENSOR)
    recurrent_state = operand_def(TENSOR)
    triu_mask = operand_def(TENSOR)
    strict_triu_mask = operand_def(TENSOR)
    tril_mask = operand_def(TENSOR)
    eye = operand_def(TENSOR)
    attn_out = result_def(TENSOR)
    chunk_size = attr_def(I64_INT)

    traits = traits_def(Pure())


@irdl_op_definition
class RecurrentGatedDeltaRuleOp(GatedDeltaRule):
    """Linear attention by the gated delta rule, one token at a time."""

    name = "top.RecurrentGatedDeltaRule"

    query = operand_def(TENSOR)
    key = operand_def(TENSOR)
    value = operand_def(TENSOR)
    g = operand_def(TENSOR)
    beta = operand_def(TENSOR)
    recurrent_state = operand_def(TENSOR)
    attn_out = result_def(TENSOR)

    traits = traits_def(Pure())


class CollectiveOp(NamedOp, ABC):
    """An op that all chips of `chip_map` take part in, this one with number `rank`."""

    nranks = default_attr_def(I64_INT, 2)
    rank = default_attr_def(I64_INT, 0)
    sccl_algo = default_attr_def(I64_INT, 0)
    chip_map = default_attr_def(I64_ARRAY, [0, 1])


@irdl_op_definition
class C2CAllReduceOp(CollectiveOp):
    """Reduction of a tensor over all chips, every chip getting the result."""

    name = "top.C2CAllReduce"

    send = operand_def(TENSOR)
    recv = operand_def(TENSOR)
    output = result_def(TENSOR)
    reduce_method = default_attr_def(I64_INT, 1)


@irdl_op_definition
class C2CBroadcastOp(CollectiveOp):
    """A tensor of chip `root`, given to all chips."""

    name = "top.C2CBroadcast"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    root = default_attr_def(I64_INT, 0)
