"""One product whose columns are used in parts becomes one product for each part."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.canonicalize.split import shared_out
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    rebuilt,
    sole_user,
    tensor_like,
)
from xdsl_tpu.passes.products import is_plain
from xdsl_tpu.passes.tensors import shape_of


class SplitMatMulPattern(RewritePattern):
    """MatMul(x, W, b) -> Reshape -> Slices -> MatMul(x, W[:, i], b[i]) -> Reshape for each Slice.

        MatMul   64x49x96 @ 96x288                    MatMul  64x49x96 @ 96x96     (3 times)
        Reshape  64x49x3x3x32                    ->   Reshape 64x49x3x32
        Slice    64x49x1x3x32        (3 times)
        Squeeze  64x49x3x32

    Between the product and the Slices there may be any number of Reshapes. Only Slices read the
    result; along one dimension they take all indices once, in steps of one. That dimension is
    the outermost part of the columns, so that each Slice is a run of columns: 3 of 64x49x3x3x32
    is, 6 of 8x6x128 from a product of 8 rows is not when they are 3x2. A Squeeze behind a Slice
    becomes part of the new Reshape.

    The new ops are numbered as in the vendor's files: weights 0, 2, 4, results 1, 3, 5.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if not is_plain(op):
            return
        if not is_f32_weight(op.right) or not (is_none(op.bias) or is_f32_weight(op.bias)):
            return
        if not has_shapes(op.input, op.output):
            return
        parts = _parts(op)
        if len(parts) < 2 or len(shape_of(op.right)) != 2:
            return
        for index, part in enumerate(parts):
            weights = [_columns(op, op.right, part, f"__filter_{2 * index}")]
            if not is_none(op.bias):
                weights.append(_columns(op, op.bias, part, f"__bias_{2 * index}"))
            product = _product(op, weights, part, derived_name(op, f"_matmul_{2 * index + 1}"))
            name = derived_name(op, f"_reshape_{2 * index + 1}")
            shaped = reshape(name, product.output, shape_of(part.result))
            rewriter.insert([*weights, product])
            rewriter.replace(part.last, shaped)
            if part.last is not part.cut:
                rewriter.erase(part.cut)


@dataclass(frozen=True)
class _Part:
    """A Slice, the Squeeze behind it if any, and the columns of the product it takes."""

    cut: top.SliceOp
    last: Operation
    columns: slice

    @property
    def result(self) -> SSAValue:
        """What the users of the part read."""
        return self.last.results[0]

    @property
    def width(self) -> int:
        """How many columns."""
        return self.columns.stop - self.columns.start


def _columns(op: top.MatMulOp, weight: SSAValue, part: _Part, suffix: str) -> top.WeightOp:
    """The columns of a weight that one part needs; only a type when the numbers are not known."""
    name, values = derived_name(op, suffix), values_of(weight)
    if values is not None:
        return make_weight(op, name, values[..., part.columns])
    kind = tensor_like(weight, (*shape_of(weight)[:-1], part.width))
    return top.WeightOp.make(name, (), result_types=[kind])


def _product(
    op: top.MatMulOp, weights: Sequence[top.WeightOp], part: _Part, name: str
) -> top.MatMulOp:
    """The columns of one part."""
    operands = (op.input, *weights, *op.operands[1 + len(weights) :])
    kind = tensor_like(op.output, (*shape_of(op.output)[:-1], part.width))
    return rebuilt(op, operands=operands, result_types=[kind], location=name_loc(name))


def _parts(op: top.MatMulOp) -> list[_Part]:
    """The Slices that share out all columns of a product, in order; none if they do not."""
    value: SSAValue = op.output
    while (between := sole_user(value, top.ReshapeOp)) is not None:
        value = between.output
    found = shared_out(value)
    if found is None:
        return []
    (axis, cuts), shape = found, shape_of(value)
    if prod(shape[:axis]) != prod(shape_of(op.output)[:-1]):
        return []
    inner = prod(shape[axis + 1 :])
    return [_part(cut, cut.cuts()[axis], inner) for cut in cuts]


def _part(cut: top.SliceOp, taken: Cut, inner: int) -> _Part:
    squeeze = sole_user(cut.output, top.SqueezeOp)
    begin = taken.first * inner
    return _Part(cut, squeeze or cut, slice(begin, begin + taken.count * inner))
