"""Products of matrices with one vector each: sums of products of elements."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.passes.graph import derived_name, module_of, none_before, tensor_like
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import element_of, is_weight, shape_of

_RANK = 3
"""Matrices, rows, columns."""


@dataclass(frozen=True)
class _Product:
    """`count` matrices of `shape`, and what of each is summed: its rows (axis 0) or columns."""

    matrices: SSAValue
    vectors: SSAValue
    count: int
    shape: tuple[int, int]
    axis: int

    @property
    def made(self) -> int:
        """Elements of each result."""
        return self.shape[1 - self.axis]

    def with_one(self, axis: int) -> tuple[int, int, int, int]:
        """The shape of all matrices with one row (axis 0) or one column."""
        rows, columns = self.shape
        return 1, self.count, 1 if axis == 0 else rows, 1 if axis == 1 else columns


class ColumnProduct(RewritePattern):
    """MatMul(x, y: 128x9x1) -> Reduce(Mul(x, y)) {ReduceSum}, for as many x as rows, or as lanes.

        MatMul   128x64x9 @ 128x9x1        Reshape  1x128x64x9, 1x128x1x9
        128x64x1                     ->    Mul      1x128x64x9
                                           Reduce   1x128x64x1
                                           Reshape  128x64x1

    The matrix unit has columns of the result over its execution units, rows over the lanes: with
    one of them, all but one idle, and every matrix comes in rows of its own. Element by element all
    of them work, and a matrix lies in a lane as it comes. MatMul(y: 128x1x9, x) is the same. Only
    for computed floats, without bias or relu. Not in the vendor's compiler.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.MatMulOp, rewriter: PatternRewriter) -> None:
        found = _with_vectors(op)
        if found is None or found.count < min(found.made, chip_of(module_of(op)).lanes):
            return
        shaped = [
            tpu.ReshapeOp.make(
                derived_name(op, f"_{label}"),
                (value,),
                result_types=[tensor_like(value, shape)],
                shape=list(shape),
            )
            for label, value, shape in (
                ("matrices", found.matrices, (1, found.count, *found.shape)),
                ("vectors", found.vectors, found.with_one(1 - found.axis)),
            )
        ]
        product = tpu.MulOp.make(
            derived_name(op, "_product"),
            [one.output for one in shaped],
            result_types=[tensor_like(op.output, (1, found.count, *found.shape))],
        )
        none = none_before(op)
        total = tpu.ReduceOp.make(
            derived_name(op, "_sum"),
            (product.output, none, none),
            result_types=[tensor_like(op.output, found.with_one(found.axis))],
            axes=[2 + found.axis],
            keepdims=True,
            mode="ReduceSum",
        )
        back = tpu.ReshapeOp.make(
            op.location,
            (total.output,),
            result_types=[op.output.type],
            shape=list(shape_of(op.output)),
        )
        rewriter.replace(op, [*shaped, product, total, back])


def _with_vectors(op: tpu.MatMulOp) -> _Product | None:
    """A product of matrices with a column, or of a row with matrices; None for any other."""
    flags = (op.left_transpose, op.output_transpose, op.hdim_is_batch, op.do_relu)
    if any(flag.value.data for flag in flags) or not is_none(op.bias):
        return None
    left, right = op.input, op.right
    if is_weight(left) or is_weight(right):
        return None
    values = (left, right, op.output)
    elements = {stored_element(element_of(value)) for value in values}
    if len(elements) > 1 or not isinstance(elements.pop(), AnyFloat):
        return None
    shapes: Sequence[Sequence[int]] = [shape_of(value) for value in values]
    if any(len(shape) != _RANK for shape in shapes):
        return None
    (count, rows, depth), given, (_, _, columns) = shapes
    turned = bool(op.right_transpose.value.data)
    if tuple(given) != (count, *((columns, depth) if turned else (depth, columns))):
        return None
    if columns == 1:
        return _Product(left, right, count, (rows, depth), 1)
    if rows == 1:
        return _Product(right, left, count, (given[1], given[2]), int(turned))
    return None
