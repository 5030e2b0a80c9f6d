"""SwapDimInner: two rotations are one."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.graph import has_shapes, sole_producer
from xdsl_tpu.passes.tensors import shape_of

_MOST_AXES = 2
"""How many dimensions one op can rotate."""


class TopMultiSwapDimMergeToOne(RewritePattern):
    """SwapDimInner(SwapDimInner(x) {[0, 3, 0]}) {[0, 0, 3]} -> SwapDimInner(x) {[0, 3, 3]}."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SwapDimInnerOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.SwapDimInnerOp)
        if inner is None or not has_shapes(op.input):
            return
        sums = zip(ints(inner.offset), ints(op.offset), shape_of(op.input), strict=True)
        offsets = [(first + second) % size for first, second, size in sums]
        if sum(map(bool, offsets)) > _MOST_AXES:
            return
        merged = top.SwapDimInnerOp.make(
            op.location, (inner.input,), result_types=[op.output.type], offset=offsets
        )
        rewriter.replace(op, merged)
