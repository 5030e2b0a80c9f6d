"""Attention and other building blocks of language models."""

from abc import ABC

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64,
    F64_ARRAY,
    I64_ARRAY,
    I64_INT,
    default_attr_def,
    ints,
)
from xdsl_tpu.dialects.base import RANKED, is_none
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType, Part, Range
from xdsl_tpu.dialects.interfaces.shape import Shape, dims, known_shape
from xdsl_tpu.dialects.language_models import (
    EqualHeads,
    GatedDeltaRule,
    RopeArithmetic,
    SparseBlocks,
)
from xdsl_tpu.dialects.tpu.enums import ActiveMode, RopeMode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import ACTIVE_MODE, ROPE_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import AlikeEverywhere
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, TpuOp
from xdsl_tpu.dialects.traits import SupportElementwise, SupportFuseRelu


@irdl_op_definition
class AttentionOp(LocalOp):
    """A whole attention block: projections of queries, keys, values and output included."""

    name = "tpu.Attention"

    input = operand_def(RANKED)
    keys = operand_def(RANKED_OR_NONE)
    values = operand_def(RANKED_OR_NONE)
    queries_weight = operand_def(RANKED)
    queries_bias = operand_def(RANKED_OR_NONE)
    keys_weight = operand_def(RANKED_OR_NONE)
    keys_bias = operand_def(RANKED_OR_NONE)
    values_weight = operand_def(RANKED_OR_NONE)
    values_bias = operand_def(RANKED_OR_NONE)
    out_weight = operand_def(RANKED)
    out_bias = operand_def(RANKED_OR_NONE)
    mask = operand_def(RANKED_OR_NONE)
    table = operand_def(RANKED_OR_NONE)
    quant_param = default_attr_def(I64_ARRAY, (0,))
    scale = attr_def(F64)
    head = attr_def(I64_INT)
    dim = attr_def(I64_INT)
    has_bias = default_attr_def(I64_INT, 0)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())


class ScoresOp(EqualHeads, TpuOp, ABC):
    """softmax(q k^T * scale + mask) v; an op with a second result declares the first anew."""

    queries = operand_def(RANKED)
    keys = operand_def(RANKED)
    values = operand_def(RANKED)
    mask = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class FAttentionOp(AlikeEverywhere, LocalOp, ScoresOp):
    """softmax(Q K^T * scale + mask) V, block by block without the full matrix of scores.

    Queries are [batch, mq, q_head, dim], keys [batch, mk, kv_head, dim], values [batch, mk,
    kv_head, any], in any shape of as many elements; the result is [batch, mq, q_head, any].
    Neighbouring heads of queries share one of keys and values. The mask spreads over
    [batch, q_head, mq, mk]; with `mask_by_row` it spreads over [batch, mq, 1, mk], is the same for
    all heads, and its rows lie where those of queries do.

    `head_major` says of queries, keys, values and result whether (1) they are [batch, heads, rows,
    elements] instead. `key_ranges` has four numbers for each 64 rows of queries: the first key
    they see and the end, where the mask begins to be other than 0, and the end of that. Scores of
    other keys are those that the mask takes away; no kernel need compute them.

    With `mix_scores` the masked scores of a row and key become others of all heads in front of the
    softmax (talking heads), with `mix_shares` what the softmax gives: (q_head + 1) rows of q_head
    numbers, a matrix [of, to] and what is added to each head.
    """

    name = "tpu.FAttention"

    key_ranges = opt_attr_def(I64_ARRAY)
    head_major = opt_attr_def(I64_ARRAY)
    mix_scores = opt_attr_def(F64_ARRAY)
    mix_shares = opt_attr_def(F64_ARRAY)
    mask_by_row = opt_attr_def(BOOL)

    def verify_(self) -> None:
        super().verify_()
        shape = self._mask_shape()
        if self.has_mask_by_row and shape is not None and not self._is_by_row(shape):
            whole = (self.batch.value.data, self.mq.value.data, 1, self.mk.value.data)
            raise VerifyException(
                f"a mask by row of shape {dims(shape)} does not spread over {dims(whole)}"
            )

    def may_overwrite(self) -> bool:
        return True

    def local_support(self, kind: GroupType) -> str | None:
        """Rows lie over the lanes, and all heads of a row in its lane."""
        if self.head_major is not None and any(ints(self.head_major)):
            return "its heads would lie over the lanes, not its rows"
        batch, rows, keys = (one.value.data for one in (self.batch, self.mq, self.mk))
        if not is_none(self.mask) and not self._is_by_row(self._mask_shape() or ()):
            return "its mask would not lie over the lanes by rows"
        for value, count in (
            (self.queries, rows),
            (self.keys, keys),
            (self.values, keys),
            (self.output, rows),
        ):
            shape = known_shape(value.type)
            if shape is None or shape[:2] != (batch, count) or len(shape) > 4:
                seen = "unknown" if shape is None else dims(shape)
                return f"rows of {seen} are not its second dimension: {count} in {batch} images"
        return None

    def _mask_shape(self) -> Shape | None:
        return None if is_none(self.mask) else known_shape(self.mask.type)

    def _is_by_row(self, shape: Shape) -> bool:
        """Whether rows of a mask lie where those of queries do; one row for all is nowhere else."""
        batch, rows, keys = (one.value.data for one in (self.batch, self.mq, self.mk))
        heights = {1, rows} if self.has_mask_by_row else {1}
        return shape in {(images, height, 1, keys) for images in (1, batch) for height in heights}

    @property
    def has_mask_by_row(self) -> bool:
        """Whether the rows of its mask lie where those of queries do."""
        return self.mask_by_row is not None and bool(self.mask_by_row.value.data)

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis == "n"

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        """All keys and values of an image for all of its rows."""
        return super().backward(part, operand, size) if part.axis == "n" else (0, size)


