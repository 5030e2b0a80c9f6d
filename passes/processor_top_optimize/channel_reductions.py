"""Reductions over channels, which lie over the lanes: without the way through DDR.

A reduction goes along what a lane holds. Over channels it can only go by way of DDR, where it ends
a layer group. Integer networks keep it: filters, sums and turned values have no ranges there.
"""

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

_EXCHANGED = (0, 3, 2, 1)
"""Channels and columns change places: what the chip transposes within local memory."""


class ChannelSum(RewritePattern):
    """Reduce(x: NxCxHxW) {ReduceMean, axes = [1]} -> Conv(x) {1xCx1x1 filter of 1 / C}.

        Reduce  1x64x56x56 -> 1x1x56x56      ->      Conv  1x64x56x56, 1x64x1x1 -> 1x1x56x56

    The array sums over lanes. ReduceSum has a filter of ones. A result without the dimension is a
    Reshape of that.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        if op.mode.data not in {"ReduceSum", "ReduceMean"} or not _is_over_channels(op):
            return
        batch, channels, *plane = shape_of(op.input)
        factor = 1 / channels if op.mode.data == "ReduceMean" else 1.0
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


class ChannelExtreme(RewritePattern):
    """Reduce(x: NxCxHxW) {ReduceMax, axes = [1]} -> Permute(Reduce(Permute(x)) {axes = [3]}).

                                             Permute  1x64x56x48 -> 1x48x56x64
        Reduce  1x64x56x48 -> 1x1x56x48  ->  Reduce   1x48x56x64 -> 1x48x56x1
                                             Permute  1x48x56x1 -> 1x1x56x48

    A row of a lane then has all channels. ReduceMin does the same. A result without the dimension
    is a Reshape of that.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        if op.mode.data not in {"ReduceMax", "ReduceMin"} or not _is_over_channels(op):
            return
        batch, channels, height, width = shape_of(op.input)
        turned = top.PermuteOp.make(
            derived_name(op, "_r_turned"),
            (op.input,),
            result_types=[tensor_like(op.output, (batch, width, height, channels))],
            order=_EXCHANGED,
        )
        largest = top.ReduceOp.make(
            derived_name(op, "_r_rows"),
            (turned.output,),
            result_types=[tensor_like(op.output, (batch, width, height, 1))],
            axes=(3,),
            keepdims=True,
            mode=op.mode.data,
        )
        kept = bool(op.keepdims.value.data)
        back = top.PermuteOp.make(
            op.location if kept else derived_name(op, "_r_back"),
            (largest.output,),
            result_types=[tensor_like(op.output, (batch, 1, height, width))],
            order=_EXCHANGED,
        )
        if kept:
            rewriter.replace(op, [turned, largest, back])
            return
        seen = reshape(op.location, back.output, shape_of(op.output))
        rewriter.replace(op, [turned, largest, back, seen])


def _is_over_channels(op: top.ReduceOp) -> bool:
    """Whether one value is made of all channels of an image of floats, in a network of floats."""
    if not has_shapes(op.input, op.output) or is_integer_tensor(op.input):
        return False
    axes = ints(op.axes)
    if len(shape_of(op.input)) != 4 or len(axes) != 1 or axes[0] % 4 != 1:
        return False
    return text_attribute(module_of(op), "module.mode") != "INT8"
