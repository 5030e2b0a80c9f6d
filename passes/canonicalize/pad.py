"""Pad: into the padding of the op behind it."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, ints
from xdsl_tpu.dialects.top.abstract import FusedReluOp
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.graph import has_shapes, rebuilt


class PadIntoWindow(RewritePattern):
    """Conv(Pad(x, zeros around H and W)) -> Conv(x) with larger `pads`; AvgPool likewise.

    An AvgPool counts its padding then. A MaxPool, whose own padding never wins, does the same
    when nothing in front of the Pad is negative. Several such ops may read one Pad.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.ConvOp | top.AvgPoolOp | top.MaxPoolOp, rewriter: PatternRewriter
    ) -> None:
        pad = op.input.owner
        if (
            not isinstance(pad, top.PadOp)
            or not _serves_windows(pad)
            or pad.mode.data != "constant"
            or not has_shapes(pad.input)
        ):
            return
        if pad.val.value.data != 0.0 or not has_shapes(op.output):
            return
        spatial = len(op.kernel_shape.data)
        counts = ints(pad.paddings)
        sides = (counts[: len(counts) // 2], counts[len(counts) // 2 :])
        if spatial == 0 or len(sides[0]) != spatial + 2 or min(counts) < 0:
            return
        if any(side[0] or side[1] for side in sides) or not _may_pad(op, pad):
            return
        added = (*sides[0][2:], *sides[1][2:])
        padded = rebuilt(op, operands=(pad.input, *op.operands[1:]))
        padded.pads = I64_ARRAY.encode(
            [old + new for old, new in zip(ints(op.pads), added, strict=True)]
        )
        if isinstance(padded, top.AvgPoolOp):
            padded.count_include_pad = BOOL.encode(True)
        rewriter.replace(op, padded)


def _serves_windows(pad: top.PadOp) -> bool:
    """Whether windows are all that read it: with another reader it would be computed still."""
    return all(
        isinstance(use.operation, top.ConvOp | top.AvgPoolOp | top.MaxPoolOp) and use.index == 0
        for use in pad.output.uses
    )


def _may_pad(op: top.ConvOp | top.AvgPoolOp | top.MaxPoolOp, pad: top.PadOp) -> bool:
    """Whether the op's own padding means the same as zeros around its input."""
    if isinstance(op, top.ConvOp):
        return op.auto_pad is None or op.auto_pad.data == "NOTSET"
    if op.ceil_mode is not None and op.ceil_mode.value.data:
        return False
    if isinstance(op, top.AvgPoolOp):
        return bool(op.count_include_pad.value.data) or not any(ints(op.pads))
    before = pad.input.owner
    return isinstance(before, top.ReluOp) or (isinstance(before, FusedReluOp) and has_relu(before))
