"""The pass `scale-early`."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.canonicalize.mul_const import MergeMulConsts
from xdsl_tpu.passes.constants import make_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes, is_calibrated, rebuilt, sole_producer
from xdsl_tpu.passes.module_state import State, require_state, text_attribute
from xdsl_tpu.passes.pattern_table import PatternPass, PatternTable, rewrite
from xdsl_tpu.passes.scale_early.ratios import ScaleRatio
from xdsl_tpu.passes.scale_early.sources import Source, source_of
from xdsl_tpu.passes.tensors import is_weight, shape_of

_BEFORE_SOFTMAX = (top.MulConstOp, top.AddOp, top.WhereOp, top.ReshapeOp, top.PermuteOp)

LEAST = 2.0**-8
"""The least factor that moves to an operand, whose numbers f16 must hold with their digits."""


@dataclass(frozen=True)
class ScaleEarlyPass(PatternPass):
    """Multiply by numbers in front of products of two tensors, and in weights where these allow.

        %q = MatMul  197x192 @ 192x192
        %h = Permute %q of heads                        %q = MatMul  197x192 @ weights * 0.125
        %s = MatMul  3x197x64 @ 3x64x197          ->    %h = Permute %q of heads
        %y = MulConst %s * 0.125                        %y = MatMul  3x197x64 @ 3x64x197

    The scale of attention behind the product of queries and keys is a pass over all scores, and
    scores that are within F16 only when scaled are infinite before. So are sums over all keys that
    others of them are divided by, which become means (`ScaleRatio`). Integer networks keep theirs:
    their ranges are known, and scales cost them nothing.
    """

    name = "scale-early"

    @classmethod
    def table(cls, weights: Weights | None) -> PatternTable:
        ratio = ScaleRatio()
        return {
            top.DivOp: (ratio,),
            top.MulConstOp: (ScaleIntoWeights(), MergeMulConsts(), ScaleBeforeProduct()),
            top.MulOp: (ratio,),
        }

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        if text_attribute(op, "module.mode") != "INT8":
            rewrite(op, self.enabled())


class ScaleIntoWeights(RewritePattern):
    """MulConst(Permute(Slice(MatMul(x, W, b))), c) -> Permute(Slice(MatMul(x, W * c, b * c))).

    Of the weights only the columns that are multiplied: queries, keys and values may be one
    product. Behind it stand any Reshapes, Permutes and Slices; it may be a Conv, a Scale or a norm
    with weights, too. Nothing else reads the numbers, and f16 holds the weights as well as before.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulConstOp, rewriter: PatternRewriter) -> None:
        if has_relu(op) or not has_shapes(op.output) or is_calibrated(op.output):
            return
        source = source_of(op.input, op)
        weights = None if source is None else source.scaled_weights(op.const_val.value.data)
        if source is None or weights is None:
            return
        old = source.op
        made = {
            index: make_weight(old, derived_name(old.operands[index], "_scaled"), values)
            for index, values in weights.items()
        }
        operands = [made.get(index, operand) for index, operand in enumerate(old.operands)]
        name = name_loc(derived_name(old, "_r_scaled")) if source.path else op.location
        scaled = rebuilt(old, operands=operands, location=name)
        rewriter.replace(old, [*made.values(), scaled])
        _rename((*source.path[1:], *source.beside))
        if source.path:
            source.path[0].location = op.location
        rewriter.replace(op, (), (op.input,))


class ScaleBeforeProduct(RewritePattern):
    """MulConst(MatMul(q, k), c) -> MatMul(MulConst(q, c), k), of whichever the weights allow.

    Where no weights take the factor in, that of the operands which is the smaller one is
    multiplied, if it has fewer elements than the product. Reshapes and Permutes may stand between.
    Neither operand is a weight, and nothing is added to the product; the factor is at most 1. That
    is for scores, which a Softmax reads: there are many of them, and what else a small operand is
    for would be told its layout by the factor.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulConstOp, rewriter: PatternRewriter) -> None:
        factor = op.const_val.value.data
        if has_relu(op) or not LEAST <= abs(factor) <= 1 or is_calibrated(op.output):
            return
        moves = tuple(_moves_before(op.input))
        product = sole_producer(moves[-1].operands[0] if moves else op.input, top.MatMulOp)
        if product is None or not _is_plain(product):
            return
        index = _scaled_operand(product, factor)
        if index is None:
            return
        operand = product.operands[index]
        scaled = top.MulConstOp.make(
            derived_name(product, "_r_operand"),
            (operand,),
            result_types=[operand.type],
            const_val=factor,
        )
        operands = list(product.operands)
        operands[index] = scaled.output
        name = name_loc(derived_name(product, "_r_scaled")) if moves else op.location
        rewriter.replace(product, [scaled, rebuilt(product, operands=operands, location=name)])
        _rename(moves[1:])
        if moves:
            moves[0].location = op.location
        rewriter.replace(op, (), (op.input,))


def _rename(moves: tuple[Operation, ...]) -> None:
    """Other names for values that are now multiplied."""
    for one in moves:
        one.location = name_loc(derived_name(one, "_r_scaled"))


def _moves_before(value: SSAValue) -> Iterator[Operation]:
    """The Reshapes and Permutes that a value is made by, the last of them first."""
    while value.has_one_use() and isinstance(value.owner, top.ReshapeOp | top.PermuteOp):
        yield value.owner
        value = value.owner.input


def _is_plain(op: top.MatMulOp) -> bool:
    """Whether a product is one of two tensors, and no more."""
    if has_relu(op) or not is_none(op.bias) or is_weight(op.input) or is_weight(op.right):
        return False
    return has_shapes(op.input, op.right, op.output) and op.input is not op.right


def _scaled_operand(product: top.MatMulOp, factor: float) -> int | None:
    """Which operand is to be multiplied."""
    for index, value in enumerate((product.input, product.right)):
        source: Source | None = source_of(value, product)
        if source is not None and source.scaled_weights(factor) is not None:
            return index
    if not _are_scores(product.output):
        return None
    sizes = [prod(shape_of(value)) for value in (product.input, product.right)]
    least = min(sizes)
    return sizes.index(least) if least < prod(shape_of(product.output)) else None


def _are_scores(value: SSAValue) -> bool:
    """Whether a Softmax reads numbers, masks and movement aside."""
    readers = [use.operation for use in value.uses]
    return any(
        isinstance(op, top.SoftmaxOp)
        or (isinstance(op, _BEFORE_SOFTMAX) and _are_scores(op.results[0]))
        for op in readers
    )
