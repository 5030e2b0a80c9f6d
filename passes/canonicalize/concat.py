"""Concat: of one tensor, of nothing, of slices that belong together."""

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.canonicalize.slice import is_static, set_cuts
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, drop, has_shapes, rebuilt
from xdsl_tpu.passes.tensors import shape_of


class RemoveConcat(RewritePattern):
    """Concat(x) -> x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) == 1 and not has_relu(op) and op.inputs[0].type == op.output.type:
            drop(op, op.inputs[0], rewriter)


class DropEmptyConcatInputs(RewritePattern):
    """Concat(x: 4x8, y: 0x8) -> Concat(x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(*op.inputs):
            return
        filled = [value for value in op.inputs if 0 not in shape_of(value)]
        if filled and len(filled) < len(op.inputs):
            op.operands = filled
            rewriter.notify_op_modified(op)


class ConcatWeights(RewritePattern):
    """Concat(W1, W2) -> one weight."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        if has_relu(op) or not all(map(is_f32_weight, op.inputs)):
            return
        values = [array for value in op.inputs if (array := values_of(value)) is not None]
        if not values or len(values) != len(op.inputs):
            return
        joined = np.concatenate(values, axis=op.axis.value.data)
        rewriter.replace(op, make_weight(op, derived_name(op, ""), joined))


class ConcatNeighbourSlices(RewritePattern):
    """Concat(Slice(x, 0..2), Slice(x, 2..5)) along the sliced axis -> Slice(x, 0..5)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConcatOp, rewriter: PatternRewriter) -> None:
        slices = [value.owner for value in op.inputs if isinstance(value.owner, top.SliceOp)]
        if has_relu(op) or len(slices) < 2 or len(slices) != len(op.inputs):
            return
        first = slices[0]
        if not all(is_static(part) and part.input is first.input for part in slices):
            return
        axis = op.axis.value.data % len(shape_of(op.output))
        joined = list(first.cuts())
        for part in slices[1:]:
            cuts = list(part.cuts())
            current, following = joined[axis], cuts[axis]
            cuts[axis] = current
            if cuts != joined or current.step <= 0 or following.step != current.step:
                return
            if following.first != current.first + current.count * current.step:
                return
            joined[axis] = Cut(current.first, current.count + following.count, current.step)
        merged = rebuilt(first, result_types=[op.output.type], location=op.location)
        set_cuts(merged, joined)
        rewriter.replace(op, merged)
