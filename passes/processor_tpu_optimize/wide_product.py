"""Products that a network returns are stored as the f32 numbers they are summed in."""

from math import prod

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.dialects.func import ReturnOp
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.graph import rebuilt, sole_producer
from xdsl_tpu.passes.tensors import element_of, is_weight, number_type, shape_of
from xdsl_tpu.passes.weight_data import Array, as_numbers, change_weight


class WideProduct(RewritePattern):
    """MatMul(16 bits) -> Cast(f32), returned, becomes a MatMul of 16-bit operands with f32 results.

        MatMul : f16
        Cast   : f32    ->    MatMul : f32
        return                return

    The unit sums in f32 anyway. As an op of its own the Cast loads all of what the product has
    stored, which for the scores of a vocabulary is more than the weights are. A bias becomes f32.
    Nothing happens when something else reads the product, or one computes a product per head. The
    Cast of a single row stays: it is in the group of the classifier, at next to no price.
    Not in the vendor's compiler.
    """

    def __init__(self, weights: Weights | None) -> None:
        self._weights = weights

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.CastOp, rewriter: PatternRewriter) -> None:
        product = sole_producer(op.input, tpu.MatMulOp)
        if product is None or number_type(op.output) != f32 or not _returned(op):
            return
        kinds = {number_type(value) for value in (product.input, product.right, product.output)}
        if kinds not in ({f16}, {bf16}) or not _widens(product):
            return
        if not is_none(product.bias):
            element = element_of(product.bias)

            def widened(stored: Array) -> Array:
                return as_numbers(stored, element)

            shape = shape_of(product.bias)
            change_weight(product, 2, shape, widened, self._weights, element=f32)
        wide = rebuilt(product, result_types=[op.output.type], location=op.location)
        rewriter.insert(wide)
        rewriter.replace(op, (), (wide.output,))
        rewriter.erase(product)


def _returned(op: tpu.CastOp) -> bool:
    return all(isinstance(use.operation, ReturnOp) for use in op.output.uses)


def _widens(product: tpu.MatMulOp) -> bool:
    """Whether it is a plain product with a bias that can be rewritten, if any."""
    plain = not (product.hdim_is_batch.value.data or product.output_transpose.value.data)
    several = prod(shape_of(product.output)[:-1]) > 1
    return plain and several and (is_none(product.bias) or is_weight(product.bias))
