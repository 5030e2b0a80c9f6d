"""Slice: cut nothing, cut once, or cut what the op before need not have made."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.constants import linear_of, make_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    drop,
    has_shapes,
    is_like,
    rebuilt,
    sole_producer,
    tensor_like,
    users,
)
from xdsl_tpu.passes.tensors import shape_of

_LARGEST_REVERSE_RANK = 4


class NoUseSlice(RewritePattern):
    """Slice(x) that takes all of x -> x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        if not is_static(op) or not is_like(op.input, op.output):
            return
        if all(part.step > 0 for part in op.cuts()):
            drop(op, op.input, rewriter)


class MergeSlicePattern(RewritePattern):
    """Slice(Slice(x)) -> Slice(x) with offset o1 + o2 * s1 and step s1 * s2.

    The first has no other use, or all its users are Slices.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        inner = op.input.owner
        if not isinstance(inner, top.SliceOp) or not is_static(op) or not is_static(inner):
            return
        if not all(isinstance(user, top.SliceOp) and is_static(user) for user in users(op.input)):
            return
        cuts = [
            _composed(first, second) for first, second in zip(inner.cuts(), op.cuts(), strict=True)
        ]
        if any(part.step < 0 for part in cuts):
            return
        merged = rebuilt(op, operands=(inner.input, *op.operands[1:]))
        set_cuts(merged, cuts)
        touched = {*ints(inner.hasparamConvert_axes), *ints(op.hasparamConvert_axes)}
        merged.hasparamConvert_axes = I64_ARRAY.encode(sorted(touched))
        rewriter.replace(op, merged)


class SliceOfConcat(RewritePattern):
    """Slice(Concat(x: 2x8, y: 1x8, z: 5x8), rows 2..3) -> Slice(y).

        Slice(Concat(x, y, z), rows 0..3), the only use    ->    Slice(Concat(x, y))

    Where it has of one operand alone, or the Concat is for it alone: then it has of some. What that
    operand is a Slice of is cut in its stead. So for the rows that a loop has not written yet.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        concat = op.input.owner
        if not isinstance(concat, top.ConcatOp) or has_relu(concat) or not is_static(op):
            return
        if not has_shapes(*concat.inputs) or any(cut.step <= 0 for cut in op.cuts()):
            return
        axis, cuts = concat.axis.value.data % len(shape_of(op.input)), list(op.cuts())
        if any(cut.count == 0 for cut in cuts):
            return
        ends = np.cumsum([shape_of(value)[axis] for value in concat.inputs]).tolist()
        first, last = cuts[axis].first, cuts[axis].first + (cuts[axis].count - 1) * cuts[axis].step
        begin, end = bisect_right(ends, first), bisect_right(ends, last) + 1
        parts = concat.inputs[begin:end]
        if len(parts) == len(concat.inputs) or (len(parts) > 1 and not op.input.has_one_use()):
            return
        cuts[axis] = replace(cuts[axis], first=first - (ends[begin - 1] if begin else 0))
        if len(parts) > 1:
            shape = list(shape_of(op.input))
            shape[axis] = ends[end - 1] - (ends[begin - 1] if begin else 0)
            name, kind = derived_name(op, "_of"), tensor_like(op.input, shape)
            made = [top.ConcatOp.make(name, parts, result_types=[kind], axis=axis)]
            source = made[0].output
        else:
            made, (source,) = [], parts
            while isinstance(source.owner, top.SliceOp) and is_static(source.owner):
                if any(cut.step <= 0 for cut in source.owner.cuts()):
                    break
                cuts = list(map(_composed, source.owner.cuts(), cuts))
                source = source.owner.input
        cut = rebuilt(op, operands=(source, *op.operands[1:]))
        set_cuts(cut, cuts)
        rewriter.replace(op, [*made, cut])


class SliceToReverse(RewritePattern):
    """Slice(x) with step -1 over the whole of one dimension -> Reverse(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        if not is_static(op) or not is_like(op.input, op.output):
            return
        backwards = [axis for axis, part in enumerate(op.cuts()) if part.step == -1]
        others = [part.step for part in op.cuts() if part.step != -1]
        if len(backwards) != 1 or set(others) - {1} or len(op.cuts()) > _LARGEST_REVERSE_RANK:
            return
        reverse = top.ReverseOp.make(
            op.location, (op.input,), result_types=[op.output.type], axis=backwards[0]
        )
        rewriter.replace(op, reverse)


class CropConv(RewritePattern):
    """Slice(Conv(x), rows and columns off the edges) -> Conv(x) with smaller padding.

    The Conv moves by single steps, has no other use, and each edge loses at most its padding.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        conv = sole_producer(op.input, top.ConvOp)
        lost = _lost_at_edges(op)
        if conv is None or lost is None or len(conv.kernel_shape.data) != 2:
            return
        if set(ints(conv.strides)) != {1} or len(shape_of(op.input)) != 4:
            return
        pads = [pad - off for pad, off in zip(ints(conv.pads), lost, strict=True)]
        if min(pads) < 0:
            return
        cropped = rebuilt(conv, result_types=[op.output.type], location=op.location)
        cropped.pads = I64_ARRAY.encode(pads)
        rewriter.replace(op, cropped)


