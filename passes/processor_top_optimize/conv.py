"""Convolutions along one dimension: the chip's kernels take rows and columns."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.constants import reshaped_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    rebuilt,
    sole_producer,
    sole_user,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

_PLANES = 2
"""Spatial dimensions of a kernel that `Conv1dTo2d` has widened."""


class ConvRowsToPlanes(RewritePattern):
    """Conv(x: NxCxW) {kernel = [k, 1]} -> Reshape(Conv(Reshape(x): NxCxWx1)): NxOxV.

    A Conv whose Scale can still be merged into it (`MergeScale2Conv`) waits for that.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output) or len(ints(op.kernel_shape)) != _PLANES:
            return
        if len(shape_of(op.input)) != _PLANES + 1 or _takes_scale(op):
            return
        plane = reshape(derived_name(op, "_r_to4d"), op.input, (*shape_of(op.input), 1))
        conv = rebuilt(
            op,
            operands=(plane, *op.operands[1:]),
            result_types=[tensor_like(op.output, (*shape_of(op.output), 1))],
            location=name_loc(derived_name(op, "_r_4d")),
        )
        back = reshape(op.location, conv.output, shape_of(op.output))
        rewriter.replace(op, [plane, conv, back])


class DeconvRowsToPlanes(RewritePattern):
    """Deconv(x: NxCxW, W: OxCxk) {kernel = [k]} -> Reshape(Deconv(Reshape(x): NxCxWx1)): NxOxV.

    The filter is Ox C x k x 1 then, and the kernel [k, 1].
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.DeconvOp, rewriter: PatternRewriter) -> None:
        weight = sole_producer(op.filter, top.WeightOp)
        if len(op.kernel_shape) != 1 or weight is None or not has_shapes(op.input, op.output):
            return
        widened = reshaped_weight(weight, (*shape_of(op.filter), 1))
        rewriter.replace(weight, widened)
        plane = reshape(derived_name(op, "_r_to4d"), op.input, (*shape_of(op.input), 1))
        deconv = rebuilt(
            op,
            operands=(plane, *op.operands[1:]),
            result_types=[tensor_like(op.output, (*shape_of(op.output), 1))],
            location=name_loc(derived_name(op, "_r_4d")),
        )
        before, after = ints(op.pads) or (0, 0)
        deconv.kernel_shape = I64_ARRAY.encode((*ints(op.kernel_shape), 1))
        deconv.strides = I64_ARRAY.encode((*ints(op.strides), 1))
        deconv.pads = I64_ARRAY.encode((before, 0, after, 0))
        deconv.dilations = I64_ARRAY.encode((*(ints(op.dilations or ()) or (1,)), 1))
        deconv.output_padding = I64_ARRAY.encode((*(ints(op.output_padding or ()) or (0,)), 0))
        rewriter.replace(
            op, [plane, deconv, reshape(op.location, deconv.output, shape_of(op.output))]
        )


def _takes_scale(op: top.ConvOp) -> bool:
    scale = sole_user(op.output, top.ScaleOp)
    return scale is not None and not has_relu(op) and values_of(scale.scale) is not None
