"""Permutes move behind element-wise ops, towards a product or a Permute that takes them in."""

from typing import cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import derived_name, sole_producer
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    HEADS,
    TURNED,
    applied,
    move_behind,
    reshape,
    sole_permute,
)
from xdsl_tpu.passes.tensors import is_weight, shape_of

UNARY = (
    tpu.ActiveOp,
    tpu.AddConstOp,
    tpu.BinaryConstShiftOp,
    tpu.CastOp,
    tpu.MulConstOp,
    tpu.MulShiftOp,
    tpu.ReluOp,
    tpu.RequantIntOp,
    tpu.SoftRampOp,
    tpu.SoftmaxOp,
)
"""Ops of one input (and tables) that a Permute of heads can move behind."""

BINARY = (tpu.AddOp, tpu.MulOp, tpu.SubOp)
"""Ops of two inputs that equal Permutes on both can move behind."""


class PermuteReorderPattern(RewritePattern):
    """Softmax(Permute(x, [0, 2, 1, 3])) -> Permute(Softmax(x), [0, 2, 1, 3]).

        Permute [0, 2, 1, 3]  64x49x3x49          Softmax {axis = 3}    64x49x3x49
        Softmax {axis = 3}    64x3x49x49    ->    Permute [0, 2, 1, 3]  64x3x49x49

    So for Cast, MulConst, AddConst, Relu, Active and the integer shifts; for Add, Sub and Mul
    when both inputs are so permuted. A Softmax works along the dimension that becomes its axis.
    The Permutes have no other use. One that reads a part of what was permuted already stays in
    front of a Cast: moves in one number format that follow each other are one.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, BINARY):
            self._binary(op, rewriter)
        elif isinstance(op, UNARY):
            self._unary(op, rewriter)

    def _unary(self, op: Operation, rewriter: PatternRewriter) -> None:
        permute = sole_permute(op.operands[0], HEADS)
        if permute is None or (isinstance(op, tpu.CastOp) and _is_moved(permute.input)):
            return
        moved = move_behind(op, [permute], (permute.input, *op.operands[1:]), rewriter)
        if isinstance(op, tpu.SoftmaxOp):
            axis = HEADS[op.axis.value.data % len(HEADS)]
            cast(tpu.SoftmaxOp, moved).axis = IntegerAttr(axis, op.axis.type)

    def _binary(self, op: tpu.AddOp | tpu.MulOp | tpu.SubOp, rewriter: PatternRewriter) -> None:
        permutes = [sole_producer(value, tpu.PermuteOp) for value in op.inputs]
        found = [one for one in permutes if one is not None and ints(one.order) == HEADS]
        if len(found) == len(op.inputs) == 2:
            move_behind(op, found, [one.input for one in found], rewriter)


def _is_moved(value: SSAValue) -> bool:
    """Whether a Permute made a value, perhaps with Slices and views behind it."""
    maker = value.owner
    while isinstance(maker, tpu.SliceOp | tpu.ReshapeOp | tpu.SqueezeOp | tpu.UnsqueezeOp):
        maker = maker.operands[0].owner
    return isinstance(maker, tpu.PermuteOp)


class PermuteMulconstSwap(RewritePattern):
    """MulConst(Permute(x, [0, 2, 3, 1])) -> Permute(MulConst(x), [0, 2, 3, 1]).

    The Permute has no other use. It then stands next to what uses it as a matrix.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.MulConstOp, rewriter: PatternRewriter) -> None:
        permute = sole_permute(op.input, TURNED)
        if permute is not None:
            move_behind(op, [permute], (permute.input,), rewriter)


class PermuteFuseAddSoftmax(RewritePattern):
    """Add(Permute(x, [0, 2, 1, 3]), mask) -> Permute(Add(x, Reshape(mask)), [0, 2, 1, 3]).

        Permute [0, 2, 1, 3]   2x49x3x49            Reshape 2x1x49x49 -> 2x49x1x49
        Add     mask 2x1x49x49                      Add     2x49x3x49
        Softmax {axis = 3}                    ->    Softmax 2x49x3x49
        Permute [0, 2, 1, 3]

    The mask, which is computed, is the same for all heads or for all rows, so that a Reshape
    swaps its dimensions; Sub and Mul likewise. The Permute then moves behind the Softmax (and
    any MulConst or Cast) by `PermuteReorderPattern`, and cancels with the one there.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, BINARY) or len(op.inputs) != 2:
            return
        for place, mask in ((0, op.inputs[1]), (1, op.inputs[0])):
            permute = sole_permute(op.inputs[place], HEADS)
            if permute is None or is_weight(mask) or len(shape_of(mask)) != len(HEADS):
                continue
            if not Permutation(shape_of(mask), HEADS).moves_nothing:
                continue
            turned = reshape(derived_name(op, "_r_mask"), mask, applied(HEADS, shape_of(mask)))
            rewriter.insert(turned)
            operands = (permute.input, turned.output)
            move_behind(op, [permute], operands if place == 0 else operands[::-1], rewriter)
            return


class PermuteBehindWhere(RewritePattern):
    """Where(mask, Permute(x, [0, 2, 1, 3])) -> Permute(Where(Reshape(mask), x), [0, 2, 1, 3]).

        Permute [0, 2, 1, 3]   2x128x4x128          Reshape 2x1x1x128, which is as it was
        Where   mask 2x1x1x128                      Where   2x128x4x128
        Softmax {axis = 3}                    ->    Softmax 2x128x4x128
        Permute [0, 2, 1, 3]

    The scores are what is chosen, or what is chosen otherwise is a number; the mask is as in
    `PermuteFuseAddSoftmax`.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.WhereOp, rewriter: PatternRewriter) -> None:
        branches = [value for value in (op.tbrn, op.fbrn) if not is_none(value)]
        if len(branches) != 1 or len(shape_of(op.cond)) != len(HEADS):
            return
        permute = sole_permute(branches[0], HEADS)
        if permute is None or shape_of(permute.output) != shape_of(op.output):
            return
        if not Permutation(shape_of(op.cond), HEADS).moves_nothing:
            return
        shape = applied(HEADS, shape_of(op.cond))
        cond = reshape(derived_name(op, "_r_mask"), op.cond, shape)
        rewriter.insert(cond)
        chosen = {branches[0]: permute.input, op.cond: cond.output}
        operands = [chosen.get(value, value) for value in op.operands]
        move_behind(op, [permute], operands, rewriter)
