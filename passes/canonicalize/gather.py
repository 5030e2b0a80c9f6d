"""Gather: of known, evenly spaced indices it is a Slice."""

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.canonicalize.slice import set_cuts
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.constants import whole_numbers_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import is_weight, shape_of


class GatherToSlice(RewritePattern):
    """Gather(x, W = [3]) -> Slice(x, 3..4); Gather(x, W = [0, 2, 4]) -> Slice(x, 0..5 step 2).

    Where the indices have no dimension, a Squeeze follows, as behind an Unbind; where they have
    several, a Reshape.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.GatherOp, rewriter: PatternRewriter) -> None:
        if is_weight(op.input) or not has_shapes(op.input, op.output):
            return
        if (values := whole_numbers_of(op.indices)) is None:
            return
        shape = shape_of(op.input)
        axis = op.axis.value.data % len(shape)
        part = progression([int(value) % shape[axis] for value in values.reshape(-1)])
        if part is None:
            return
        kept = (*shape[:axis], part.count, *shape[axis + 1 :])
        direct = kept == shape_of(op.output)
        name = op.location if direct else derived_name(op, "_r_slice")
        whole = slice_along(name, op.input, axis, (0, shape[axis]), none_for(op, rewriter))
        cut = rebuilt(whole, result_types=[tensor_like(op.input, kept)])
        whole.erase()
        cuts = [Cut(0, size, 1) for size in shape]
        cuts[axis] = part
        set_cuts(cut, cuts)
        if direct:
            rewriter.replace(op, cut)
        else:
            rewriter.replace(op, [cut, _reshaped(op, cut.output, axis)])


def _reshaped(op: top.GatherOp, part: SSAValue, axis: int) -> Operation:
    """What follows the slice: the indices' dimensions in the place of the one they count."""
    shape, wanted = shape_of(part), shape_of(op.output)
    if wanted and wanted == (*shape[:axis], *shape[axis + 1 :]):
        kind = op.output.type
        return top.SqueezeOp.make(
            op.location, (part,), result_types=[kind], axes=[axis], is_scalar=False
        )
    return reshape(op.location, part, wanted)


def progression(indices: list[int]) -> Cut | None:
    """The indices as a slice with a positive step; None when they are no such thing."""
    if not indices:
        return None
    steps = set(np.diff(indices).tolist())
    if len(steps) > 1 or any(step <= 0 for step in steps):
        return None
    return Cut(indices[0], len(indices), steps.pop() if steps else 1)
