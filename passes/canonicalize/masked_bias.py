"""Masks that are chosen in place of a bias."""

from math import isfinite, prod

import numpy as np
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize.common import has_relu, unit_coefficients
from xdsl_tpu.passes.constants import values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    is_calibrated,
    none_for,
    rebuilt,
    sole_user,
    tensor_like,
    users,
)
from xdsl_tpu.passes.tensors import is_weight, shape_of

ABSORBS = 2.0**25
"""A number so many times as large as another one is, in f32, what it is with that added."""

LARGE = 1 << 20
"""Numbers of a bias from which on what is chosen does not stay on the chip for all layers."""


class MaskBesideBias(RewritePattern):
    """Softmax(Add(s, Where(seen, W, -3.4e38))) -> Softmax(Add(Add(s, W), Where(seen, 0, -3.4e38))).

        Where 1x1x1x512, W: 1x8x512x512     ->    Where 1x1x1x512
        Add   1x8x512x512, 1x8x512x512            Add   1x8x512x512, W
                                                  Add   1x8x512x512, 1x1x1x512

    So T5 hides keys: in the bias of each head and both positions. What is chosen is as large as
    that, but no weight: where it is `LARGE` it is stored, and loaded again by each layer. A number
    that absorbs all others does so in any order.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.WhereOp, rewriter: PatternRewriter) -> None:
        readers = users(op.output)
        sums = [one for one in readers if isinstance(one, top.AddOp) and _is_of_scores(one)]
        if not sums or len(sums) < len(readers) or is_calibrated(op.output):
            return
        keeps = op.y_is_const.value.data
        bias = op.tbrn if keeps else op.fbrn
        hidden = (op.y_const_val if keeps else op.x_const_val).value.data
        if op.x_is_const.value.data == keeps or not has_shapes(op.cond, op.output):
            return
        size = prod(shape_of(op.output))
        if size < LARGE or 2 * prod(shape_of(op.cond)) > size or not _absorbs(hidden, bias):
            return
        none = none_for(op, rewriter)
        mask = top.WhereOp.make(
            derived_name(op, "_r_mask"),
            (op.cond, none, none),
            result_types=[tensor_like(op.output, shape_of(op.cond))],
            x_is_const=True,
            y_is_const=True,
            x_const_val=0.0 if keeps else hidden,
            y_const_val=hidden if keeps else 0.0,
        )
        rewriter.insert(mask, InsertPoint.before(op))
        for one in sums:
            scores = next(value for value in one.inputs if value is not op.output)
            biased = top.AddOp.make(
                derived_name(one, "_r_biased"), (scores, bias), result_types=one.result_types
            )
            rewriter.replace(one, [biased, rebuilt(one, operands=(biased, mask))])


def _is_of_scores(op: top.AddOp) -> bool:
    """Whether an op adds two values for a Softmax."""
    if len(op.inputs) != 2 or op.inputs[0] is op.inputs[1] or has_relu(op):
        return False
    of_softmax = sole_user(op.output, top.SoftmaxOp) is not None
    return of_softmax and unit_coefficients(op) and not is_calibrated(op.output)


def _absorbs(hidden: float, bias: SSAValue) -> bool:
    """Whether a finite number is what it was with any of a weight's numbers added."""
    values = values_of(bias) if is_weight(bias) and isfinite(hidden) else None
    return values is not None and ABSORBS * float(np.abs(values).max(initial=0)) < abs(hidden)
