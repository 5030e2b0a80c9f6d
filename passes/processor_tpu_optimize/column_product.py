"""Products of matrices with one vector each: sums of products of elements."""

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.passes.graph import derived_name, module_of, none_before, tensor_like
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import element_of, is_weight, shape_of


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
    of them work, and a matrix lies in a lane as it comes. MatMul(y: 128x1x9, x) is the same, and so
    are matrices of which several meet one column (128x4x16x9 @ 128x1x9x1). Only for floats,
    without bias, and not for a single matrix of weights. Not in the vendor's compiler.
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
        made: list[Operation] = [*shaped, product, total]
        if op.do_relu.value.data:
            relu = tpu.ReluOp.make(
                derived_name(op, "_relu"),
                (total.output,),
                result_types=[total.output.type],
                relu_limit=op.relu_limit,
            )
            made.append(relu)
        back = tpu.ReshapeOp.make(
            op.location,
            (made[-1].results[0],),
            result_types=[op.output.type],
            shape=list(shape_of(op.output)),
        )
        rewriter.replace(op, [*made, back])


def _with_vectors(op: tpu.MatMulOp) -> _Product | None:
    """A product of matrices with a column, or of a row with matrices; None for any other."""
    if not is_none(op.bias):
        return None
    left, right = op.input, op.right
    values = (left, right, op.output)
    elements = {stored_element(element_of(value)) for value in values}
    if len(elements) > 1 or not isinstance(elements.pop(), AnyFloat):
        return None
    count = op.own_right()
    if count is None or (count == 1 and (is_weight(left) or is_weight(right))):
        return None
    first, second, depth = *shape_of(right)[-2:], shape_of(left)[-1]
    rows = prod(shape_of(left)[:-1]) // count
    if shape_of(op.output)[-1] == 1:
        return _Product(left, right, count, (rows, depth), 1)
    if rows == 1:
        turned = bool(op.right_transpose.value.data)
        return _Product(right, left, count, (first, second), int(turned))
    return None
