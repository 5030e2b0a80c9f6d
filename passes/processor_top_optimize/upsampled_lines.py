"""Depthwise transposed convolutions over lines."""

from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, tensor_like
from xdsl_tpu.passes.tensors import shape_of

MOST_PHASES = 8
"""Convolutions that one becomes: more make many short commands."""


@dataclass(frozen=True)
class _Phases:
    """A transposed convolution as one of so many `taps` for each phase of a `stride`.

    The phases have `count` elements each, padded by `before` and `after`; of all of them in turn
    the result is `size` from `first` on.
    """

    stride: int
    taps: int
    before: int
    after: int
    count: int
    first: int
    size: int


class DepthwiseDeconvByPhases(RewritePattern):
    """Deconv(x: NxCxLx1, W: Cx1xKx1) {stride 2} -> Reshape(Concat(Conv(x, W0), Conv(x, W1))).

        Deconv  1x64x266x1, 64x1x12x1, stride 2   ->   Conv     1x64x271x1, 64x1x6x1, twice
                                                       Concat   1x64x271x2
                                                       Reshape  1x64x542x1
                                                       Slice, where it begins or ends within one

    Elements a stride apart see the same taps: each phase is a depthwise convolution, and no zeros
    are put between elements, which no command does for it. W0 has taps 0, 2, 4, .. in reverse.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.DeconvOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.filter, op.output) or len(shape_of(op.input)) != 4:
            return
        _, channels, _, columns = shape_of(op.input)
        per_channel = shape_of(op.filter)[:2] == (channels, 1)
        if op.group.value.data != channels or not per_channel or columns != 1 or channels == 1:
            return
        phases, filters = _phases(op), values_of(op.filter)
        if phases is not None and filters is not None:
            rewriter.replace(op, _parts(op, phases, filters, rewriter))


def _phases(op: top.DeconvOp) -> _Phases | None:
    """None where the width is one too, taps are apart, or the result ends within what is padded."""
    pads, (kernel, *wide) = ints(op.pads) or (0, 0, 0, 0), ints(op.kernel_shape)
    stride = ints(op.strides)[0]
    if wide != [1] or ints(op.strides)[1] != 1 or pads[1] or pads[3]:
        return None
    if any(step != 1 for step in ints(op.dilations or ())) or not 1 < stride <= MOST_PHASES:
        return None
    length, size = shape_of(op.input)[2], shape_of(op.output)[2]
    taps = -(-kernel // stride)
    begin, end = pads[0] // stride, (pads[0] + size - 1) // stride
    before, after = taps - 1 - begin, end - length + 1
    if before < 0 or after < 0 or shape_of(op.output)[3] != 1:
        return None
    first = pads[0] - begin * stride
    return _Phases(stride, taps, before, after, end - begin + 1, first, size)


def _parts(
    op: top.DeconvOp, phases: _Phases, filters: Floats, rewriter: PatternRewriter
) -> list[Operation]:
    images, channels, *_ = shape_of(op.input)
    made: list[Operation] = []
    results: list[SSAValue] = []
    for phase in range(phases.stride):
        name = derived_name(op, f"_r_phase{phase}")
        own = np.zeros((channels, 1, phases.taps, 1), np.float32)
        seen = filters[:, :, phase :: phases.stride]
        own[:, :, phases.taps - seen.shape[2] :] = seen[:, :, ::-1]
        weight = make_weight(op, f"{name}.filter", own)
        conv = top.ConvOp.make(
            name,
            (op.input, weight.output, op.bias),
            result_types=[tensor_like(op.output, (images, channels, phases.count, 1))],
            kernel_shape=(phases.taps, 1),
            strides=(1, 1),
            pads=(phases.before, 0, phases.after, 0),
            dilations=(1, 1),
            group=channels,
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        made += [weight, conv]
        results.append(conv.output)
    whole = phases.count * phases.stride
    exact = not phases.first and phases.size == whole
    kind = tensor_like(op.output, (images, channels, phases.count, phases.stride))
    name = derived_name(op, "_r_phases")
    together = top.ConcatOp.make(name, results, result_types=[kind], axis=3)
    line = (images, channels, whole, 1)
    label = op.location if exact else derived_name(op, "_r_line")
    joined = reshape(label, together.output, line)
    made += [together, joined]
    if exact:
        return made
    none = none_for(op, rewriter)
    cut = top.SliceOp.make(
        op.location,
        (joined.output, none, none, none),
        result_types=[op.output.type],
        offset=(0, 0, phases.first, 0),
        steps=(1, 1, 1, 1),
        ends=(images, channels, phases.first + phases.size, 1),
        axes=(),
    )
    return [*made, cut]
