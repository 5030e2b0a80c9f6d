"""BatchNorm and Scale: per-channel affine maps become one Scale, or weights of a MatMul."""

from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import behind_views, has_relu, reshape
from xdsl_tpu.passes.constants import Floats, make_weight, reshaped_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    is_like,
    rebuilt,
    sole_producer,
    sole_user,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

_MATRIX_RANK = 2

_SERIES_RANK = 3
"""Of images and at least two dimensions that were one of channels."""


class BatchNormToScale(RewritePattern):
    """BatchNorm(x, mean, var, gamma, beta) -> Scale(x, s, beta - mean * s).

    s is gamma / sqrt(var + epsilon); an absent gamma counts as 1, an absent beta as 0.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.BatchNormOp, rewriter: PatternRewriter) -> None:
        mean, variance = values_of(op.mean), values_of(op.variance)
        if mean is None or variance is None or not has_shapes(op.input):
            return
        gamma = np.float32(1) if is_none(op.gamma) else values_of(op.gamma)
        beta = np.float32(0) if is_none(op.beta) else values_of(op.beta)
        if gamma is None or beta is None:
            return
        scale = gamma / np.sqrt(variance + np.float32(op.epsilon.value.data))
        bias = beta - mean * scale
        shape = _channel_shape(shape_of(op.input))
        weights = [
            make_weight(op, derived_name(op, suffix), np.reshape(values, shape))
            for suffix, values in (("_scale", scale), ("_bias", bias))
        ]
        affine = top.ScaleOp.make(
            op.location,
            (op.input, *weights),
            result_types=[op.output.type],
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        rewriter.replace(op, [*weights, affine])


class MergeScales(RewritePattern):
    """Scale(Scale(x, s1, b1), s2, b2) -> Scale(x, s1 * s2, b1 * s2 + b2)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.ScaleOp)
        if inner is None or has_relu(inner):
            return
        first, second = _parameters(inner), _parameters(op)
        if first is None or second is None:
            return
        _replace_scale(
            op, inner, (first[0] * second[0], first[1] * second[0] + second[1]), rewriter
        )


class MergeConstIntoScale(RewritePattern):
    """Scale(MulConst(x, c), s, b) -> Scale(x, s * c, b); AddConst adds s * c to b."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.MulConstOp) or sole_producer(op.input, top.AddConstOp)
        if inner is None or has_relu(inner) or not is_like(inner.input, op.input):
            return
        if (parameters := _parameters(op)) is None:
            return
        scale, bias = parameters
        number = np.float32(inner.const_val.value.data)
        if isinstance(inner, top.MulConstOp):
            merged = (scale * number, bias)
        else:
            merged = (scale, bias + scale * number)
        _replace_scale(op, inner, merged, rewriter)


class MergeConstAfterScale(RewritePattern):
    """MulConst(Scale(x, s, b), c) -> Scale(x, s * c, b * c); AddConst adds to b."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.MulConstOp | top.AddConstOp, rewriter: PatternRewriter
    ) -> None:
        inner = sole_producer(op.input, top.ScaleOp)
        if inner is None or has_relu(inner) or not is_like(op.input, op.output):
            return
        if (parameters := _parameters(inner)) is None:
            return
        scale, bias = parameters
        number = np.float32(op.const_val.value.data)
        if isinstance(op, top.MulConstOp):
            merged = (scale * number, bias * number)
        else:
            merged = (scale, bias + number)
        _replace_scale(op, inner, merged, rewriter)


class AlignScaleShape(RewritePattern):
    """Scale(x: NxCxHxW, s: C, b: C) -> Scale(x, s: 1xCx1x1, b: 1xCx1x1)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.scale, op.bias):
            return
        wanted = _channel_shape(shape_of(op.input))
        for value in (op.scale, op.bias):
            weight = sole_producer(value, top.WeightOp)
            if weight is not None and len(shape_of(value)) != len(wanted):
                rewriter.replace(weight, reshaped_weight(weight, wanted))
                rewriter.notify_op_modified(op)


class MergeScaleIntoMatMul(RewritePattern):
    """Scale(MatMul(x: MxK, W: KxN), s, b) -> MatMul(x, W * s, b), for a 2-D result.

    Scale(Permute(MatMul(x, W)), s, b) -> Permute(MatMul(x, W * s, b)) where the product's columns
    become the channels, as where a BatchNorm follows a linear layer of several rows.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input):
            return
        permute = sole_producer(op.input, top.PermuteOp)
        rows = op.input if permute is None else permute.input
        product = sole_producer(rows, top.MatMulOp)
        if product is None or has_relu(product) or not has_shapes(rows):
            return
        channel = 1 if permute is None else ints(permute.order)[1]
        if channel != len(shape_of(rows)) - 1 or product.output_transpose.value.data:
            return
        if (weights := _scaled_weights(op, product)) is None:
            return
        merged = rebuilt(product, operands=(product.input, *weights), location=op.location)
        merged.do_relu, merged.relu_limit = op.do_relu, op.relu_limit
        if permute is None:
            rewriter.replace(op, [*weights, merged])
            return
        merged.location = name_loc(derived_name(op, "_r_rows"))
        turned = rebuilt(permute, operands=(merged.output,), location=op.location)
        rewriter.replace(op, [*weights, merged, turned])


