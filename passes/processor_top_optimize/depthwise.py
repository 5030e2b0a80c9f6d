"""Depthwise convolutions with several filters for each channel."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, rebuilt, tensor_like
from xdsl_tpu.passes.module_state import MODE_BYTES, chip_of, float_format
from xdsl_tpu.passes.tensors import shape_of


class SplitDepthwise(RewritePattern):
    """Conv(x: NxCxHxW) {C groups of m filters} -> ShuffleChannel(Concat(Conv(x), .. m times)).

        Conv  1x192x14x14, 384x1x7x7   ->   Conv            1x192x14x14, 192x1x7x7, twice
                                            Concat          1x384x7x7
                                            ShuffleChannel  {group = 2}

    A depthwise convolution has a command of its own; in other groups of one channel the matrix unit
    multiplies with zeros for all channels but one, however many filters each has. As many channels
    as it takes in at once cost the same as one: they stay.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.filter, op.output) or len(shape_of(op.input)) != 4:
            return
        channels, group = shape_of(op.input)[1], op.group.value.data
        count, left = divmod(shape_of(op.filter)[0], channels)
        if group != channels or left or count < 2:
            return
        size = MODE_BYTES[float_format(module_of(op)) or "F16"]
        if channels <= chip_of(module_of(op)).weight_lanes.channels(size):
            return
        filters = values_of(op.filter)
        bias = None if is_none(op.bias) else values_of(op.bias)
        if filters is None or (bias is None and not is_none(op.bias)):
            return
        rewriter.replace(op, _split(op, filters, bias, count))


def _split(op: top.ConvOp, filters: Floats, bias: Floats | None, count: int) -> list[Operation]:
    """Convolution k has the k-th filter of each channel."""
    images, channels, *_ = shape_of(op.input)
    kind = tensor_like(op.output, (images, channels, *shape_of(op.output)[2:]))
    made: list[Operation] = []
    parts: list[SSAValue] = []
    for number in range(count):
        name = derived_name(op, f"_r_filters{number}")
        own = make_weight(op, f"{name}.filter", filters[number::count])
        operands: list[SSAValue] = [op.input, own.output, *op.operands[2:]]
        made.append(own)
        if bias is not None:
            added = make_weight(op, f"{name}.bias", np.ravel(bias)[number::count])
            operands[2] = added.output
            made.append(added)
        conv = rebuilt(op, operands=operands, result_types=[kind], location=name_loc(name))
        made.append(conv)
        parts.append(conv.output)
    return [*made, *_interleaved(op, parts)]


def _interleaved(op: top.ConvOp, parts: Sequence[SSAValue]) -> list[Operation]:
    """Channel c of part k as channel m c + k."""
    kind = op.output.type
    name = derived_name(op, "_r_parts")
    together = top.ConcatOp.make(name, tuple(parts), result_types=[kind], axis=1)
    shuffled = top.ShuffleChannelOp.make(
        op.location, (together.output,), result_types=[kind], group=len(parts)
    )
    return [together, shuffled]
