"""Slice: cut nothing, cut once, or cut what the op before need not have made."""

from collections.abc import Sequence

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.graph import drop, has_shapes, rebuilt, sole_producer, users
from xdsl_tpu.passes.tensors import shape_of

_LARGEST_REVERSE_RANK = 4


class NoUseSlice(RewritePattern):
    """Slice(x) that takes all of x -> x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        if not is_static(op) or op.input.type != op.output.type:
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


class SliceToReverse(RewritePattern):
    """Slice(x) with step -1 over the whole of one dimension -> Reverse(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SliceOp, rewriter: PatternRewriter) -> None:
        if not is_static(op) or op.input.type != op.output.type:
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
        if conv is None or not is_static(op) or len(conv.kernel_shape.data) != 2:
            return
        cuts, shape = op.cuts(), shape_of(op.input)
        if set(ints(conv.strides)) != {1} or any(part.step != 1 for part in cuts):
            return
        if len(shape) != 4 or any(
            part.count != size for part, size in zip(cuts[:2], shape[:2], strict=True)
        ):
            return
        off = [part.first for part in cuts[2:]]
        off += [
            size - part.first - part.count for part, size in zip(cuts[2:], shape[2:], strict=True)
        ]
        pads = [pad - lost for pad, lost in zip(ints(conv.pads), off, strict=True)]
        if min(pads) < 0:
            return
        cropped = rebuilt(conv, result_types=[op.output.type], location=op.location)
        cropped.pads = I64_ARRAY.encode(pads)
        rewriter.replace(op, cropped)


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