def _scaled_weights(op: top.ScaleOp, product: top.MatMulOp) -> list[top.WeightOp] | None:
    """Matrix and bias of a product of rows with `op`'s factors and terms for its columns."""
    parameters, right = _parameters(op), values_of(product.right)
    bias = np.float32(0) if is_none(product.bias) else values_of(product.bias)
    if parameters is None or right is None or bias is None or right.ndim != _MATRIX_RANK:
        return None
    if product.right_transpose.value.data:
        return None
    scale, shift = (values.reshape(-1) for values in parameters)
    return [
        make_weight(op, derived_name(product.right, "_scaled"), right * scale),
        make_weight(op, derived_name(op, "_bias"), np.reshape(bias, -1) * scale + shift),
    ]


class ScaleOfSeries(RewritePattern):
    """Scale(x: 8x96x7 seen as 8x672x1, s, b) -> Add(Mul(x, s: 1x96x7), b: 1x96x7), seen as that.

    Where the result is seen as x again, as behind a BatchNorm of each step of each series: rows of
    series stay where they are, and need not become channels and rows again.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output):
            return
        images, channels, *pixels = shape_of(op.input)
        x = behind_views(op.input)
        shape = shape_of(x)
        if x is op.input or prod(pixels) != 1 or shape != shape_of(_seen_last(op.output)):
            return
        if len(shape) < _SERIES_RANK or (shape[0], prod(shape[1:])) != (images, channels):
            return
        if (parameters := _parameters(op)) is None:
            return
        scale, bias = (
            make_weight(op, derived_name(op, suffix), values.reshape(1, *shape[1:]))
            for suffix, values in zip(("_r_scale", "_r_bias"), parameters, strict=True)
        )
        kind = tensor_like(op.output, shape)
        name = derived_name(op, "_r_scaled")
        scaled = top.MulOp.make(name, (x, scale.output), result_types=[kind])
        total = top.AddOp.make(
            derived_name(op, "_r_series"),
            (scaled.output, bias.output),
            result_types=[kind],
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        back = reshape(op.location, total.output, shape_of(op.output))
        rewriter.replace(op, [scale, bias, scaled, total, back])


def _seen_last(value: SSAValue) -> SSAValue:
    """What changes of shape make of a value that each have one reader."""
    while (view := sole_user(value, top.ReshapeOp) or sole_user(value, top.SqueezeOp)) is not None:
        value = view.output
    return value


def _channel_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """1xCx1x..: one element for each channel of a tensor of this shape."""
    return (1, shape[1], *(1 for _ in shape[2:])) if len(shape) > 1 else shape


def _parameters(op: top.ScaleOp) -> tuple[Floats, Floats] | None:
    """Scale and bias as they are stored, or None when they are not known."""
    scale, bias = values_of(op.scale), values_of(op.bias)
    return None if scale is None or bias is None else (scale, bias)


def _replace_scale(
    op: top.ScaleOp | top.MulConstOp | top.AddConstOp,
    inner: top.ScaleOp | top.MulConstOp | top.AddConstOp,
    parameters: tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]],
    rewriter: PatternRewriter,
) -> None:
    """Put one Scale of `inner`'s input in the place of `op`."""
    weights = [
        make_weight(op, derived_name(op, suffix), values)
        for suffix, values in zip(("_scale", "_bias"), parameters, strict=True)
    ]
    merged = top.ScaleOp.make(
        op.location,
        (inner.input, *weights),
        result_types=[op.output.type],
        do_relu=op.do_relu,
        relu_limit=op.relu_limit,
    )
    rewriter.replace(op, [*weights, merged])
