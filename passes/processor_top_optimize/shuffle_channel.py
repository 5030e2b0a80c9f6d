"""Channels read in another order, written as reshapes around a permutation."""

from math import prod

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.graph import has_shapes, sole_producer, sole_user
from xdsl_tpu.passes.tensors import shape_of


class PermuteToShuffleChannel(RewritePattern):
    """Reshape(Permute(Reshape(x))) -> ShuffleChannel(x), where only channels change places.

    Reshape  1x116x28x28 -> 1x2x58x28x28
    Permute  1x58x2x28x28, order [0, 2, 1, 3, 4]     ->     ShuffleChannel {group = 2}
    Reshape  1x116x28x28
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        split = sole_producer(op.input, top.ReshapeOp)
        use = sole_user(op.output, top.ReshapeOp)
        if split is None or use is None or not has_shapes(use.output):
            return
        order, shape, parts = ints(op.order), shape_of(split.input), shape_of(split.output)
        if order != (0, 2, 1, *range(3, len(order))) or len(order) < 4 or len(shape) != 4:
            return
        whole = (parts[0], parts[1] * parts[2], prod(parts[3:]))
        if whole != (shape[0], shape[1], prod(shape[2:])) or shape_of(use.output) != shape:
            return
        shuffled = top.ShuffleChannelOp.make(
            use.location, [split.input], result_types=[use.output.type], group=parts[1]
        )
        rewriter.replace(use, shuffled)
        rewriter.erase(op)
        rewriter.erase(split)
