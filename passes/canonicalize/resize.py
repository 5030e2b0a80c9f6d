"""Interp and Upsample: nothing, or whole factors."""

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.graph import drop, has_shapes, is_like
from xdsl_tpu.passes.tensors import shape_of


class RemoveInterp(RewritePattern):
    """Interp(x) to x's own size -> x; Upsample by 1 likewise."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.InterpOp | top.UpsampleOp, rewriter: PatternRewriter
    ) -> None:
        if not has_shapes(op.input) or not is_like(op.input, op.output):
            return
        if isinstance(op, top.InterpOp) or not has_relu(op):
            drop(op, op.input, rewriter)


class InterpToUpsample(RewritePattern):
    """Interp(x: NxCxHxW) {nearest} to whole multiples of H and W -> Upsample(x).

    With every nearest rule but `align_corners` an output position belongs to the input position
    it lies in, as the factors are whole.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.InterpOp, rewriter: PatternRewriter) -> None:
        if op.mode.data != "nearest" or not has_shapes(op.input, op.output):
            return
        source, target = shape_of(op.input), shape_of(op.output)
        if len(source) != 4 or op.coord_mode.data == "align_corners":
            return
        factors = [new // old for old, new in zip(source[2:], target[2:], strict=True)]
        if [old * factor for old, factor in zip(source[2:], factors, strict=True)] != list(
            target[2:]
        ):
            return
        upsample = top.UpsampleOp.make(
            op.location,
            (op.input,),
            result_types=[op.output.type],
            scale_h=factors[0],
            scale_w=factors[1],
        )
        rewriter.replace(op, upsample)
