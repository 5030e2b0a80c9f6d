"""Patch embedding: a convolution whose windows do not overlap is a matrix product."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_MOST_CHANNELS = 3
_SMALLEST_KERNEL = 14
"""The matrix unit sums over channels, so few channels and large kernels leave it idle."""


class PatchesToMatMul(RewritePattern):
    """Conv(x: NxCxHxW, W: OxCxkxk) with stride k -> MatMul of the patches and W as a matrix.

        Reshape  N x C x H/k x k x W/k x k
        Permute  N x H/k x W/k x C x k x k
        Reshape  N x (H/k W/k) x (C k k)
        MatMul   N x (H/k W/k) x O
        Permute  N x O x (H/k W/k)
        Reshape  N x O x H/k x W/k

    For at most 3 channels and kernels from 14 on, without padding.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.filter, op.output) or not _is_patch_embedding(op):
            return
        kernels, bias = values_of(op.filter), values_of(op.bias)
        if kernels is None or (bias is None and not is_none(op.bias)):
            return
        n, c = shape_of(op.input)[:2]
        o, rows, columns = shape_of(op.output)[1:]
        kh, kw = ints(op.kernel_shape)
        right = make_weight(op, derived_name(op, "_filter_weight"), kernels.reshape(o, -1).T)
        split = reshape(derived_name(op, "_r_split"), op.input, (n, c, rows, kh, columns, kw))
        patches = top.PermuteOp.make(
            derived_name(op, "_r_patches"),
            (split,),
            result_types=[tensor_like(op.input, (n, rows, columns, c, kh, kw))],
            order=(0, 2, 4, 1, 3, 5),
        )
        flat = reshape(
            derived_name(op, "_r_flat"), patches.output, (n, rows * columns, c * kh * kw)
        )
        product = top.MatMulOp.make(
            derived_name(op, "_r_matmul"),
            (flat, right, op.bias),
            result_types=[tensor_like(op.output, (n, rows * columns, o))],
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        turned = top.PermuteOp.make(
            derived_name(op, "_r_turned"),
            (product,),
            result_types=[tensor_like(op.output, (n, o, rows * columns))],
            order=(0, 2, 1),
        )
        result = reshape(op.location, turned.output, (n, o, rows, columns))
        rewriter.replace(op, [right, split, patches, flat, product, turned, result])


def _is_patch_embedding(op: top.ConvOp) -> bool:
    shape, kernel = shape_of(op.input), ints(op.kernel_shape)
    return (
        len(shape) == 4
        and shape[1] <= _MOST_CHANNELS
        and min(kernel) >= _SMALLEST_KERNEL
        and ints(op.strides) == kernel
        and not any(size % step for size, step in zip(shape[2:], kernel, strict=True))
        and op.group.value.data == 1
        and not any(ints(op.pads))
        and set(ints(op.dilations or ())) <= {1}
    )
