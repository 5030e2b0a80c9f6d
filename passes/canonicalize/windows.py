"""Constants that are added to each window of several images."""

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape, unit_coefficients
from xdsl_tpu.passes.constants import make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, is_like, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import is_weight, shape_of

_RANK = 5
"""Of values with windows beside images. With fewer dimensions these are images and channels."""


class ConstantForImages(RewritePattern):
    """Add(Reshape(x), W) -> Reshape(Add(x, W of all images)), the mask of shifted windows.

        Reshape 256x3x49x49 -> 4x64x3x49x49             Add     256x3x49x49, W: 256x1x49x49
        Add     4x64x3x49x49, W: 1x64x1x49x49     ->    Reshape 256x3x49x49 -> 4x64x3x49x49

    Windows stay matrices of their own, which can be sliced; beside images they would lie in lanes.
    The constant comes as often as there are images, and is no larger than what it is added to.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op) or not unit_coefficients(op):
            return
        seen, constant = op.inputs
        view = sole_producer(seen, top.ReshapeOp)
        if view is None or not is_weight(constant) or not has_shapes(view.input, seen, constant):
            return
        together = _together(shape_of(view.input), shape_of(seen), shape_of(constant))
        values = values_of(constant)
        if together is None or values is None or not is_like(seen, op.output):
            return
        images = shape_of(seen)[0]
        repeated = np.tile(values.reshape(together), (images, *(1 for _ in together[1:])))
        weight = make_weight(op, derived_name(op, "_r_images"), repeated)
        total = top.AddOp.make(
            derived_name(op, "_r_windows"),
            (view.input, weight.output),
            result_types=[tensor_like(op.output, shape_of(view.input))],
        )
        made: list[Operation] = [weight, total, _seen(op, total.output)]
        rewriter.replace(op, made)


def _seen(op: top.AddOp, total: SSAValue) -> top.ReshapeOp:
    return reshape(op.location, total, shape_of(op.output))


def _together(
    whole: Sequence[int], seen: Sequence[int], constant: Sequence[int]
) -> tuple[int, ...] | None:
    """The shape of a constant for one image where images and windows are one dimension of
    `whole` that `seen` has apart, None where they are not."""
    if len(seen) < _RANK or len(constant) != len(seen):
        return None
    images, windows, *rest = seen
    if images == 1 or (*whole,) != (images * windows, *rest):
        return None
    return None if constant[:2] != (1, windows) else (windows, *constant[2:])
