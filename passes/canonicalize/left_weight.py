"""Constant matrices from the left, on the images of many channels."""

from math import prod

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.constants import make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.products import is_plain
from xdsl_tpu.passes.tensors import is_weight, shape_of

FEWEST_CHANNELS = 32
"""Images of fewer leave more than half of the lanes empty."""


class LeftWeightToRight(RewritePattern):
    """MatMul(W: MxK, x: BxCxKxN) -> Permute(MatMul(Permute(x): BxCxNxK, W^T: KxM)).

    Channels stay over the lanes, where a transform mixes the rows of each: the second half of a
    Fourier transform of images (LaMa, arXiv 2109.07161).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if is_weight(op.right) or not is_none(op.bias) or not is_plain(op):
            return
        if not has_shapes(op.input, op.right, op.output):
            return
        left, right = shape_of(op.input), list(shape_of(op.right))
        is_image = len(right) > 3 and right[-3] >= FEWEST_CHANNELS
        values = values_of(op.input) if prod(left[:-2]) == 1 and is_image else None
        if values is None:
            return
        *outer, depth, columns = right
        matrix = values.reshape(left[-2:]).T
        weight = make_weight(op, derived_name(op.input, "_transposed"), matrix)
        order = (*range(len(outer)), len(outer) + 1, len(outer))
        turned = top.PermuteOp.make(
            derived_name(op, "_r_turned"),
            (op.right,),
            result_types=[tensor_like(op.right, (*outer, columns, depth))],
            order=order,
        )
        product = rebuilt(
            op,
            operands=(turned.output, weight.output, *op.operands[2:]),
            result_types=[tensor_like(op.output, (*outer, columns, left[-2]))],
            location=name_loc(derived_name(op, "_r_columns")),
        )
        back = top.PermuteOp.make(
            op.location, (product.output,), result_types=op.result_types, order=order
        )
        rewriter.replace(op, [weight, turned, product, back])
