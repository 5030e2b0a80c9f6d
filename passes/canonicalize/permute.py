"""Permute: pairs that cancel, orders the hardware can do, and other names for a Permute."""

from collections.abc import Mapping

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.passes.canonicalize.common import HARDWARE_RANK, reshape
from xdsl_tpu.passes.canonicalize.permute_order import Permutation, cancel, two_steps
from xdsl_tpu.passes.graph import (
    derived_name,
    drop,
    has_shapes,
    is_like,
    rebuilt,
    sole_producer,
    sole_user,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

_SHUFFLES: Mapping[tuple[int, ...], bool] = {
    (0, 1, 4, 2, 5, 3): True,
    (0, 3, 4, 1, 5, 2): False,
}
"""Orders that spread channels over blocks of pixels: whether the channels vary slowest."""

_UNSHUFFLES: Mapping[tuple[int, ...], bool] = {
    (0, 1, 3, 5, 2, 4): True,
    (0, 3, 5, 1, 2, 4): False,
}
"""Orders that bring blocks of pixels into channels."""


class RemovePermute(RewritePattern):
    """Permute(x: 1x96x1x1) {order = [0, 2, 3, 1]} -> Reshape(x), as no data move."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output) or not _permutation(op).moves_nothing:
            return
        if is_like(op.input, op.output):
            drop(op, op.input, rewriter)
        else:
            rewriter.replace(op, reshape(op.location, op.input, shape_of(op.output)))


class PermuteFuse(RewritePattern):
    """Permute(Permute(x)) and Permute(Reshape(Permute(x))) -> x, or Reshape(x), if inverse."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        value = op.input
        if (between := sole_producer(value, top.ReshapeOp)) is not None:
            value = between.input
        inner = value.owner
        if not isinstance(inner, top.PermuteOp) or not has_shapes(op.input, inner.input):
            return
        if not op.input.has_one_use() or not cancel(_permutation(inner), _permutation(op)):
            return
        if is_like(inner.input, op.output):
            drop(op, inner.input, rewriter)
        else:
            rewriter.replace(op, reshape(op.location, inner.input, shape_of(op.output)))


class PermutesInOne(RewritePattern):
    """Permute(Permute(x)) -> Permute(x) of as many dimensions as one op of the chip moves."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.PermuteOp)
        if inner is None or len(op.order.data) > HARDWARE_RANK:
            return
        first = ints(inner.order)
        whole = rebuilt(op, operands=(inner.input,))
        whole.order = I64_ARRAY.encode([first[axis] for axis in ints(op.order)])
        rewriter.replace(op, whole)
        rewriter.erase(inner)


class Permute5dSplit(RewritePattern):
    """Permute(x) of 5 or 6 dimensions in an order no 4 can express -> two that 4 can.

    Of all such pairs the one that moves the longest runs of neighbouring elements.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        if len(op.order.data) not in (5, 6) or not has_shapes(op.input):
            return
        whole = _permutation(op)
        if whole.at_rank(HARDWARE_RANK) is not None:
            return
        pairs = list(two_steps(whole, HARDWARE_RANK))
        if not pairs:
            return
        first, second = min(pairs, key=lambda pair: sum(1 / step.run for step in pair))
        step = top.PermuteOp.make(
            derived_name(op, "_r_step"),
            (op.input,),
            result_types=[tensor_like(op.input, first.result)],
            order=first.order,
        )
        final = top.PermuteOp.make(
            op.location, (step.output,), result_types=[op.output.type], order=second.order
        )
        rewriter.replace(op, [step, final])


class TopPermuteToPixelShuffle(RewritePattern):
    """Reshape(Permute(Reshape(x: NxCxHxW): Nxcxbxbxhxw)): NxcxhbxWb -> Depth2Space(x).

    Orders [0, 1, 4, 2, 5, 3] (channels vary slowest, CRD) and [0, 3, 4, 1, 5, 2] (DCR).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        crd, around = _SHUFFLES.get(ints(op.order)), _reshapes_around(op)
        if crd is None or around is None:
            return
        before, after = around
        source, split, target = map(shape_of, (before.input, op.input, after.output))
        channels, bh, bw = split[1:4] if crd else (split[3], split[1], split[2])
        n, _, _, _, h, w = split
        if source != (n, channels * bh * bw, h, w) or target != (n, channels, h * bh, w * bw):
            return
        rewriter.replace(after, _blocks(before.input, after, (bh, bw), crd, inversed=False))


class TopPermuteToPixelUnshuffle(RewritePattern):
    """Reshape(Permute(Reshape(x: NxcxHxW): Nxcxhxbxwxb)): Nxcbbxhxw -> Depth2Space(x), inversed.

    Orders [0, 1, 3, 5, 2, 4] (channels vary slowest, CRD) and [0, 3, 5, 1, 2, 4] (DCR).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        crd, around = _UNSHUFFLES.get(ints(op.order)), _reshapes_around(op)
        if crd is None or around is None:
            return
        before, after = around
        source, split, target = map(shape_of, (before.input, op.input, after.output))
        n, channels, h, bh, w, bw = split
        if source != (n, channels, h * bh, w * bw) or target != (n, channels * bh * bw, h, w):
            return
        rewriter.replace(after, _blocks(before.input, after, (bh, bw), crd, inversed=True))


class TransposeToPermute(RewritePattern):
    """Transpose(x) {dim0 = 1, dim1 = 2} -> Permute(x) {order = [0, 2, 1]}."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.TransposeOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output):
            return
        order = list(range(len(shape_of(op.input))))
        first, second = (dim.value.data % len(order) for dim in (op.dim0, op.dim1))
        order[first], order[second] = order[second], order[first]
        permute = top.PermuteOp.make(
            op.location, (op.input,), result_types=[op.output.type], order=order
        )
        rewriter.replace(op, permute)


def _reshapes_around(op: top.PermuteOp) -> tuple[top.ReshapeOp, top.ReshapeOp] | None:
    """The Reshapes in front of a Permute and behind it, if nothing else reads what is between."""
    before, after = sole_producer(op.input, top.ReshapeOp), sole_user(op.output, top.ReshapeOp)
    if before is None or after is None:
        return None
    return (before, after) if has_shapes(before.input, op.input, after.output) else None


def _blocks(
    value: SSAValue, after: top.ReshapeOp, block: tuple[int, int], crd: bool, *, inversed: bool
) -> top.Depth2SpaceOp:
    """What gives in one op what a Permute and the Reshape `after` it did."""
    return top.Depth2SpaceOp.make(
        after.location,
        (value,),
        result_types=[after.output.type],
        block_h=block[0],
        block_w=block[1],
        is_CRD=crd,
        is_inversed=inversed,
    )


def _permutation(op: top.PermuteOp) -> Permutation:
    return Permutation(shape_of(op.input), ints(op.order))
