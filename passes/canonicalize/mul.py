"""Mul: constants into MulConst or Scale, and activations spelled out with products."""

from math import isclose

import numpy as np
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.common import (
    has_relu,
    in_place_of,
    inner_with_weight,
    is_channel_weight,
    is_of_heads,
)
from xdsl_tpu.passes.constants import make_weight, number_of, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, is_like, producer, sole_producer
from xdsl_tpu.passes.tensors import is_weight, shape_of

_SQRT_HALF = 0.70710677
_TOLERANCE = 1e-4


class MulToSiLU(RewritePattern):
    """Mul(x, Sigmoid(x)) -> SiLU(x), when nothing else uses the Sigmoid."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op):
            return
        for value, other in (op.inputs, reversed(op.inputs)):
            sigmoid = sole_producer(other, top.SigmoidOp)
            if sigmoid is not None and sigmoid.input is value and _is_plain(sigmoid):
                silu = top.SiLUOp.make(op.location, (value,), result_types=[op.output.type])
                rewriter.replace(op, silu)
                return


def _is_plain(op: top.SigmoidOp) -> bool:
    return (op.scale.value.data, op.bias.value.data, bool(op.log.value.data)) == (1.0, 0.0, False)


class MulToMulConst(RewritePattern):
    """Mul(x, W with one element c) -> MulConst(x, c)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or not has_shapes(*op.inputs):
            return
        for value, other in (op.inputs, reversed(op.inputs)):
            if is_like(value, op.output) and (number := _constant(other)) is not None:
                constant = in_place_of(
                    op, top.MulConstOp, (value,), const_val=number, is_scalar=op.is_scalar
                )
                rewriter.replace(op, constant)
                return


def _constant(value: SSAValue) -> float | None:
    """The one number a value consists of, when it is a weight or filled with it."""
    if (fill := producer(value, top.ConstantFillOp)) is not None:
        return fill.value.value.data
    return number_of(value)


class MulToScale(RewritePattern):
    """Mul(x: NxCxHxW, W: 1xCx1x1) -> Scale(x, W, zeros)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or not has_shapes(*op.inputs):
            return
        value, weight = op.inputs
        if is_weight(value):
            value, weight = weight, value
        if len(shape_of(value)) != 4 or not is_like(value, op.output):
            return
        if not is_channel_weight(weight, value) or is_of_heads(value):
            return
        zeros = make_weight(
            op, derived_name(op, "_bias"), np.zeros(shape_of(weight), dtype=np.float32)
        )
        rewriter.replace(op, [zeros, in_place_of(op, top.ScaleOp, (value, weight, zeros))])


class MergeMuls(RewritePattern):
    """Mul(Mul(x, W1), W2) -> Mul(x, W1 * W2), when the first has no relu and one use."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulOp, rewriter: PatternRewriter) -> None:
        if (inner := inner_with_weight(op)) is None:
            return
        outer_values, inner_values = values_of(op.inputs[1]), values_of(inner.inputs[1])
        if outer_values is None or inner_values is None:
            return
        merged = make_weight(op, derived_name(op, "_merged"), outer_values * inner_values)
        product = in_place_of(op, top.MulOp, (inner.inputs[0], merged), is_scalar=op.is_scalar)
        rewriter.replace(op, [merged, product])


class MulToGELU(RewritePattern):
    """Mul(MulConst(x, 0.5), AddConst(Erf(MulConst(x, sqrt(1/2))), 1)) -> GELU(x).

    The factor 1/2 may also be applied to the other side, or to the product of x and that side.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op):
            return
        for value, other in (op.inputs, reversed(op.inputs)):
            half, x = _strip_half(value)
            half_too, source = _erf_argument(other)
            if source is not None and source is x and half != half_too:
                gelu = top.GELUOp.make(op.location, (x,), result_types=[op.output.type])
                rewriter.replace(op, gelu)
                return


class HalvedMulToGELU(RewritePattern):
    """MulConst(Mul(x, AddConst(Erf(MulConst(x, sqrt(1/2))), 1)), 0.5) -> GELU(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulConstOp, rewriter: PatternRewriter) -> None:
        product = sole_producer(op.input, top.MulOp)
        if product is None or has_relu(op) or has_relu(product) or len(product.inputs) != 2:
            return
        if not isclose(op.const_val.value.data, 0.5, abs_tol=_TOLERANCE):
            return
        for value, other in (product.inputs, reversed(product.inputs)):
            halved, source = _erf_argument(other)
            if source is value and not halved:
                gelu = top.GELUOp.make(op.location, (value,), result_types=[op.output.type])
                rewriter.replace(op, gelu)
                return


def _strip_half(value: SSAValue) -> tuple[bool, SSAValue]:
    """(True, x) for a MulConst(x, 0.5) of one use, else (False, value)."""
    half = sole_producer(value, top.MulConstOp)
    if half is None or has_relu(half):
        return False, value
    if not isclose(half.const_val.value.data, 0.5, abs_tol=_TOLERANCE):
        return False, value
    return True, half.input


def _erf_argument(value: SSAValue) -> tuple[bool, SSAValue | None]:
    """Whether `value` is halved, and the x of its 1 + erf(x / sqrt(2)); None if it is not that."""
    halved, value = _strip_half(value)
    plus_one = sole_producer(value, top.AddConstOp)
    if plus_one is None or has_relu(plus_one):
        return halved, None
    if not isclose(plus_one.const_val.value.data, 1.0, abs_tol=_TOLERANCE):
        return halved, None
    erf = sole_producer(plus_one.input, top.ErfOp)
    scaled = None if erf is None else sole_producer(erf.input, top.MulConstOp)
    if scaled is None or has_relu(scaled):
        return halved, None
    if not isclose(scaled.const_val.value.data, _SQRT_HALF, abs_tol=_TOLERANCE):
        return halved, None
    return halved, scaled.input
