"""Conv: one- and three-dimensional ones become two-dimensional, neighbours become one."""

from math import prod

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.constants import Floats, make_weight, reshaped_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_LARGEST_GROWTH = 20
"""Merged filters that are more times larger than the two they replace are not worth it."""

_TILE = 1 << 16
"""Numbers of a merged filter that are summed up at a time: so many stay in a processor's cache."""


class Conv1dTo2d(RewritePattern):
    """Conv(x: NxCxW, W: OxCxk) {kernel = [k]} -> Conv(x, W: OxCxkx1) {kernel = [k, 1]}.

    The tensors keep their three dimensions.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        weight = sole_producer(op.filter, top.WeightOp)
        if len(op.kernel_shape.data) != 1 or weight is None:
            return
        widened = reshaped_weight(weight, (*shape_of(op.filter), 1))
        rewriter.replace(weight, widened)
        before, after = ints(op.pads)
        dilations = _dilations(op)
        op.kernel_shape = I64_ARRAY.encode((*ints(op.kernel_shape), 1))
        op.strides = I64_ARRAY.encode((*ints(op.strides), 1))
        op.pads = I64_ARRAY.encode((before, 0, after, 0))
        op.dilations = I64_ARRAY.encode((*dilations, 1))
        rewriter.notify_op_modified(op)


class Conv3dTo2d(RewritePattern):
    """Conv over the whole depth: Conv3d(x: NxCxDxHxW) -> Reshape(Conv2d(Reshape(x): Nx(CD)xHxW)).

    The filter's depth is the input's, nothing is padded along it, so the result has depth 1.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        weight = sole_producer(op.filter, top.WeightOp)
        if len(op.kernel_shape.data) != 3 or weight is None or not has_shapes(op.input, op.output):
            return
        (n, c, d, h, w), kernel, pads = shape_of(op.input), ints(op.kernel_shape), ints(op.pads)
        dilations = _dilations(op)
        if kernel[0] != d or pads[0] or pads[3] or dilations[0] != 1 or op.group.value.data != 1:
            return
        out_shape = shape_of(op.output)
        flat = reshape(derived_name(op.input, "_r_to4d"), op.input, (n, c * d, h, w))
        kernels = reshaped_weight(weight, (out_shape[1], c * d, *kernel[1:]))
        conv = top.ConvOp.make(
            derived_name(op, "_r_4d"),
            (flat, kernels, op.bias),
            result_types=[tensor_like(op.output, (n, out_shape[1], *out_shape[3:]))],
            kernel_shape=kernel[1:],
            strides=ints(op.strides)[1:],
            pads=(*pads[1:3], *pads[4:6]),
            dilations=dilations[1:],
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        back = reshape(op.location, conv.output, out_shape)
        rewriter.replace(weight, kernels)
        rewriter.replace(op, [flat, conv, back])


class Conv3dTranspose(RewritePattern):
    """Conv3d(Permute(x, [0, 2, 1, 3, 4]), W) over the whole depth -> Conv3d(x, W permuted)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        permute = sole_producer(op.input, top.PermuteOp)
        if permute is None or len(op.kernel_shape.data) != 3 or not has_shapes(op.input):
            return
        kernel, shape = ints(op.kernel_shape), shape_of(op.input)
        if ints(permute.order) != (0, 2, 1, 3, 4) or kernel[0] != shape[2]:
            return
        pads, strides = ints(op.pads), ints(op.strides)
        if op.group.value.data != 1 or pads[0] or pads[3] or strides[0] != 1:
            return
        if (values := values_of(op.filter)) is None:
            return
        swapped = make_weight(
            op, derived_name(op.filter, "_transposed"), values.transpose(0, 2, 1, 3, 4)
        )
        conv = rebuilt(op, operands=(permute.input, swapped, op.bias))
        conv.kernel_shape = I64_ARRAY.encode((shape[1], *kernel[1:]))
        rewriter.replace(op, [swapped, conv])


class WholeImages(RewritePattern):
    """Conv(x: NxCxHxW, W: OxCxHxW) -> MatMul(x as NxCHW, W as CHWxO), for more than one image.

        Conv    256x6x14x14 * 640x6x14x14            Reshape  256x6x14x14 -> 256x1176
                                            ->       MatMul   256x1176 @ 1176x640
                                                     Reshape  256x640 -> 256x640x1x1

    One pixel an image leaves most of a lane idle in a Conv; in a product each image is a row. The
    images are patches where a model takes these itself (the vision tower of Qwen2-VL). Images that
    are one pixel already, as of squeeze and excitation, are left alone.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        weight = sole_producer(op.filter, top.WeightOp)
        if weight is None or not has_shapes(op.input, op.output) or not _is_plain(op):
            return
        images, *image = shape_of(op.input)
        channels = shape_of(op.filter)[0]
        if images == 1 or _kernel(op) != tuple(image[1:]) or prod(_kernel(op)) == 1:
            return
        if any(d != 1 for d in _dilations(op)) or (kernels := values_of(op.filter)) is None:
            return
        name = derived_name(op.filter, "_columns")
        columns = make_weight(op, name, np.ascontiguousarray(kernels.reshape(channels, -1).T))
        rows = reshape(derived_name(op, "_r_rows"), op.input, (images, prod(image)))
        product = top.MatMulOp.make(
            derived_name(op, "_r_product"),
            (rows, columns, op.bias),
            result_types=[tensor_like(op.output, (images, channels))],
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        back = reshape(op.location, product.output, shape_of(op.output))
        rewriter.replace(weight, columns)
        rewriter.replace(op, [rows, product, back])


class MergePointwiseConv(RewritePattern):
    """Conv(Conv(x, W1: 1x1), W2: kxk) -> Conv(x, W2 * W1: kxk).

    Both have group 1, no padding and no relu, the 1x1 one moves by single steps and has no
    other use, and the merged filter is not much larger than both together.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        first = sole_producer(op.input, top.ConvOp)
        if first is None or not _is_mergeable(op) or not _is_mergeable(first):
            return
        if set(ints(first.kernel_shape)) != {1} or set(ints(first.strides)) != {1}:
            return
        merged_size = prod((shape_of(op.filter)[0], shape_of(first.filter)[1], *_kernel(op)))
        both = prod(shape_of(op.filter)) + prod(shape_of(first.filter))
        if merged_size > _LARGEST_GROWTH * both:
            return
        outer, inner = values_of(op.filter), values_of(first.filter)
        bias = _merged_bias(first, op, outer)
        if outer is None or inner is None or (bias is None and not _is_biasless(first, op)):
            return
        kernels = _merged_kernels(outer, inner[:, :, 0, 0])
        weights = [make_weight(op, derived_name(op, "_merge_filter_weight"), kernels)]
        if bias is not None:
            weights.append(make_weight(op, derived_name(op, "_merge_bias_weight"), bias))
        merged = rebuilt(op, operands=(first.input, *weights, *op.operands[1 + len(weights) :]))
        rewriter.replace(op, [*weights, merged])


def _merged_kernels(outer: Floats, inner: Floats) -> Floats:
    """outer[e, d, ..] * inner[d, c] summed over d, in float32 and one d after the other.

    In this order the sums, and the 8-bit scales derived from them, are the same everywhere, and
    the same as tpu-mlir's. A product by BLAS differs in last bits from machine to machine.
    """
    merged = np.zeros((outer.shape[0], inner.shape[1], *outer.shape[2:]), np.float32)
    rows = max(1, _TILE // merged[0].size)
    for start in range(0, len(merged), rows):
        total = merged[start : start + rows]
        product = np.empty_like(total)
        for weights, factors in zip(outer[start : start + rows].swapaxes(0, 1), inner, strict=True):
            factors = factors.reshape(-1, *[1] * (outer.ndim - 2))
            np.multiply(weights[:, np.newaxis], factors, out=product)
            total += product
    return merged


def _kernel(op: top.ConvOp) -> tuple[int, ...]:
    return ints(op.kernel_shape)


def _dilations(op: top.ConvOp) -> tuple[int, ...]:
    return (1,) * len(op.kernel_shape.data) if op.dilations is None else ints(op.dilations)


def _is_plain(op: top.ConvOp) -> bool:
    """Whether a Conv of two dimensions makes sums of all channels of what is there, no more."""
    return (
        len(op.kernel_shape.data) == 2
        and op.group.value.data == 1
        and not any(ints(op.pads))
        and not any(ints(op.inserts or ()))
    )


def _is_mergeable(op: top.ConvOp) -> bool:
    return _is_plain(op) and not has_relu(op)


def _is_biasless(*ops: top.ConvOp) -> bool:
    return all(is_none(op.bias) for op in ops)


def _merged_bias(first: top.ConvOp, second: top.ConvOp, kernels: Floats | None) -> Floats | None:
    """The second bias plus what the second filter makes of the first bias; None without any."""
    if kernels is None or _is_biasless(first, second):
        return None
    total = np.zeros(kernels.shape[0], dtype=np.float32)
    for bias, factor in ((first.bias, kernels.sum(axis=(2, 3))), (second.bias, None)):
        if is_none(bias):
            continue
        if (values := values_of(bias)) is None:
            return None
        total = total + (values.reshape(-1) if factor is None else factor @ values.reshape(-1))
    return total
