"""Channels, or rows of matrices, with a constant beside them."""

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.constants import make_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes
from xdsl_tpu.passes.tensors import shape_of

_AXIS = 1
"""What lies over the lanes."""


class PadToConcat(RewritePattern):
    """Pad(x) {constant, along axis 1} -> Concat(weight, x, weight).

        Pad {paddings = [0, 1, 0, 0, 0, 0]}  1x784x128  ->  Concat {axis = 1}  1x1x128, 1x784x128

    Local memory has a form for values one behind the other in the lanes, and none for a constant
    there. Where there would be more of the constant than of the operand, it stays.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PadOp, rewriter: PatternRewriter) -> None:
        dynamic = op.paddingsT is not None and not is_none(op.paddingsT)
        if dynamic or op.mode.data != "constant" or not has_shapes(op.input, op.output):
            return
        shape, counts = shape_of(op.input), ints(op.paddings)
        rank = len(shape)
        before, after = counts[:rank], counts[rank:]
        padded = [axis for axis in range(rank) if before[axis] or after[axis]]
        if rank not in (3, 4) or padded != [_AXIS] or min(counts) < 0:
            return
        if before[_AXIS] + after[_AXIS] > shape[_AXIS]:
            return
        parts = [op.input]
        for place, count in ((0, before[_AXIS]), (1, after[_AXIS])):
            if count:
                values = np.full((*shape[:_AXIS], count, *shape[_AXIS + 1 :]), op.val.value.data)
                weight = make_weight(op, derived_name(op, f"_beside_{place}"), values)
                rewriter.insert(weight)
                parts.insert(0 if not place else len(parts), weight.output)
        joined = top.ConcatOp.make(op.location, parts, result_types=[op.output.type], axis=_AXIS)
        rewriter.replace(op, [joined])
