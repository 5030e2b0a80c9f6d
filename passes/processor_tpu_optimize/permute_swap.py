"""Permutes move behind ops that cut, pad or repeat, when something there takes them in."""

from typing import cast

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import derived_name, none_for, producer, rebuilt, tensor_like, users
from xdsl_tpu.passes.processor_tpu_optimize.permute_reorder import UNARY
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    HEADS,
    TURNED,
    Order,
    applied,
    inverse,
    move_behind,
    permute,
    reshape,
    sole_permute,
)
from xdsl_tpu.passes.tensors import shape_of, size_in_bytes


class PermuteFuseAddSoftmaxSlice(RewritePattern):
    """Slice(Permute(x, [0, 2, 1, 3])) -> Permute(Slice(x), [0, 2, 1, 3]), behind a Softmax.

        Softmax                2x49x3x98               Softmax                2x49x3x98
        Permute [0, 2, 1, 3]   2x3x49x98               Slice                  2x49x3x49
        Slice                  2x3x49x49         ->    MatMul {hdim_is_batch}
        MatMul

    With `PermuteReorderPattern` and `PermuteFuseAddSoftmax` a Permute thus passes MulConst, Add,
    Cast, Softmax and the Slices that share out what several products read. Only Slices use the
    Permute; what they take is together no larger than it; and behind each of them (and ops of
    one input) is a Permute or a product, which takes it in.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.SliceOp, rewriter: PatternRewriter) -> None:
        before = producer(op.input, tpu.PermuteOp)
        if before is None or ints(before.order) != HEADS:
            return
        taken = 0
        for user in users(before.output):
            if not isinstance(user, tpu.SliceOp) or not _is_static(user):
                return
            if not is_taken_in(user.output, HEADS):
                return
            taken += size_in_bytes(user.output)
        if taken > size_in_bytes(before.output):
            return
        moved = cast(
            tpu.SliceOp,
            move_behind(op, [before], (before.input, *op.operands[1:]), rewriter),
        )
        for name in ("offset", "ends", "steps"):
            values = applied(HEADS, ints(getattr(op, name)))
            setattr(moved, name, I64_ARRAY.encode(values))
        for name in ("axes", "hasparamConvert_axes"):
            axes = [HEADS[axis % len(HEADS)] for axis in ints(getattr(op, name))]
            setattr(moved, name, I64_ARRAY.encode(axes))


class PermutePadSwap(RewritePattern):
    """Pad(Permute(x)) -> Permute(Pad(x)), when a Permute or a product behind takes it in.

        Permute [0, 2, 1, 3]  2x49x3x32 -> 2x3x49x32         Pad     2x56x3x32
        Pad                   2x3x56x32                ->    Permute [0, 2, 1, 3]  2x3x56x32

    Nothing else uses the Permute. Counts before and after each dimension go with it; any mode.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.PadOp, rewriter: PatternRewriter) -> None:
        before = sole_permute(op.input)
        if before is None or bool(op.with_insert_zero):
            return
        if op.paddingsT is not None and not is_none(op.paddingsT):
            return
        order, counts = ints(before.order), ints(op.paddings)
        rank = len(order)
        if len(counts) != 2 * rank or not is_taken_in(op.output, order):
            return
        moved = move_behind(op, [before], (before.input, *op.operands[1:]), rewriter)
        back = inverse(order)
        paddings = (*applied(back, counts[:rank]), *applied(back, counts[rank:]))
        cast(tpu.PadOp, moved).paddings = I64_ARRAY.encode(paddings)


class PermuteTileSwap(RewritePattern):
    """MatMul(Permute(x), Tile(Permute(y))) -> MatMul(Permute(x), Permute(Tile(y))).

        Permute [0, 2, 1, 3]  2x7x3x5  2x5x1x6 -> 2x1x5x6         Tile    2x5x3x6
        Tile                           2x3x5x6               ->   MatMul {hdim_is_batch}
        MatMul                2x3x7x5 @ 2x3x5x6                           2x7x3x5 @ 2x5x3x6

    The Permutes are [0, 2, 1, 3] or [0, 2, 3, 1] and have no other use, so that the product takes
    both in; y may also be anything for which [0, 2, 1, 3] moves no data, as a single head. (The
    vendor's product repeats a matrix for several heads by itself; kernels for that are not here,
    so that the Tile stays.)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.TileOp, rewriter: PatternRewriter) -> None:
        use = op.output.get_unique_use()
        if use is None or not isinstance(use.operation, tpu.MatMulOp) or use.index > 1:
            return
        counts = ints(op.tile)
        if op.tileT is not None or {len(counts), len(shape_of(op.input))} != {len(HEADS)}:
            return
        other = sole_permute(use.operation.operands[1 - use.index])
        if other is None or ints(other.order) not in (HEADS, TURNED):
            return
        if shape_of(other.output)[:2] != shape_of(op.output)[:2]:
            return
        before = sole_permute(op.input)
        if before is None and Permutation(shape_of(op.input), HEADS).moves_nothing:
            self._unpermuted(op, rewriter)
        elif before is not None and (order := ints(before.order)) in (HEADS, TURNED):
            moved = move_behind(op, [before], (before.input, *op.operands[1:]), rewriter)
            cast(tpu.TileOp, moved).tile = I64_ARRAY.encode(applied(inverse(order), counts))

    def _unpermuted(self, op: tpu.TileOp, rewriter: PatternRewriter) -> None:
        """The Tile of what a Permute [0, 2, 1, 3] that moves nothing would come from."""
        name = derived_name(op.input, f"_r_reshape_for_{derived_name(op, '')}")
        early = reshape(name, op.input, applied(HEADS, shape_of(op.input)))
        moved = rebuilt(
            op,
            operands=(early, *op.operands[1:]),
            result_types=[tensor_like(op.output, applied(HEADS, shape_of(op.output)))],
            location=name_loc(derived_name(op, "_r_before_permute")),
        )
        moved.tile = I64_ARRAY.encode(applied(HEADS, ints(op.tile)))
        behind = permute(op.location, moved.output, HEADS, none_for(op, rewriter))
        rewriter.replace(op, [early, moved, behind])


def is_taken_in(value: SSAValue, order: Order) -> bool:
    """Whether the only use of `value`, behind ops that a Permute passes, takes the Permute in."""
    use = value.get_unique_use()
    user = None if use is None else use.operation
    if isinstance(user, tpu.PermuteOp):
        return True
    if isinstance(user, tpu.MatMulOp):
        return order in (HEADS, TURNED) and not bool(user.hdim_is_batch)
    return order == HEADS and isinstance(user, UNARY) and is_taken_in(user.results[0], order)


def _is_static(op: tpu.SliceOp) -> bool:
    return all(map(is_none, (op.offsetT, op.endsT, op.stepsT)))
