"""Attributes that building blocks of language models have in both `top` and `tpu`."""

from abc import ABC

from xdsl.irdl import attr_def

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import NamedOp

CAUSAL = "causal"
"""Attribute of a top.FAttention whose mask hides from each row the keys behind its own; rows are
the last of the keys, and of those before them all the mask may hide any."""

WINDOW = "window"
"""Of a causal one: how many keys a row sees at most, its own included."""

IO_ROOMS = "module.io_rooms"
"""Attribute of a module whose inputs and outputs lie apart: how many elements there is room for in
the place of each, so that they lie where those of another module do."""

KEPT_INPUTS = "module.kept_inputs"
"""Attribute of a module whose inputs lie first in its arena, one after the other, and stay there
for the whole run: hosts write what is the same for all blocks of a model once, before the first."""


class BlockwiseAttention(NamedOp, ABC):
    """softmax(q k^T * scale + mask) v of `mq` queries and `mk` keys, block by block."""

    scale = attr_def(F64)
    batch = attr_def(I64_INT)
    q_head = attr_def(I64_INT)
    kv_head = attr_def(I64_INT)
    mq = attr_def(I64_INT)
    mk = attr_def(I64_INT)
    keep_dims = default_attr_def(BOOL, True)
    mask_size = default_attr_def(SI32, 0)


class EqualHeads(BlockwiseAttention, ABC):
    """Queries, keys and values have `dim` elements a head."""

    dim = attr_def(I64_INT)


class SparseBlocks(BlockwiseAttention, ABC):
    """Only blocks of `flex_block` rows that a bitmap names; values may have another size."""

    qk_d = attr_def(I64_INT)
    v_d = attr_def(I64_INT)
    has_lse = default_attr_def(BOOL, False)
    flex_block = default_attr_def(SI32, 128)


class RopeArithmetic(NamedOp, ABC):
    """Shifts and saturation of the two products and the sum of a quantised rotary embedding."""

    is_permute_optimize = default_attr_def(BOOL, False)
    mul1_shift = default_attr_def(SI32, 0)
    mul2_shift = default_attr_def(SI32, 0)
    add_shift = default_attr_def(SI32, 0)
    mul1_saturation = default_attr_def(BOOL, True)
    mul2_saturation = default_attr_def(BOOL, True)
    add_saturation = default_attr_def(BOOL, True)
    force_f32 = default_attr_def(BOOL, False)


class GatedDeltaRule(NamedOp, ABC):
    """Linear attention by the gated delta rule, with heads of `d` elements."""

    num_k_heads = attr_def(I64_INT)
    num_v_heads = attr_def(I64_INT)
    d = attr_def(I64_INT)
    use_qk_l2norm = attr_def(BOOL)
    scale = attr_def(F64)
