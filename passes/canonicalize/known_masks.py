"""Choices by a mask whose numbers are known."""

from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.constants import make_weight, values_of, whole_numbers_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, sole_user
from xdsl_tpu.passes.tensors import is_weight, shape_of

FAR_BELOW = -6e4
"""A number from which on down scores are hidden: f16, which ends there, has to hold the others."""


class KnownChoice(RewritePattern):
    """Where(1, x, -3.4e38) -> x.

        Weight  1x1x1x325, all 1            ->    x  1x12x325x325
        Where   1x12x325x325

    So a mask of what may be seen becomes when no token is padding. What is chosen has the size of
    the result: a constant or what would be repeated stays.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.WhereOp, rewriter: PatternRewriter) -> None:
        truth = _single_truth(op.cond)
        if truth is None:
            return
        is_constant = op.x_is_const if truth else op.y_is_const
        _choose(op, op.tbrn if truth else op.fbrn, bool(is_constant.value.data), rewriter)


class HiddenScores(RewritePattern):
    """Softmax(Where(seen, s, -3.4e38)) -> Softmax(Add(s, W)) with W 0 where keys are seen.

        Weight  1x1x196x196, seen                         Weight  1x1x196x196, 0 or -3.4e38
        Where   1x8x196x196 (s, else -3.4e38)       ->    Add     1x8x196x196
        Softmax 1x8x196x196                               Softmax 1x8x196x196

    So GPT-2 hides what comes later. A number that is far below all scores absorbs them, and its
    share is 0 either way, if each row has a key that is seen: attention is then what others write,
    too, and of what is hidden from all rows of a tile nothing is computed.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.WhereOp, rewriter: PatternRewriter) -> None:
        softmax = sole_user(op.output, top.SoftmaxOp)
        if softmax is None or not has_shapes(op.cond, op.output):
            return
        rank = len(shape_of(op.output))
        if softmax.axis.value.data % rank != rank - 1 or bool(softmax.log.value.data):
            return
        hidden = [_number(op, place) for place in (True, False)]
        scores = op.tbrn if hidden[0] is None else op.fbrn
        low = hidden[1] if hidden[0] is None else hidden[0]
        if low is None or None not in hidden or low > FAR_BELOW or is_weight(scores):
            return
        if not has_shapes(scores) or shape_of(scores) != shape_of(op.output):
            return
        numbers = _known_numbers(op.cond)
        if numbers is None:
            return
        seen = (numbers != 0) == (hidden[0] is None)
        keys = shape_of(op.output)[-1]
        if not np.all(np.broadcast_to(seen, (*seen.shape[:-1], keys)).any(axis=-1)):
            return
        mask = np.where(seen, 0.0, np.finfo(np.float32).min).astype(np.float32)
        made = make_weight(op, derived_name(op, "_mask"), mask)
        operands = (scores, made.output)
        total = top.AddOp.make(
            derived_name(op, "_r_hidden"), operands, result_types=op.result_types
        )
        rewriter.replace(op, [made, total])


def _number(op: top.WhereOp, where: bool) -> float | None:
    """The one number that is chosen where a condition holds, or where it does not."""
    constant, number = (op.x_is_const, op.x_const_val) if where else (op.y_is_const, op.y_const_val)
    if bool(constant.value.data):
        return number.value.data
    branch = op.tbrn if where else op.fbrn
    if not is_weight(branch) or prod(shape_of(branch)) != 1:
        return None
    known = values_of(branch)
    return None if known is None else float(known.reshape(-1)[0])


class KnownFill(RewritePattern):
    """MaskedFill(0, x) -> x, as `KnownChoice`; with `inversed`, MaskedFill(1, x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MaskedFillOp, rewriter: PatternRewriter) -> None:
        truth = _single_truth(op.cond)
        if truth is not None:
            _choose(op, op.brn, truth != bool(op.inversed.value.data), rewriter)


def _single_truth(condition: SSAValue) -> bool | None:
    """Whether a condition holds, if it is known and the same everywhere."""
    numbers = _known_numbers(condition) if has_shapes(condition) else None
    if numbers is None or not numbers.size:
        return None
    holds = numbers != 0
    return bool(holds.flat[0]) if np.all(holds == holds.flat[0]) else None


def _known_numbers(value: SSAValue) -> npt.NDArray[Any] | None:
    """The numbers of a weight of floats or integers."""
    floats = values_of(value)
    return whole_numbers_of(value) if floats is None else floats


def _choose(
    op: top.WhereOp | top.MaskedFillOp,
    chosen: SSAValue,
    is_constant: bool,
    rewriter: PatternRewriter,
) -> None:
    """The value itself in place of an op that chooses all of it."""
    if is_constant or not has_shapes(chosen, op.output):
        return
    if shape_of(chosen) == shape_of(op.output) and chosen.type == op.output.type:
        rewriter.replace(op, (), (chosen,))
