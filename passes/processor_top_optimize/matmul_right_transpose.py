"""Transposes of a product's operands become flags of the product."""

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import has_shapes, producer
from xdsl_tpu.passes.tensors import shape_of

_LEFT, _RIGHT = 0, 1
"""Operands of a MatMul."""


class ConvertMatMulWithRightTranspose(RewritePattern):
    """MatMul(x, Permute(y: 64x3x49x32, [0, 1, 3, 2])) -> MatMul(x, y) {right_transpose}.

    The flag is toggled, so a transpose that is there already cancels. The Permute swaps the last
    two dimensions and nothing else (but what swaps only ones), and every use of it is as a right
    operand: then all these products are changed at once, and it goes.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        permute = producer(op.right, top.PermuteOp)
        if permute is None or not swaps_last_two(permute):
            return
        products = products_reading(permute.output, _RIGHT)
        if products is None or any(product.hdim_is_batch.value.data for product in products):
            return
        for product in products:
            product.operands[_RIGHT] = permute.input
            product.right_transpose = toggled(product.right_transpose)
            rewriter.notify_op_modified(product)
        rewriter.erase(permute)


class ConvertMatMulWithLeftTranspose(RewritePattern):
    """MatMul(Permute(x), y) {right_transpose} -> MatMul(x, y) {left_transpose, right_transpose}.

    Only where the right operand is transposed, too: the matrix unit transposes the left one no
    other way (docs/hardware/instructions.md#sconv). A flag already set is cleared in any
    case. Conditions on the Permute as for the right operand.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        permute = producer(op.input, top.PermuteOp)
        if permute is None or not swaps_last_two(permute):
            return
        products = products_reading(permute.output, _LEFT)
        if products is None:
            return
        for product in products:
            both = product.left_transpose.value.data or product.right_transpose.value.data
            if not both or product.hdim_is_batch.value.data:
                return
        for product in products:
            product.operands[_LEFT] = permute.input
            product.left_transpose = toggled(product.left_transpose)
            rewriter.notify_op_modified(product)
        rewriter.erase(permute)


def swaps_last_two(op: top.PermuteOp) -> bool:
    """Whether all that a Permute does is to swap the last two dimensions.

    The dimensions in front keep their sizes; that ones among them move does not matter.
    """
    if not has_shapes(op.input, op.output) or len(shape_of(op.input)) < 2:
        return False
    source, result = shape_of(op.input), shape_of(op.output)
    if result != (*source[:-2], source[-1], source[-2]):
        return False
    rank = 3 if any(size != 1 for size in source[:-2]) else 2
    reduced = Permutation(source, ints(op.order)).at_rank(rank)
    return (
        reduced is not None
        and reduced.shape[-2:] == source[-2:]
        and (reduced.order == (*range(rank - 2), rank - 1, rank - 2))
    )


def products_reading(value: SSAValue, place: int) -> list[top.MatMulOp] | None:
    """The MatMuls that read `value` as operand `place`; None if anything else uses it."""
    products: list[top.MatMulOp] = []
    for use in value.uses:
        if not isinstance(use.operation, top.MatMulOp) or use.index != place:
            return None
        products.append(use.operation)
    return products


def toggled(flag: BoolAttr) -> BoolAttr:
    """The other value of a flag."""
    return BoolAttr.from_bool(not flag.value.data)