@irdl_op_definition
class FAttentionLseOp(ScoresOp):
    """FAttention that also gives the logarithm of each row's sum of exponentials."""

    name = "tpu.FAttentionLse"

    output = result_def(RANKED)
    lse = result_def(RANKED)


@irdl_op_definition
class FlexAttentionOp(SparseBlocks, TpuOp):
    """FAttention with blocks of the score matrix left out where a bitmap says so."""

    name = "tpu.FlexAttention"

    queries = operand_def(RANKED)
    keys = operand_def(RANKED)
    values = operand_def(RANKED)
    mask = operand_def(RANKED_OR_NONE)
    block_bitmap = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    output = result_def(RANKED)
    lse = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class MlpOp(TpuOp):
    """down(f(gate(x)) * up(x)): the feed-forward block of a language model.

    Without the matrix `weight_up` it is down(f(gate(x))), that of most other transformers; f is
    `activation`. Matrices are [N, K] where their `w_transpose_*` says so: packed ones with their
    scales and zero points if `quantized`, floats otherwise. What `residual` holds, if it is there,
    is added to the rounded result.
    """

    name = "tpu.Mlp"

    input = operand_def(RANKED)
    weight_gate = operand_def(RANKED)
    scale_gate = operand_def(RANKED_OR_NONE)
    zp_gate = operand_def(RANKED_OR_NONE)
    bias_gate = operand_def(RANKED_OR_NONE)
    weight_up = operand_def(RANKED_OR_NONE)
    scale_up = operand_def(RANKED_OR_NONE)
    zp_up = operand_def(RANKED_OR_NONE)
    bias_up = operand_def(RANKED_OR_NONE)
    weight_down = operand_def(RANKED)
    scale_down = operand_def(RANKED_OR_NONE)
    zp_down = operand_def(RANKED_OR_NONE)
    bias_down = operand_def(RANKED_OR_NONE)
    expert_id = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    residual = opt_operand_def(RANKED)
    w_transpose_gate = default_attr_def(BOOL, True)
    w_transpose_up = default_attr_def(BOOL, True)
    w_transpose_down = default_attr_def(BOOL, False)
    is_expert = default_attr_def(BOOL, False)
    quantized = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 128)
    weight_bits = default_attr_def(I64_INT, 8)
    num_expert = default_attr_def(I64_INT, 1)
    num_expert_per_tok = default_attr_def(I64_INT, 1)
    activation = default_attr_def(ACTIVE_MODE, ActiveMode.SILU)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class RopeOp(RopeArithmetic, LocalOp):
    """Pairs of elements rotated by angles that grow with the position."""

    name = "tpu.Rope"

    input1 = operand_def(RANKED)
    input2 = operand_def(RANKED)
    input3 = operand_def(RANKED)
    rope_mode = default_attr_def(ROPE_MODE, RopeMode.interleaved_pairs)
    mul1_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    mul2_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    add_round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportElementwise())

    def local_support(self, kind: GroupType) -> str | None:
        """Tokens lie in the lanes, and the angles of a token with its heads."""
        shape, sine, cosine = (known_shape(value.type) or () for value in self.operands)
        if self.force_f32:
            return "it is computed in f32"
        if len(shape) == 4 and sine == cosine == (*shape[:2], 1, shape[3]):
            return None
        return f"only tokens of heads, and angles of tokens, are local, not {dims(shape)}"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis != "w"

    def split_weights(self) -> tuple[int, ...]:
        return (1, 2)

    def stretches_channels(self) -> bool:
        """Where heads lie in the lanes, the angles of their token do in all of them."""
        return True


@irdl_op_definition
class ChunkGatedDeltaRuleOp(GatedDeltaRule, TpuOp):
    """Linear attention by the gated delta rule, a chunk of tokens at a time."""

    name = "tpu.ChunkGatedDeltaRule"

    query = operand_def(RANKED)
    key = operand_def(RANKED)
    value = operand_def(RANKED)
    g = operand_def(RANKED)
    beta = operand_def(RANKED)
    recurrent_state = operand_def(RANKED)
    triu_mask = operand_def(RANKED)
    strict_triu_mask = operand_def(RANKED)
    tril_mask = operand_def(RANKED)
    eye = operand_def(RANKED)
    chunk_size = attr_def(I64_INT)
    attn_out = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class RecurrentGatedDeltaRuleOp(GatedDeltaRule, TpuOp):
    """Linear attention by the gated delta rule, one token after the other."""

    name = "tpu.RecurrentGatedDeltaRule"

    query = operand_def(RANKED)
    key = operand_def(RANKED)
    value = operand_def(RANKED)
    g = operand_def(RANKED)
    beta = operand_def(RANKED)
    recurrent_state = operand_def(RANKED)
    attn_out = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class SelectiveScanOp(TpuOp):
    """The recurrence of a state space model with input-dependent steps (Mamba)."""

    name = "tpu.SelectiveScan"

    Cs = operand_def(RANKED)
    deltaA = operand_def(RANKED)
    deltaB_u = operand_def(RANKED)
    us = operand_def(RANKED)
    Ds = operand_def(RANKED_OR_NONE)
    output = result_def(RANKED)

    traits = traits_def(Pure())
