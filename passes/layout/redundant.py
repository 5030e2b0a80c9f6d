"""The pass `eliminate-redundant-transpose`, and its patterns."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
)

from xdsl_tpu.dialects.interfaces.layout import LayoutTranspose, Order, composed
from xdsl_tpu.passes.layout.names import keep_returned_names


class DropTransposePair(RewritePattern):
    """transpose(transpose(x)) -> x, when the second undoes what the first did."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        then = order_of(op)
        first = order_of(op.operands[0].owner) if then is not None else None
        if then is None or first is None or composed(first, then) != tuple(range(len(then))):
            return
        source = op.operands[0].owner
        assert isinstance(source, Operation)
        rewriter.replace(op, (), (source.operands[0],))
        if all(result.first_use is None for result in source.results):
            rewriter.erase(source)


class DropIdentityTranspose(RewritePattern):
    """transpose(x) -> x, when no dimension changes its place."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        order = order_of(op)
        if order is not None and order == tuple(range(len(order))):
            rewriter.replace(op, (), (op.operands[0],))


@dataclass(frozen=True)
class EliminateRedundantTransposePass(ModulePass):
    """Remove pairs of transpositions that undo each other, and such that change nothing.

        y = transpose(x, 0231); z = transpose(y, 0312); f(z)    becomes    f(x)

    Whatever the rank, the order and the dialect. The first of a pair stays when something else
    uses it. Results of functions keep their names.
    """

    name = "eliminate-redundant-transpose"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns = GreedyRewritePatternApplier(
            [DropTransposePair(), DropIdentityTranspose()], dce_enabled=False
        )
        with keep_returned_names(op):
            PatternRewriteWalker(patterns).rewrite_module(op)


def order_of(op: object) -> Order | None:
    """The order of a transposition; None of anything else."""
    trait = LayoutTranspose.of(op) if isinstance(op, Operation) else None
    return trait.order(op) if trait is not None and isinstance(op, Operation) else None
