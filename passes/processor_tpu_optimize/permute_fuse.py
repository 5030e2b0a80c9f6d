"""Permutes that follow each other."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.permute_order import Permutation, cancel
from xdsl_tpu.passes.graph import none_for, sole_producer
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    HARDWARE_RANK,
    composed,
    permutation,
    permute,
    reshape,
    sole_permute,
)
from xdsl_tpu.passes.tensors import shape_of


class PermuteFuse(RewritePattern):
    """Permute(Permute(x)) and Permute(Reshape(Permute(x))) -> x, or Reshape(x), if inverse.

    Permute [0, 2, 1, 3]
    Permute [0, 2, 1, 3]    ->    x
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.PermuteOp, rewriter: PatternRewriter) -> None:
        value = op.input
        if (between := sole_producer(value, tpu.ReshapeOp)) is not None:
            value = between.input
        inner = value.owner
        if not isinstance(inner, tpu.PermuteOp) or not op.input.has_one_use():
            return
        if cancel(permutation(inner), permutation(op)):
            rewriter.replace(op, reshape(op.location, inner.input, shape_of(op.output)))


class PermuteFuse2(RewritePattern):
    """Permute(Permute(x, a), b) -> Permute(x, a then b), when nothing else uses the first.

        Permute [0, 2, 1, 3]
        Permute [0, 1, 3, 2]    ->    Permute [0, 2, 3, 1]

    The result is one the chip can do in one step, or no worse than the steps it replaces.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.PermuteOp, rewriter: PatternRewriter) -> None:
        inner = sole_permute(op.input)
        if inner is None:
            return
        order = composed(ints(inner.order), ints(op.order))
        if Permutation(shape_of(inner.input), order).at_rank(HARDWARE_RANK) is None:
            return
        rewriter.replace(op, permute(op.location, inner.input, order, none_for(op, rewriter)))
