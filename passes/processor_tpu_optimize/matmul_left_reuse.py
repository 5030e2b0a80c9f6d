"""Whether the left operand of a matrix product is needed again."""

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu


class MatMulLeftReuse(RewritePattern):
    """`left_reuse` = 1 when the left operand has other users, else 0.

    A kernel may overwrite a left operand that nobody else reads.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.MatMulOp, rewriter: PatternRewriter) -> None:
        reused = int(not op.input.has_one_use())
        if op.left_reuse.value.data != reused:
            op.left_reuse = IntegerAttr(reused, i64)
            rewriter.notify_op_modified(op)
