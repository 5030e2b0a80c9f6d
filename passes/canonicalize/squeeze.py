"""Squeeze and Unsqueeze: pairs and no-ops go, and dimensions of one before they are permuted."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.graph import (
    derived_name,
    drop,
    has_shapes,
    is_like,
    producer,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of


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


class SqueezeBeforePermute(RewritePattern):
    """Squeeze(Permute(x)) -> Permute(Squeeze(x)), of fewer dimensions.

        Permute  [3, 1, 2, 0, 4]  1x64x2x3x256 -> 3x64x2x1x256    Squeeze  [0]           64x2x3x256
        Squeeze  [3]              3x64x2x256                  ->  Permute  [2, 0, 1, 3]  3x64x2x256

    So PyTorch takes queries, keys and values of one product apart: what it has put in front of
    them, an Unsqueeze, is cancelled.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SqueezeOp, rewriter: PatternRewriter) -> None:
        permute = sole_producer(op.input, top.PermuteOp)
        if permute is None or not has_shapes(permute.input, op.output):
            return
        rank, order = len(shape_of(op.input)), ints(permute.order)
        gone = {order[axis % rank] for axis in ints(op.axes)}
        left = [axis for axis in range(rank) if axis not in gone]
        if not gone or not left:
            return
        shape = shape_of(permute.input)
        squeeze = top.SqueezeOp.make(
            derived_name(permute, "_r_squeezed"),
            (permute.input,),
            result_types=[tensor_like(op.output, tuple(shape[axis] for axis in left))],
            axes=sorted(gone),
            is_scalar=op.is_scalar,
        )
        made = top.PermuteOp.make(
            op.location,
            (squeeze.output,),
            result_types=[op.output.type],
            order=[left.index(axis) for axis in order if axis not in gone],
        )
        rewriter.replace(op, [squeeze, made])
        rewriter.erase(permute)
