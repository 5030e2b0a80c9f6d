"""The pass `join-heads`."""

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.constants import make_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_for,
    producer,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.module_state import State, chip_of, require_state, text_attribute
from xdsl_tpu.passes.orient_products.columns import BYTES, there_and_back
from xdsl_tpu.passes.tensors import shape_of

_HEADS_FIRST = (0, 2, 1, 3)


@dataclass(frozen=True)
class JoinHeadsPass(ModulePass):
    """Compute the products of narrow heads without softmax between them in one for all heads.

        %q = Permute  1x3136x8x8 -> 1x8x3136x8       %c = MatMul  1x64x3136 @ 1x3136x64
        %v = Permute  1x3136x8x8 -> 1x8x3136x8       %o = Mul     %c * mask of 64x64
        %c = MatMul   1x8x8x3136 @ %v            ->  %y = MatMul  1x3136x64 @ %o
        %y = MatMul   %q @ %c                        %z = Permute 1x3136x8x8 -> 1x8x3136x8

    Linear attention, q (k v), needs a small matrix of each head. That of all heads together has
    these along its diagonal and what belongs to no head elsewhere: a mask of ones and zeros leaves
    the heads. Rows then keep all heads beside each other, as they come and go, where a head alone
    is a few columns that leave most lanes idle.

    Done where heads have fewer columns than there are lanes and the array multiplies for no longer
    than queries and results take from DDR and back. Integer networks keep their heads: sums across
    heads have no ranges. `chip` is a name or a `.toml` description, by default `module.chip`.
    """

    name = "join-heads"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        if text_attribute(op, "module.mode") == "INT8":
            return
        applier = GreedyRewritePatternApplier([HeadsBesideEachOther(chip_of(op, self.chip))])
        PatternRewriteWalker(applier).rewrite_module(op)


@dataclass(frozen=True)
class HeadsBesideEachOther(RewritePattern):
    """MatMul(q, MatMul(k, v)) of narrow heads -> MatMul(q, Mul(MatMul(k, v), mask)) of all."""

    chip: Chip

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.right, top.MatMulOp)
        if inner is None or not (_is_plain(op) and _is_plain(inner)):
            return
        queries, values = producer(op.input, top.PermuteOp), producer(inner.right, top.PermuteOp)
        if queries is None or values is None:
            return
        if ints(queries.order) != _HEADS_FIRST or ints(values.order) != _HEADS_FIRST:
            return
        (batch, rows, heads, depth), keys = shape_of(queries.input), shape_of(inner.input)[-1]
        width = shape_of(op.output)[-1]
        if batch != 1 or shape_of(inner.input)[:2] != (1, heads):
            return
        if not self._is_faster(rows, keys, heads, depth, width):
            return
        rewriter.replace(op, _joined(op, inner, queries, values, rewriter))
        rewriter.erase(inner)

    def _is_faster(self, rows: int, keys: int, heads: int, depth: int, width: int) -> bool:
        if heads == 1 or max(depth, width) >= self.chip.lanes:
            return False
        rate = self.chip.cube_channels[BYTES] * self.chip.cube_outputs[BYTES] * self.chip.lanes
        array = (rows + keys) * heads * depth * heads * width / rate
        return array <= there_and_back(rows * heads * depth, self.chip)


def _joined(
    op: top.MatMulOp,
    inner: top.MatMulOp,
    queries: top.PermuteOp,
    values: top.PermuteOp,
    rewriter: PatternRewriter,
) -> list[Operation]:
    _, rows, heads, depth = shape_of(queries.input)
    keys, width = shape_of(inner.input)[-1], shape_of(op.output)[-1]
    none = none_for(op, rewriter)
    turned = reshape(derived_name(inner, "_r_keys"), inner.input, (1, heads * depth, keys))
    beside = reshape(derived_name(inner, "_r_values"), values.input, (1, keys, heads * width))
    crossed = top.MatMulOp.make(
        derived_name(inner, "_r_heads"),
        (turned, beside, none),
        result_types=[tensor_like(op.output, (1, heads * depth, heads * width))],
    )
    ones = np.ones((depth, width), np.float32)
    mask = np.kron(np.eye(heads, dtype=np.float32), ones)[None]
    weight = make_weight(op, derived_name(inner, "_r_mask"), mask)
    own = top.MulOp.make(
        derived_name(inner, "_r_own"), (crossed, weight), result_types=[crossed.output.type]
    )
    asked = reshape(derived_name(op, "_r_queries"), queries.input, (1, rows, heads * depth))
    product = top.MatMulOp.make(
        derived_name(op, "_r_beside"),
        (asked, own, none),
        result_types=[tensor_like(op.output, (1, rows, heads * width))],
    )
    apart = reshape(derived_name(op, "_r_apart"), product.output, (1, rows, heads, width))
    moved = top.PermuteOp.make(
        op.location, (apart,), result_types=[op.output.type], order=_HEADS_FIRST
    )
    return [turned, beside, crossed, weight, own, asked, product, apart, moved]


def _is_plain(op: top.MatMulOp) -> bool:
    """A product of matrices of heads as they are, and no more."""
    flags = (op.left_transpose, op.right_transpose, op.output_transpose, op.hdim_is_batch)
    if any(flag.value.data for flag in flags) or has_relu(op) or not is_none(op.bias):
        return False
    if not has_shapes(op.input, op.right, op.output):
        return False
    return all(len(shape_of(value)) == 4 for value in (op.input, op.right, op.output))
