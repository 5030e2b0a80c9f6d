"""Patch merging: blocks of neighbouring pixels become channels."""

from collections.abc import Mapping

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.graph import has_shapes, sole_user, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_BY_COLUMNS: Mapping[tuple[int, ...], bool] = {
    (0, 1, 3, 4, 2, 5): True,
    (0, 1, 3, 2, 4, 5): False,
}
"""Orders from n, h, y, w, x, c that put a block's pixels last: whether column by column."""


class Reshape4Depth2SpacePattern(RewritePattern):
    """Reshape(Permute(Reshape(x), [0, 1, 3, 4, 2, 5])) -> Depth2Space(x), inversed.

        Reshape     1x56x56x96 -> 1x28x2x28x2x96
        Permute     1x28x28x2x2x96                  ->    Depth2Space 1x56x56x96 -> 1x28x28x384
        Reshape     1x28x28x384

    Channels are last on both sides. The blocks are read column by column (`swap_cr`), or for
    the order [0, 1, 3, 2, 4, 5] row by row. An x of three dimensions, rows and columns in one,
    is reshaped to four first. Each block ends up in the last dimension, which nothing is merged
    with, and nothing else uses what lies between.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReshapeOp, rewriter: PatternRewriter) -> None:
        permute = sole_user(op.output, top.PermuteOp)
        last = None if permute is None else sole_user(permute.output, top.ReshapeOp)
        if permute is None or last is None or not has_shapes(op.input, last.output):
            return
        swap = _BY_COLUMNS.get(ints(permute.order))
        if swap is None:
            return
        n, h, block_h, w, block_w, c = shape_of(op.output)
        if block_h * block_w == 1:
            return
        image, source = (n, h * block_h, w * block_w, c), shape_of(op.input)
        flat = (n, h * block_h * w * block_w, c)
        if source not in (image, flat) or shape_of(last.output) != (n, h, w, block_h * block_w * c):
            return
        value = op.input
        if source == flat:
            shaped = top.ReshapeOp.make(
                op.location, (value,), result_types=[tensor_like(value, image)], shape=image
            )
            rewriter.insert(shaped)
            value = shaped.output
        deep = top.Depth2SpaceOp.make(
            last.location,
            (value,),
            result_types=[last.output.type],
            block_h=block_h,
            block_w=block_w,
            is_CRD=False,
            is_inversed=True,
            in_is_NCHW=False,
            out_is_NCHW=False,
            swap_cr=swap,
        )
        rewriter.replace(last, deep)
        rewriter.erase(permute)
        rewriter.erase(op)
