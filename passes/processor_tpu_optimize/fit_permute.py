"""Operands of products whose rows and heads are swapped in another rank than the product's."""

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import derived_name, none_for, sole_producer
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    HEADS,
    TURNED,
    permutation,
    permute,
    reshape,
    sole_permute,
)
from xdsl_tpu.passes.tensors import shape_of


class FitPermute2Hdim(RewritePattern):
    """MatMul(Reshape(Permute(x)), y) -> MatMul(Permute(Reshape(x), [0, 2, 1, 3]), y).

        Permute [1, 0, 2]  49x3x32 -> 3x49x32            Reshape 49x3x32 -> 1x49x3x32
        Reshape            1x3x49x32                ->   Permute [0, 2, 1, 3]  1x3x49x32
        MatMul             1x3x49x32 @ 1x3x32x49         MatMul  1x3x49x32 @ 1x3x32x49

    The operand, of four dimensions, is the same data in the same order: a swap of rows and heads,
    [0, 2, 1, 3], or one that also turns the matrices, [0, 2, 3, 1], written in the product's own
    dimensions, as `MatMulHdimBatchPattern` takes it in. Nothing else uses what lies between. Either
    operand may be so; batch and heads of both are the same.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.MatMulOp, rewriter: PatternRewriter) -> None:
        if bool(op.hdim_is_batch) or bool(op.output_transpose) or not bool(op.keep_dims):
            return
        shapes = [shape_of(value) for value in (op.input, op.right)]
        if any(len(shape) != len(HEADS) for shape in shapes) or shapes[0][:2] != shapes[1][:2]:
            return
        for value in (op.input, op.right):
            _fit(op, value, rewriter)


def _fit(op: tpu.MatMulOp, value: SSAValue, rewriter: PatternRewriter) -> None:
    """Write the order of one operand in the product's dimensions, if that can be."""
    behind = sole_producer(value, tpu.ReshapeOp)
    before = None if behind is None else sole_permute(behind.input)
    if behind is None or before is None or permutation(before).moves_nothing:
        return
    batch, heads, rows, columns = shape_of(value)
    sources = {HEADS: (batch, rows, heads, columns), TURNED: (batch, columns, heads, rows)}
    for order, source in sources.items():
        if Permutation(source, order).minimal != permutation(before).minimal:
            continue
        early = reshape(derived_name(value, "_r_reshape"), before.input, source)
        fitted = permute(behind.location, early.output, order, none_for(op, rewriter))
        rewriter.replace(behind, [early, fitted])
        rewriter.erase(before)
        return
