"""Reshapes and permutes move behind, so that what they stand between can meet."""

from math import prod
from typing import cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import is_f32_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of


class ReshapeReorderPattern(RewritePattern):
    """MatMul(Reshape(x), Reshape(y)) -> Reshape(MatMul(x, y)), MulConst and Softmax likewise.

        Reshape 2x6x49x32 -> 12x49x32
        Reshape 2x6x32x49 -> 12x32x49    ->    MatMul  2x6x49x49
        MatMul  12x49x49                       Reshape 12x49x49

    The Reshapes merge the two leading dimensions of four, the same ones on both sides, and have
    no other use; a Softmax is not along the merged dimension. A Reshape that moves on meets the
    one that undoes it, and both go (`TopReshapeFuse`, `TopFuseReshape2`).
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, top.MatMulOp):
            self._behind_product(op, rewriter)
        elif isinstance(op, top.MulConstOp | top.SoftmaxOp):
            self._behind(op, rewriter)

    def _behind_product(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        left, right = _batch_merge(op.input), _batch_merge(op.right)
        if left is None or right is None or not is_none(op.bias) or not has_shapes(op.output):
            return
        batch = shape_of(left)[:2]
        if shape_of(right)[:2] != batch or not op.keep_dims.value.data:
            return
        _replace(op, (left, right, *op.operands[2:]), batch, rewriter)

    def _behind(self, op: top.MulConstOp | top.SoftmaxOp, rewriter: PatternRewriter) -> None:
        source = _batch_merge(op.input)
        if source is None or not has_shapes(op.output):
            return
        axis = op.axis.value.data % 3 if isinstance(op, top.SoftmaxOp) else None
        if axis == 0:
            return
        moved = _replace(op, (source, *op.operands[1:]), shape_of(source)[:2], rewriter)
        if axis is not None:
            old = cast(top.SoftmaxOp, op).axis
            cast(top.SoftmaxOp, moved).axis = IntegerAttr(axis + 1, old.type)


class MulConstBeforePermute(RewritePattern):
    """MulConst(Permute(MatMul(x, W))) -> Permute(MulConst(MatMul(x, W))), through Reshapes.

    The factor then disappears in the weights (`MergeMulConst`): attention's scale
    costs nothing. Only where that is so: the vendor's compiler keeps the MulConst.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulConstOp, rewriter: PatternRewriter) -> None:
        permute = sole_producer(op.input, top.PermuteOp)
        if permute is None or not has_shapes(permute.input):
            return
        if not _leads_to_weights(permute.input):
            return
        scaled = rebuilt(
            op,
            operands=(permute.input,),
            result_types=[tensor_like(op.output, shape_of(permute.input))],
            location=name_loc(derived_name(op, "_r_before_permute")),
        )
        moved = rebuilt(
            permute, operands=(scaled.output,), result_types=[op.output.type], location=op.location
        )
        rewriter.replace(op, [scaled, moved])
        rewriter.erase(permute)


class PermuteWithinBatches(RewritePattern):
    """Reshape(Permute(Reshape(x)), back) -> Permute(x), where batches stay in front.

        Reshape 1x6x49x32 -> 6x49x32
        Permute 6x49x32 -> 6x32x49  [0, 2, 1]  ->  Permute 1x6x49x32 -> 1x6x32x49  [0, 1, 3, 2]
        Reshape 6x32x49   -> 1x6x32x49

    Neither the first Reshape nor the Permute has another use. So exporters write the transposed
    keys of attention; the Permute then meets the one that parts the heads, and both the product.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReshapeOp, rewriter: PatternRewriter) -> None:
        permute = sole_producer(op.input, top.PermuteOp)
        first = None if permute is None else sole_producer(permute.input, top.ReshapeOp)
        if permute is None or first is None or not has_shapes(first.input, op.input, op.output):
            return
        source, permuted, result = map(shape_of, (first.input, op.input, op.output))
        kept = len(permuted) - 1
        batches, order = source[:-kept], ints(permute.order)
        alike = order[0] == 0 and prod(batches) == permuted[0] and len(batches) > 1
        if not alike or source[-kept:] != shape_of(first.output)[1:]:
            return
        if result != (*batches, *permuted[1:]):
            return
        more = len(batches) - 1
        moved = rebuilt(permute, operands=(first.input,), result_types=[op.output.type])
        moved.location = op.location
        moved.order = I64_ARRAY.encode([*range(more), *(axis + more for axis in order)])
        rewriter.replace(op, moved)
        rewriter.erase(permute)
        rewriter.erase(first)


def _batch_merge(value: SSAValue) -> SSAValue | None:
    """What a Reshape made `value` from, if it merged n and c of n x c x h x w and no more."""
    op = sole_producer(value, top.ReshapeOp)
    if op is None or not has_shapes(op.input, value):
        return None
    old, new = shape_of(op.input), shape_of(value)
    merges = len(old) == 4 and len(new) == 3 and old[2:] == new[1:]
    return op.input if merges else None


def _replace(
    op: Operation,
    operands: tuple[SSAValue, ...],
    batch: tuple[int, ...],
    rewriter: PatternRewriter,
) -> Operation:
    """Put a copy of `op` on other operands, with the batch as two dimensions, and a Reshape."""
    (old,) = op.results
    shape = shape_of(old)
    moved = rebuilt(
        op,
        operands=operands,
        result_types=[tensor_like(old, (*batch, *shape[1:]))],
        location=name_loc(derived_name(op, "_r_unmerged")),
    )
    rewriter.replace(op, [moved, reshape(op.location, moved.results[0], shape)])
    return moved


def _leads_to_weights(value: SSAValue) -> bool:
    """Whether nothing but Permutes and Reshapes is between a product with a weight and `value`."""
    owner = value.owner
    if not value.has_one_use():
        return False
    if isinstance(owner, top.MatMulOp):
        return is_f32_weight(owner.right)
    if isinstance(owner, top.PermuteOp | top.ReshapeOp):
        return _leads_to_weights(owner.input)
    return False
