"""Squeeze and Unsqueeze: pairs and no-ops go."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.graph import drop, has_shapes, is_like, producer


class CancelSqueezes(RewritePattern):
    """Squeeze(Unsqueeze(x)), Unsqueeze(Squeeze(x)), Unsqueeze(Reshape(x)) of x's shape -> x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.SqueezeOp | top.UnsqueezeOp, rewriter: PatternRewriter
    ) -> None:
        if not has_shapes(op.input):
            return
        if isinstance(op, top.SqueezeOp):
            inner = producer(op.input, top.UnsqueezeOp)
        else:
            inner = producer(op.input, top.SqueezeOp) or producer(op.input, top.ReshapeOp)
        if inner is not None and is_like(inner.input, op.output):
            drop(op, inner.input, rewriter)


class RemoveSqueeze(RewritePattern):
    """Squeeze(x) or Unsqueeze(x) of x's own shape -> x, as happens with scalars."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.SqueezeOp | top.UnsqueezeOp, rewriter: PatternRewriter
    ) -> None:
        if has_shapes(op.input) and is_like(op.input, op.output):
            drop(op, op.input, rewriter)
