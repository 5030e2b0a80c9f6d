"""Products with single columns, one for each of many matrices: sums of products of elements."""

from xdsl.dialects.builtin import AnyFloat
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.passes.graph import derived_name, none_before, tensor_like
from xdsl_tpu.passes.tensors import element_of, is_weight, shape_of

_RANK = 3
"""Matrices, rows, columns."""


class ColumnProduct(RewritePattern):
    """MatMul(x, y: 128x9x1) -> Reduce(Mul(x, y)) {ReduceSum}, for at least as many x as rows.

        MatMul   128x64x9 @ 128x9x1        Reshape  1x128x64x9, 1x128x1x9
        128x64x1                     ->    Mul      1x128x64x9
                                           Reduce   1x128x64x1
                                           Reshape  128x64x1

    The matrix unit has columns of the result over its execution units: with one column, all but
    one of them idle, and every matrix comes in rows of its own. Element by element all of them
    work, and a matrix lies in a lane as it comes. Only for computed floats, without bias or relu.
    Not in the vendor's compiler.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.MatMulOp, rewriter: PatternRewriter) -> None:
        flags = (op.left_transpose, op.output_transpose, op.hdim_is_batch, op.do_relu)
        if any(flag.value.data for flag in flags) or not is_none(op.bias):
            return
        left, right = op.input, op.right
        if is_weight(left) or is_weight(right):
            return
        values = (left, right, op.output)
        if not all(isinstance(stored_element(element_of(value)), AnyFloat) for value in values):
            return
        shapes = [shape_of(value) for value in values]
        if any(len(shape) != _RANK for shape in shapes):
            return
        (count, rows, depth), given, result = shapes
        column = (1, depth) if op.right_transpose.value.data else (depth, 1)
        if count < rows or given != (count, *column) or result != (count, rows, 1):
            return
        shaped = [
            tpu.ReshapeOp.make(
                derived_name(op, f"_{label}"),
                (value,),
                result_types=[tensor_like(value, shape)],
                shape=list(shape),
            )
            for label, value, shape in (
                ("matrices", left, (1, count, rows, depth)),
                ("columns", right, (1, count, 1, depth)),
            )
        ]
        product = tpu.MulOp.make(
            derived_name(op, "_product"),
            [one.output for one in shaped],
            result_types=[tensor_like(op.output, (1, count, rows, depth))],
        )
        none = none_before(op)
        total = tpu.ReduceOp.make(
            derived_name(op, "_sum"),
            (product.output, none, none),
            result_types=[tensor_like(op.output, (1, count, rows, 1))],
            axes=[3],
            keepdims=True,
            mode="ReduceSum",
        )
        back = tpu.ReshapeOp.make(
            op.location, (total.output,), result_types=[op.output.type], shape=list(result)
        )
        rewriter.replace(op, [*shaped, product, total, back])
