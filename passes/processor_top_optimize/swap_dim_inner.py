"""Rotations of a dimension, as shifted windows make them."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.graph import is_like, sole_producer
from xdsl_tpu.passes.tensors import shape_of


class ConcatToSwapDimInner(RewritePattern):
    """Concat(x[3:], x[:3]) -> SwapDimInner(x) {offset = 3 on the axis}.

        Slice 1x56x56x96, rows 3..56
        Slice 1x56x56x96, rows 0..3     ->    SwapDimInner {offset = [0, 3, 0, 0]}
        Concat {axis = 1}

    The Slices take all of x in steps of one, are used by the Concat only, and there is no relu.
    Two rotations in a row are then one op (`TopMultiSwapDimMergeToOne`, which the vendor's compiler
    runs too early to see them).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op):
            return
        tail, head = (sole_producer(value, top.SliceOp) for value in op.inputs)
        if tail is None or head is None or tail.input is not head.input:
            return
        if not is_static(tail) or not is_static(head) or not is_like(op.output, tail.input):
            return
        shape = shape_of(tail.input)
        axis = op.axis.value.data % len(shape)
        offset = tail.cuts()[axis].first
        if not 0 < offset < shape[axis]:
            return
        for cut, begin, end in ((tail, offset, shape[axis]), (head, 0, offset)):
            whole = [Cut(0, size, 1) for size in shape]
            whole[axis] = Cut(begin, end - begin, 1)
            if list(cut.cuts()) != whole:
                return
        rotation = top.SwapDimInnerOp.make(
            op.location,
            (tail.input,),
            result_types=[op.output.type],
            offset=[offset if i == axis else 0 for i in range(len(shape))],
        )
        rewriter.replace(op, rotation)
