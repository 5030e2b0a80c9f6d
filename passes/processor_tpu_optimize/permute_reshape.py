"""Permutes next to Reshapes: those that move nothing, and pairs with a Reshape between them."""

from collections.abc import Sequence

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import derived_name, none_for, sole_producer
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    HARDWARE_RANK,
    permutation,
    permute,
    reshape,
    sole_permute,
)
from xdsl_tpu.passes.tensors import shape_of


class PermuteToReshape(RewritePattern):
    """Permute(x: 1x49x1x32, [0, 2, 1, 3]) -> Reshape(x): 1x1x49x32, as no data move."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.PermuteOp, rewriter: PatternRewriter) -> None:
        if permutation(op).moves_nothing:
            rewriter.replace(op, reshape(op.location, op.input, shape_of(op.output)))


class ReshapePermuteFuse(RewritePattern):
    """Permute(Reshape(x)) -> x, or Reshape(x), when the Permute moves no data.

        Reshape 1x49x32 -> 1x49x1x32
        Permute [0, 2, 1, 3]  1x1x49x32    ->    Reshape 1x49x32 -> 1x1x49x32

    Only dimensions of size 1 change places. Nothing else uses the Reshape; when the result has
    the shape of x, x takes its place (`RemoveReshape`).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.PermuteOp, rewriter: PatternRewriter) -> None:
        before = sole_producer(op.input, tpu.ReshapeOp)
        if before is None or not permutation(op).moves_nothing:
            return
        rewriter.replace(op, reshape(op.location, before.input, shape_of(op.output)))
        rewriter.erase(before)


class PermuteReshapeFuse(RewritePattern):
    """Reshape(Permute(x)) -> Reshape(x), when the Permute moves no data.

        Permute [0, 2, 1, 3]  1x1x49x32 -> 1x49x1x32
        Reshape 1x49x32                                  ->    Reshape 1x1x49x32 -> 1x49x32

    Only dimensions of size 1 change places, and nothing else uses the Permute.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.ReshapeOp, rewriter: PatternRewriter) -> None:
        before = sole_permute(op.input)
        if before is None or not permutation(before).moves_nothing:
            return
        rewriter.replace(op, reshape(op.location, before.input, shape_of(op.output)))
        rewriter.erase(before)


class PermuteReshapeFuse2(RewritePattern):
    """Permute(Reshape(Permute(x))) -> Permute(Reshape(x)): two movements of data become one.

        Permute [0, 2, 1]           2x48x96 -> 2x96x48
        Reshape                     2x96x2x6x2x2          ->    Reshape 2x48x96 -> 2x2x6x2x2x96
        Permute [0, 2, 4, 3, 5, 1]  2x2x2x6x2x96                Permute [0, 1, 3, 2, 4, 5]

    The Reshape only splits dimensions, so that it can be done before the first Permute; nothing
    in between has another use. The result is one the chip can do in one step.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.PermuteOp, rewriter: PatternRewriter) -> None:
        between = sole_producer(op.input, tpu.ReshapeOp)
        first = None if between is None else sole_permute(between.input)
        if between is None or first is None:
            return
        split = shape_of(between.output)
        groups = _split_groups(shape_of(first.output), split)
        if groups is None:
            return
        place_of = {axis: place for place, axis in enumerate(ints(first.order))}
        moved = [position for axis in sorted(place_of) for position in groups[place_of[axis]]]
        order = tuple(moved.index(position) for position in ints(op.order))
        shape = tuple(split[position] for position in moved)
        if Permutation(shape, order).at_rank(HARDWARE_RANK) is None:
            return
        early = reshape(derived_name(first, "_r_Reshape"), first.input, shape)
        rewriter.replace(
            op, [early, permute(op.location, early.output, order, none_for(op, rewriter))]
        )
        rewriter.erase(between)
        rewriter.erase(first)


def _split_groups(old: Sequence[int], new: Sequence[int]) -> list[list[int]] | None:
    """For each dimension of `old` the positions in `new` it is split into.

    None when some dimension of `new` holds parts of several. Dimensions of size 1 of `new`
    belong to what is in front of them.
    """
    groups: list[list[int]] = []
    position = 0
    for size in old:
        group: list[int] = []
        rest = size
        while rest > 1 or not group:
            if position == len(new) or rest % new[position]:
                return None
            rest //= new[position]
            group.append(position)
            position += 1
        groups.append(group)
    if any(size != 1 for size in new[position:]):
        return None
    groups[-1].extend(range(position, len(new)))
    return groups
