"""Permutes move behind MaskedFill: its other operand is permuted back instead."""

from dataclasses import dataclass

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import derived_name, none_for, rebuilt, sole_user
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    Order,
    applied,
    inverse,
    move_behind,
    permute,
    reshape,
    sole_permute,
)
from xdsl_tpu.passes.tensors import is_weight, shape_of
from xdsl_tpu.passes.weight_data import change_weight


@dataclass
class MaskedFillPermuteMove(RewritePattern):
    """MaskedFill(cond, Permute(x)) -> Permute(MaskedFill(cond permuted back, x)).

        Permute    [0, 2, 1, 3]  2x49x3x49 -> 2x3x49x49         MaskedFill cond' 1x49x3x49
        MaskedFill cond          1x3x49x49                ->    Permute    [0, 2, 1, 3]

    Either operand may be the Permute, which has no other use. The other one, of as many
    dimensions, is

    - a Permute of the same order, used here only,
    - a weight, used here only, whose numbers are permuted back,
    - anything for which permuting back moves no data: it gets a Reshape,
    - anything else, which then needs a Permute in turn: only when a Permute behind the MaskedFill,
      its only use, undoes the one in front, so that one is left of two.
    """

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.MaskedFillOp, rewriter: PatternRewriter) -> None:
        values = (op.cond, op.brn)
        if len({len(shape_of(value)) for value in values}) != 1:
            return
        permutes = [sole_permute(value) for value in values]
        place = 1 if permutes[1] is not None else 0
        before, other = permutes[place], permutes[1 - place]
        if before is None:
            return
        if other is not None and ints(other.order) == ints(before.order):
            sources = [one.input for one in permutes if one is not None]
            move_behind(op, [before, other], sources, rewriter)
            return
        back = inverse(ints(before.order))
        turned = self._turned(op, 1 - place, back, rewriter)
        if turned is not None:
            operands = [turned, turned]
            operands[place] = before.input
            move_behind(op, [before], operands, rewriter)
            return
        after = sole_user(op.output, tpu.PermuteOp)
        if after is not None and ints(after.order) == back and not is_weight(values[1 - place]):
            _between(op, place, before, after, rewriter)

    def _turned(
        self, op: tpu.MaskedFillOp, place: int, order: Order, rewriter: PatternRewriter
    ) -> SSAValue | None:
        """The other operand with its dimensions in the order of the Permute's input."""
        value = op.operands[place]
        shape = shape_of(value)
        name = derived_name(value, f"_r_permute_for_{derived_name(op, '')}")
        if is_weight(value):
            if not value.has_one_use():
                return None
            change_weight(
                op,
                place,
                applied(order, shape),
                lambda array: array.transpose(order),
                self.weights,
                name=derived_name(op, "_transposed_mask_weight"),
            )
            return op.operands[place]
        if Permutation(shape, order).moves_nothing:
            made = reshape(name, value, applied(order, shape))
            rewriter.insert(made)
            return made.output
        return None


def _between(
    op: tpu.MaskedFillOp,
    place: int,
    before: tpu.PermuteOp,
    after: tpu.PermuteOp,
    rewriter: PatternRewriter,
) -> None:
    """Drop the Permutes before and after; one of the other operand comes.

    Both at once: with the Permutes in a row each operand would pass them to the other for ever.
    """
    other = op.operands[1 - place]
    name = derived_name(other, f"_r_permute_for_{derived_name(op, '')}")
    turned = permute(name, other, ints(after.order), none_for(op, rewriter))
    operands: list[SSAValue] = [turned.output, turned.output]
    operands[place] = before.input
    filled = rebuilt(
        op, operands=operands, result_types=[after.output.type], location=after.location
    )
    rewriter.insert([turned, filled])
    rewriter.replace(after, (), (filled.output,))
    rewriter.erase(op)
    rewriter.erase(before)
