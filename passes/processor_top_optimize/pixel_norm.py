"""Norms over channels as norms of rows."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.constants import reshaped_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of


class PixelNormToRows(RewritePattern):
    """PixelNorm(x) -> Permute(LayerNorm(Permute(x) {channels last}) {axis = last}).

        %1 = "top.PixelNorm"(%0, %w, %b) : 1x32x96x96
      ->
        %r = "top.Permute"(%0) {order = [0, 2, 3, 1]} : 1x96x96x32
        %n = "top.LayerNorm"(%r, %w, %b) {axis = 3} : 1x96x96x32
        %1 = "top.Permute"(%n) {order = [0, 3, 1, 2]} : 1x32x96x96

    Channels lie over the lanes, and no unit adds numbers of different lanes: sums are of
    what one lane has. Turning them within local memory costs less than any of the ways around.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PixelNormOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input) or len(shape_of(op.input)) < 3:
            return
        shape = shape_of(op.input)
        rank, channels = len(shape), shape[1]
        weights = [
            None if is_none(value) else sole_producer(value, top.WeightOp)
            for value in (op.weight, op.bias)
        ]
        given = zip((op.weight, op.bias), weights, strict=True)
        if any(made is None and not is_none(value) for value, made in given):
            return
        last = (0, *range(2, rank), 1)
        back = (0, rank - 1, *range(1, rank - 1))
        turned = (shape[0], *shape[2:], channels)
        rows = top.PermuteOp.make(
            derived_name(op, "_r_rows"),
            (op.input,),
            result_types=[tensor_like(op.input, turned)],
            order=[*last],
        )
        for weight in weights:
            if weight is not None:
                rewriter.replace(weight, reshaped_weight(weight, (*[1] * (rank - 1), channels)))
        norm = top.LayerNormOp.make(
            derived_name(op, "_r_of_rows"),
            (rows.output, op.weight, op.bias),
            result_types=[tensor_like(op.output, turned)],
            axis=rank - 1,
            eps=op.eps,
            normalized_shape=[channels],
        )
        again = top.PermuteOp.make(
            op.location, (norm.output,), result_types=[op.output.type], order=[*back]
        )
        rewriter.replace(op, [rows, norm, again])