class SomeFilters(RewritePattern):
    """Slice(Conv(x, W: 128x64x1x1), every second channel) -> Conv(x, W': 64x64x1x1).

    All filters read the same channels, and nothing but the Slice reads the Conv, unless that sees
    single pixels: then it costs less than taking channels from between others.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        conv = op.input.owner
        if not isinstance(conv, top.ConvOp) or not is_static(op) or conv.group.value.data != 1:
            return
        (images, channels, *pixels), whole = op.cuts(), shape_of(op.input)
        if any(cut != Cut(0, size, 1) for cut, size in zip(pixels, whole[2:], strict=True)):
            return
        if images != Cut(0, whole[0], 1) or channels.step < 1 or channels.count == whole[1]:
            return
        is_point = channels.step > 1 and set(ints(conv.kernel_shape)) == {1}
        known = linear_of(conv.filter, conv.bias)
        if known is None or not (is_point or sole_producer(op.input, top.ConvOp)):
            return
        kernels, bias = known
        which = slice(channels.first, _end(channels), channels.step)
        weights = [make_weight(op, derived_name(op, "_r_filter"), kernels[which])]
        if bias is not None:
            weights.append(make_weight(op, derived_name(op, "_r_bias"), bias[which]))
        operands = (conv.input, *weights, *conv.operands[1 + len(weights) :])
        types = [op.output.type]
        some = rebuilt(conv, operands=operands, result_types=types, location=op.location)
        rewriter.replace(op, [*weights, some])


class CropDeconv(RewritePattern):
    """Slice(Deconv(x), off the edges) -> Deconv(x) with larger padding.

        Deconv  1x64x96004 {kernel = [8], strides = [4], pads = [0, 0]}
        Slice   1x64x96000                   ->    Deconv  1x64x96000 {pads = [0, 4]}

    Padding takes away what the taps stamp beyond the edges, less than one kernel. So audio decoders
    cut what would need samples to come.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        deconv = sole_producer(op.input, top.DeconvOp)
        lost = _lost_at_edges(op)
        if deconv is None or lost is None or len(lost) != 2 * len(deconv.kernel_shape.data):
            return
        windows, rank = deconv.windows(), len(deconv.kernel_shape.data)
        extra = ints(deconv.output_padding or ()) or (0,) * rank
        begins = [window.before + off for window, off in zip(windows, lost[:rank], strict=True)]
        surplus = [more - off for more, off in zip(extra, lost[rank:], strict=True)]
        ends = [window.after + max(0, -more) for window, more in zip(windows, surplus, strict=True)]
        if any(max(p) >= w.extent for *p, w in zip(begins, ends, windows, strict=True)):
            return
        cropped = rebuilt(deconv, result_types=[op.output.type], location=op.location)
        cropped.pads = I64_ARRAY.encode([*begins, *ends])
        cropped.output_padding = I64_ARRAY.encode([max(0, more) for more in surplus])
        rewriter.replace(op, cropped)


def _lost_at_edges(op: top.SliceOp) -> list[int] | None:
    """What a Slice cuts off before and behind each spatial dimension; None if it does more."""
    if not is_static(op):
        return None
    cuts, shape = op.cuts(), shape_of(op.input)
    if any(part.step != 1 for part in cuts):
        return None
    behind = [size - part.first - part.count for part, size in zip(cuts, shape, strict=True)]
    before = [part.first for part in cuts]
    return None if any((*before[:2], *behind[:2])) else [*before[2:], *behind[2:]]


def is_static(op: top.SliceOp) -> bool:
    """Whether the bounds are attributes and the shapes known."""
    given = (op.offsetT, op.endsT, op.stepsT)
    return all(map(is_none, given)) and has_shapes(op.input, op.output)


def set_cuts(op: top.SliceOp, cuts: Sequence[Cut]) -> None:
    """Write the bounds of every dimension into the attributes; steps are positive."""
    op.axes = I64_ARRAY.encode([])
    op.offset = I64_ARRAY.encode([part.first for part in cuts])
    op.steps = I64_ARRAY.encode([part.step for part in cuts])
    op.ends = I64_ARRAY.encode([_end(part) for part in cuts])


def _end(part: Cut) -> int:
    """One past the last element; the start when there is none."""
    return part.first + (part.count - 1) * part.step + 1 if part.count else part.first


def _composed(first: Cut, second: Cut) -> Cut:
    """The cut of the original dimension that the second one of the first one's result is."""
    return Cut(first.first + second.first * first.step, second.count, first.step * second.step)
