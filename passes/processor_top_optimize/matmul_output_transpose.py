"""A transpose of a product's result becomes an exchange of its operands."""

from xdsl.dialects.builtin import BoolAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.graph import has_shapes, rebuilt, sole_producer
from xdsl_tpu.passes.processor_top_optimize.matmul_right_transpose import swaps_last_two
from xdsl_tpu.passes.tensors import is_weight, shape_of


class ConvertMatMulWithOutputTranspose(RewritePattern):
    """Permute(MatMul(x, y) {right_transpose}) -> MatMul(y, x) {right_transpose}.

        MatMul  4x49x32 @ (4x60x32)^T  4x49x60
        Permute [0, 2, 1]              4x60x49    ->    MatMul  4x60x32 @ (4x49x32)^T  4x60x49

    (x y^T)^T is y x^T. The chip's matrix unit stores no result transposed, so that
    `output_transpose` is never set (other chips of the family have it). Of the four kinds of
    product the two with a transposed right operand stay within what the unit reads: y x^T, and
    from both transposed none. A plain product would read both operands transposed, which takes
    longer than the Permute does in small matrices, and stays.

    There is no bias, as it would be added to rows; batches are equal, and no operand is a weight,
    as a weight on the right is loaded once for all rows. Nothing else uses the product.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        product = sole_producer(op.input, top.MatMulOp)
        if product is None or not swaps_last_two(op) or not is_none(product.bias):
            return
        left, right = product.input, product.right
        if is_weight(left) or is_weight(right) or not has_shapes(left, right):
            return
        if shape_of(left)[:-2] != shape_of(right)[:-2] or not product.right_transpose.value.data:
            return
        flags = (product.output_transpose, product.hdim_is_batch)
        if any(flag.value.data for flag in flags) or not product.keep_dims.value.data:
            return
        exchanged = rebuilt(
            product,
            operands=(right, left, *product.operands[2:]),
            result_types=[op.output.type],
            location=op.location,
        )
        exchanged.left_transpose = BoolAttr.from_bool(False)
        exchanged.right_transpose = BoolAttr.from_bool(not product.left_transpose.value.data)
        rewriter.replace(op, exchanged)
        rewriter.erase(product)
