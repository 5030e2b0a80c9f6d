"""Normalisations: weights of the rank that broadcasts, and what is a special case of another."""

from math import prod

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.constants import number_of, reshaped_weight
from xdsl_tpu.passes.graph import has_shapes, sole_producer, sole_user
from xdsl_tpu.passes.tensors import shape_of


class AlignLayerNormWeights(RewritePattern):
    """LayerNorm(x: 1x49x96, w: 96, b: 96) -> LayerNorm(x, w: 1x1x96, b: 1x1x96)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.LayerNormOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input) or not op.normalized_shape.data:
            return
        normalized = ints(op.normalized_shape)
        leading = len(shape_of(op.input)) - len(normalized)
        _align(op, (op.weight, op.bias), (1,) * leading + normalized, rewriter)


class AlignGroupNormWeights(RewritePattern):
    """GroupNorm(x: 1x32x8x8, w: 32, b: 32) -> GroupNorm(x, w: 1x32x1x1, b: 1x32x1x1)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.GroupNormOp, rewriter: PatternRewriter) -> None:
        if has_shapes(op.input):
            shape = shape_of(op.input)
            wanted = (1, shape[1], *(1 for _ in shape[2:]))
            _align(op, (op.weight, op.bias), wanted, rewriter)


class InstanceNormToGroupNorm(RewritePattern):
    """InstanceNorm(x: 1x32x8x8, w, b) -> GroupNorm(x, w, b) {num_groups = 32}.

    Statistics are in f32 in either case; a GroupNorm's channels may be columns of an image, too.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.InstanceNormOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input):
            return
        norm = top.GroupNormOp.make(
            op.location,
            (op.input, op.weight, op.bias),
            result_types=[op.output.type],
            num_groups=shape_of(op.input)[1],
            eps=op.eps.value.data,
        )
        rewriter.replace(op, norm)


class RowsOfGroups(RewritePattern):
    """Reshape(LayerNorm(Reshape(x: 1x64x56x56 -> 1x8x25088))) -> GroupNorm(x) {num_groups = 8}.

    Rows of some whole channels each, normalised without weights and seen as the image again.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.LayerNormOp, rewriter: PatternRewriter) -> None:
        rows, back = sole_producer(op.input, top.ReshapeOp), sole_user(op.output, top.ReshapeOp)
        if rows is None or back is None or not has_shapes(rows.input, op.input, back.output):
            return
        image, shape = shape_of(rows.input), shape_of(op.input)
        if len(image) < 3 or shape_of(back.output) != image or len(shape) != 3:
            return
        if len(ints(op.normalized_shape)) != 1 or not is_none(op.weight) or not is_none(op.bias):
            return
        if shape[0] != image[0] or image[1] % shape[1] or prod(image[2:]) == 1:
            return
        norm = top.GroupNormOp.make(
            back.location,
            (rows.input, op.weight, op.bias),
            result_types=[back.output.type],
            num_groups=shape[1],
            eps=op.eps.value.data,
        )
        rewriter.replace(back, norm)
        rewriter.erase(op)
        rewriter.erase(rows)


class PReluToLeakyRelu(RewritePattern):
    """PRelu(x, W with one element a) -> LeakyRelu(x) {alpha = a}."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PReluOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.slope) or (slope := number_of(op.slope)) is None:
            return
        leaky = top.LeakyReluOp.make(
            op.location, (op.input,), result_types=[op.output.type], alpha=slope
        )
        rewriter.replace(op, leaky)


def _align(
    op: top.LayerNormOp | top.GroupNormOp,
    values: tuple[SSAValue, ...],
    wanted: tuple[int, ...],
    rewriter: PatternRewriter,
) -> None:
    """Give the op's weights the shape `wanted`, which has as many elements."""
    for value in values:
        weight = sole_producer(value, top.WeightOp)
        if weight is not None and shape_of(value) != wanted:
            rewriter.replace(weight, reshaped_weight(weight, wanted))
            rewriter.notify_op_modified(op)
