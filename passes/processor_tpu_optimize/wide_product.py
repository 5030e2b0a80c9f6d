"""Products that a network returns are stored as the f32 numbers they are summed in."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.graph import derived_name, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import element_of, is_weight, number_type, shape_of
from xdsl_tpu.passes.weight_data import Array, as_numbers, change_weight

Product = tpu.MatMulOp | tpu.A16MatMulOp
MOVES = (tpu.PermuteOp, tpu.ReshapeOp, tpu.SqueezeOp, tpu.UnsqueezeOp)


@dataclass
class WideProduct(RewritePattern):
    """MatMul(16 bits) -> Cast(f32), returned, becomes a MatMul of 16-bit operands with f32 results.

        MatMul : f16
        Cast   : f32    ->    MatMul : f32
        return                return

    So for a product that is returned under another shape or order (Reshape, Permute). The unit sums
    in f32 anyway. As an op of its own the Cast loads all of what the product has
    stored, which for the scores of a vocabulary is more than the weights are. A bias becomes f32.
    Nothing happens when something else reads the product, or one computes a product per head. The
    Cast of a single row stays: it is in the group of the classifier, at next to no price. Products
    with packed matrices (A16MatMul) are in no group.
    Not in the vendor's compiler.
    """

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.CastOp, rewriter: PatternRewriter) -> None:
        moves = list(_moves_before(op.input))
        found = moves[-1].operands[0] if moves else op.input
        product = found.owner
        if not isinstance(product, Product) or not found.has_one_use():
            return
        if number_type(op.output) != f32 or not _returned(op):
            return
        if number_type(product.input) not in (f16, bf16) or not _widens(product):
            return
        if not is_none(product.bias):
            element = element_of(product.bias)

            def widened(stored: Array) -> Array:
                return as_numbers(stored, element)

            shape, place = shape_of(product.bias), list(product.operands).index(product.bias)
            change_weight(product, place, shape, widened, self.weights, element=f32)
        made: list[Operation] = []
        for one in (product, *reversed(moves)):
            operands = (made[-1].results[0], *one.operands[1:]) if made else one.operands
            kind = tensor_like(op.output, shape_of(one.results[0]))
            name = name_loc(derived_name(one, "_f32"))
            made.append(rebuilt(one, operands=operands, result_types=[kind], location=name))
        made[-1].location = op.location
        rewriter.replace(op, made)
        for one in (*moves, product):
            rewriter.erase(one)


def _widens(product: Product) -> bool:
    """Whether it is a plain product with a bias that can be rewritten, if any."""
    if not (is_none(product.bias) or is_weight(product.bias)):
        return False
    kind = number_type(product.input)
    if number_type(product.output) != kind:
        return False
    if isinstance(product, tpu.A16MatMulOp):
        return product.residual is None
    if product.hdim_is_batch.value.data or product.output_transpose.value.data:
        return False
    if number_type(product.right) != kind:
        return False
    return prod(shape_of(product.output)[:-1]) > 1


def _moves_before(value: SSAValue) -> Iterator[Operation]:
    """What only changes the shape or the order of a value that nothing else reads, last first."""
    while isinstance(move := value.owner, MOVES) and value.has_one_use():
        yield move
        value = move.operands[0]


def _returned(op: tpu.CastOp) -> bool:
    return all(isinstance(use.operation, ReturnOp) for use in op.output.uses)
