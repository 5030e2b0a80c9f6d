"""The pass `lower-extras`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tpu_extras.dialect import SoftShrinkOp
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of


class SoftShrinkToClip(RewritePattern):
    """SoftShrink(x) {bound = b} -> Sub(x, Clip(x) {min = -b, max = b})."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SoftShrinkOp, rewriter: PatternRewriter) -> None:
        bound, kind = op.bound.value.data, op.output.type
        kept = top.ClipOp.make(
            f"{name_of(op)}_clip", [op.input], result_types=[kind], min=-bound, max=bound
        )
        # The last op of a rewrite keeps the tensor's name: it is what timelines and
        # comparisons call it.
        rest = top.SubOp.make(op.location, [op.input, kept.output], result_types=[kind])
        rewriter.replace(op, [kept, rest])


@dataclass(frozen=True)
class LowerExtrasPass(ModulePass):
    """Turn every op of the dialect `extras` into `top` ops.

    Before: `%1 = "extras.SoftShrink"(%0) {bound = 0.5 : f64}`;
    after: `%1 = "top.Clip"(%0) {max = 0.5, min = -0.5}`, `%2 = "top.Sub"(%0, %1)`.
    """

    name = "lower-extras"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(SoftShrinkToClip()).rewrite_module(op)
