"""Add: constants to the right, into other ops, or out of the way."""

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.common import (
    has_relu,
    in_place_of,
    inner_with_weight,
    is_channel_weight,
    is_of_heads,
    reshape,
    unit_coefficients,
)
from xdsl_tpu.passes.constants import (
    Floats,
    make_weight,
    number_of,
    reshaped_weight,
    values_of,
)
from xdsl_tpu.passes.graph import derived_name, drop, has_shapes, is_like, sole_producer
from xdsl_tpu.passes.tensors import is_weight, shape_of


class SwapAddInputs(RewritePattern):
    """Add(W, x) -> Add(x, W)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or not unit_coefficients(op):
            return
        left, right = op.inputs
        if is_weight(left) and not is_weight(right):
            op.operands = (right, left)
            rewriter.notify_op_modified(op)


class AlignAddRanks(RewritePattern):
    """Add(x: 8x49x96, y: 96) -> Add(x, Reshape(y): 1x1x96)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or not has_shapes(*op.inputs):
            return
        ranks = [len(shape_of(value)) for value in op.inputs]
        if ranks[0] == ranks[1]:
            return
        lower = ranks.index(min(ranks))
        value = op.inputs[lower]
        shape = shape_of(value)
        padded = (1,) * (max(ranks) - min(ranks)) + shape
        if (weight := sole_producer(value, top.WeightOp)) is None:
            aligned = reshape(derived_name(value, "_r_reshape"), value, padded)
            rewriter.insert(aligned)
        elif shape == (1,):  # becomes an AddConst
            return
        else:
            aligned = reshaped_weight(weight, padded)
            rewriter.replace(weight, aligned)
        op.operands[lower] = aligned.output
        rewriter.notify_op_modified(op)


class AddToScale(RewritePattern):
    """Add(x: NxCxHxW, W: 1xCx1x1) -> Scale(x, ones, W), from three dimensions on."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or not unit_coefficients(op) or not has_shapes(*op.inputs):
            return
        value, weight = op.inputs
        if len(shape_of(value)) < 3:
            return
        if not is_channel_weight(weight, value) or is_of_heads(value):
            return
        ones = make_weight(
            op, derived_name(op, "_scale"), np.ones(shape_of(weight), dtype=np.float32)
        )
        rewriter.replace(op, [ones, in_place_of(op, top.ScaleOp, (value, ones, weight))])


class AddToAddConst(RewritePattern):
    """Add(x, W with one element c) -> AddConst(x, c), or x alone when c is 0."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or not unit_coefficients(op) or not has_shapes(*op.inputs):
            return
        value, weight = op.inputs
        if not is_weight(weight) or not is_like(value, op.output):
            return
        if (number := number_of(weight)) is None:
            return
        if number == 0.0 and not has_relu(op):
            drop(op, value, rewriter)
            return
        constant = in_place_of(
            op, top.AddConstOp, (value,), const_val=number, is_scalar=op.is_scalar
        )
        rewriter.replace(op, constant)


class MergeAdds(RewritePattern):
    """Add(Add(x, W1), W2) -> Add(x, W1 + W2), when the first has no relu and one use.

    Weights that are stretched along different axes stay two: their sum is larger than both (a mask
    for each window and a bias for each head), and to load it takes longer than to add twice.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if (inner := inner_with_weight(op)) is None:
            return
        outer_values, inner_values = _scaled(op), _scaled(inner)
        if outer_values is None or inner_values is None or not _takes_x_as_is(op, inner):
            return
        values = outer_values + inner_values
        if values.size > outer_values.size + inner_values.size:
            return
        merged = make_weight(op, derived_name(op, "_merged"), values)
        addition = in_place_of(op, top.AddOp, (inner.inputs[0], merged), is_scalar=op.is_scalar)
        rewriter.replace(op, [merged, addition])


def _takes_x_as_is(*ops: top.AddOp) -> bool:
    return all(op.coeff is None or op.coeff.data[0].value.data == 1.0 for op in ops)


def _scaled(op: top.AddOp) -> Floats | None:
    """The values of the second input, a weight, times its coefficient."""
    values = values_of(op.inputs[1])
    if values is None or op.coeff is None:
        return values
    return values * np.float32(op.coeff.data[1].value.data)
