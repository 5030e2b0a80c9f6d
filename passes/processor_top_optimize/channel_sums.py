"""Sums over channels as convolutions: the array adds over lanes, a reduction would cross them."""

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import make_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, none_for, tensor_like
from xdsl_tpu.passes.module_state import text_attribute
from xdsl_tpu.passes.tensors import shape_of


class ChannelSum(RewritePattern):
    """Reduce(x: NxCxHxW) {ReduceMean, axes = [1]} -> Conv(x) {1xCx1x1 filter of 1 / C}.

        Reduce  1x64x56x56 -> 1x1x56x56      ->      Conv  1x64x56x56, 1x64x1x1 -> 1x1x56x56

    Channels lie over the lanes, which a reduction can only cross through DDR, where it ends a layer
    group; the array sums over them. ReduceSum has a filter of ones. A result without the dimension
    is a Reshape of that. Integer networks keep the reduction, and so do integers: filters and
    sums would be rounded to 8 bits.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        mode, axes = op.mode.data, ints(op.axes)
        if mode not in {"ReduceSum", "ReduceMean"} or not has_shapes(op.input, op.output):
            return
        shape = shape_of(op.input)
        if len(shape) != 4 or len(axes) != 1 or axes[0] % 4 != 1 or is_integer_tensor(op.input):
            return
        if text_attribute(module_of(op), "module.mode") == "INT8":
            return
        batch, channels, *plane = shape
        factor = 1 / channels if mode == "ReduceMean" else 1.0
        values = np.full((1, channels, 1, 1), factor, np.float32)
        weight = make_weight(op, derived_name(op, "_r_filter"), values)
        kept = bool(op.keepdims.value.data)
        conv = top.ConvOp.make(
            op.location if kept else derived_name(op, "_r_conv"),
            (op.input, weight, none_for(op, rewriter)),
            result_types=[tensor_like(op.output, (batch, 1, *plane))],
            kernel_shape=(1, 1),
            strides=(1, 1),
            pads=(0, 0, 0, 0),
        )
        if kept:
            rewriter.replace(op, [weight, conv])
            return
        seen = reshape(op.location, conv.output, shape_of(op.output))
        rewriter.replace(op, [weight, conv, seen])
