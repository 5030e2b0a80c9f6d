"""Reshapes that change nothing."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu


class RemoveReshape(RewritePattern):
    """reshape(x) -> x, when the shape stays; reshape(reshape(x)) -> reshape(x).

    A reshape whose result the function returns stays: the output keeps its name.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.ReshapeOp, rewriter: PatternRewriter) -> None:
        if op.input.type == op.output.type and not _is_returned(op):
            rewriter.replace(op, (), (op.input,))
            return
        inner = op.input.owner
        if isinstance(inner, tpu.ReshapeOp) and inner.output.has_one_use():
            op.operands[0] = inner.input
            rewriter.notify_op_modified(op)
            rewriter.erase(inner)


def _is_returned(op: tpu.ReshapeOp) -> bool:
    return any(use.operation.name == "func.return" for use in op.output.uses)
