"""Expand and Tile: Reshapes and the fewest Tiles."""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.abstract import BroadcastOp
from xdsl_tpu.dialects.top.layout import ElementwiseUnary
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.graph import (
    derived_name,
    drop,
    has_shapes,
    is_like,
    rebuilt,
    sole_producer,
    tensor_like,
    uses_in_order,
)
from xdsl_tpu.passes.tensors import shape_of


class ExpandToTile(RewritePattern):
    """Expand(x: 8) to 4x8 -> Tile(Reshape(x): 1x8) {tile = [4, 1]}; nothing for x's own shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ExpandOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output):
            return
        source, target = shape_of(op.input), shape_of(op.output)
        if source == target:
            drop(op, op.input, rewriter)
            return
        aligned = (1,) * (len(target) - len(source)) + source
        value, made = op.input, list[top.ReshapeOp | top.TileOp]()
        if aligned != source:
            name = op.location if aligned == target else derived_name(op, "_r_reshape")
            made.append(reshape(name, value, aligned))
            value = made[-1].output
        if aligned != target:
            counts = [new // old for old, new in zip(aligned, target, strict=True)]
            tile = top.TileOp.make(
                op.location, (value,), result_types=[op.output.type], tile=counts
            )
            made.append(tile)
        rewriter.replace(op, made)


class RemoveTile(RewritePattern):
    """Tile(x) {tile = [1, 1]} -> x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.TileOp, rewriter: PatternRewriter) -> None:
        if has_shapes(op.input) and is_like(op.input, op.output):
            drop(op, op.input, rewriter)


class MergeTiles(RewritePattern):
    """Tile(Tile(x) {tile = [1, 2]}) {tile = [3, 1]} -> Tile(x) {tile = [3, 2]}."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.TileOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.TileOp)
        if inner is None or op.tile is None or inner.tile is None:
            return
        if len(op.tile.data) != len(inner.tile.data):
            return
        counts = [a * b for a, b in zip(ints(op.tile), ints(inner.tile), strict=True)]
        merged = top.TileOp.make(
            op.location, (inner.input,), result_types=[op.output.type], tile=counts
        )
        rewriter.replace(op, merged)


class TileAfterPermute(RewritePattern):
    """Permute(Tile(x)) -> Tile(Permute(x)): fewer elements change their order.

    Tile    4x32x1x8 -> 4x32x16x8            Permute 4x32x1x8 -> 4x1x32x8
    Permute 4x32x16x8 -> 4x16x32x8     ->    Tile    4x1x32x8 -> 4x16x32x8
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        tile = sole_producer(op.input, top.TileOp)
        if tile is None or tile.tile is None or not has_shapes(tile.input, op.output):
            return
        source, counts, order = shape_of(tile.input), ints(tile.tile), ints(op.order)
        if not len(counts) == len(source) == len(order):
            return
        kind = tensor_like(op.output, [source[axis] for axis in order])
        name = name_loc(derived_name(op, "_r_once"))
        moved = rebuilt(op, operands=(tile.input,), result_types=[kind], location=name)
        repeated = top.TileOp.make(
            op.location,
            moved.results,
            result_types=[op.output.type],
            tile=[counts[axis] for axis in order],
        )
        rewriter.replace(op, [moved, repeated])


class TileAfterReader(RewritePattern):
    """Reduce(Tile(x)) and Sqrt(Tile(x)) -> Tile of what x becomes: fewer elements to compute.

        Tile    4x128x1 -> 4x128x384             Reduce  4x128x1 -> 4x1
        Reduce  4x128x384 {axes = [1]}    ->     Tile    4x1 -> 4x384

    A Reduce goes first when nothing is repeated along its axes; an op of each element by itself
    when it is all that reads the Tile.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.TileOp, rewriter: PatternRewriter) -> None:
        counts = _counts(op)
        if counts is None:
            return
        source = shape_of(op.input)
        for user in [use.operation for use in uses_in_order(op.output)]:
            if not has_shapes(*user.results):
                continue
            if isinstance(user, top.ReduceOp):
                reduced = {axis % len(source) for axis in ints(user.axes)}
                if any(counts[axis] > 1 for axis in reduced):
                    continue
                single = bool(user.keepdims.value.data)
                kept = [axis for axis in range(len(source)) if single or axis not in reduced]
                shape = [1 if axis in reduced else source[axis] for axis in kept]
                repeated = [counts[axis] for axis in kept]
            elif _reads_one(user) and op.output.has_one_use():
                shape, repeated = source, counts
            else:
                continue
            name = name_loc(derived_name(user, "_r_once"))
            kind = tensor_like(user.results[0], shape)
            operands = (op.input, *user.operands[1:])
            once = rebuilt(user, operands=operands, result_types=[kind], location=name)
            tile = top.TileOp.make(
                user.location,
                once.results,
                result_types=[user.results[0].type],
                tile=repeated,
            )
            rewriter.replace(user, [once, tile])
        if not op.output.uses:
            rewriter.erase(op)


class TileStretchedByReader(RewritePattern):
    """Mul(x, Tile(y) {tile = [1, 1, 196]}) -> Mul(x, y), when y is 1 long along what is repeated.

        Tile  1x64x1 -> 1x64x196
        Mul   1x64x196, 1x64x196           ->    Mul   1x64x196, 1x64x1

    Element-wise ops stretch such an operand by themselves, as long as another has the whole
    length. Other readers keep the Tile.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.TileOp, rewriter: PatternRewriter) -> None:
        counts = _counts(op)
        if counts is None:
            return
        source = shape_of(op.input)
        if any(size > 1 < count for size, count in zip(source, counts, strict=True)):
            return
        for use in uses_in_order(op.output):
            user = use.operation
            if not isinstance(user, BroadcastOp) or not has_shapes(*user.results):
                continue
            others = (value for index, value in enumerate(user.operands) if index != use.index)
            present = [value for value in others if not is_none(value)]
            if not has_shapes(*present):
                continue
            if broadcast(source, *map(shape_of, present)) == shape_of(user.results[0]):
                user.operands[use.index] = op.input
                rewriter.notify_op_modified(user)
        if not op.output.uses:
            rewriter.erase(op)


def _reads_one(op: Operation) -> bool:
    """Whether a result's elements are made of one tensor's, each by itself."""
    if op.has_trait(ElementwiseUnary):
        return True
    return isinstance(op, top.WhereOp) and is_none(op.tbrn) and is_none(op.fbrn)


def _counts(op: top.TileOp) -> tuple[int, ...] | None:
    """How often each dimension comes; None when that, or a shape, is not known."""
    if op.tile is None or not has_shapes(op.input, op.output):
        return None
    counts = tuple(ints(op.tile))
    return counts if len(counts) == len(shape_of(op.input)) else None
