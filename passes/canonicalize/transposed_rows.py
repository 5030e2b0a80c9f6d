"""Products of rows that are transposed for them alone: their heads are moved from where they were.

Modules that take sequences first (torch's MultiheadAttention) exchange batch and rows before their
products and behind them, although what is between moves every head anyway.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap, row_major
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_before,
    rebuilt,
    tensor_like,
    users,
)
from xdsl_tpu.passes.products import is_plain
from xdsl_tpu.passes.tensors import is_weight, shape_of

_MOST_DIGITS = 4
"""Of a move: batch, rows, heads and numbers of each."""

_TRANSPOSED = 2
"""Digits of rows that are a transposed matrix of rows."""


class MoveRowsBehindProduct(RewritePattern):
    """MatMul(Permute(x), W, b) whose parts are permuted -> parts of MatMul(x, W, b), permuted once.

        Permute  64x8x256 of 8x64x256 [1, 0, 2]        MatMul   8x64x256 @ 256x768
        MatMul   64x8x256 @ 256x768                    Slice    8x64x256           (3 times)
        Reshape  64x8x3x256                      ->    Reshape  8x64x8x32
        Slice, Squeeze 64x8x256    (3 times)           Permute  8x8x64x32 [0, 2, 1, 3]
        Reshape  64x64x32
        Permute  64x64x32 [1, 0, 2]
        Reshape  8x8x64x32

    The Permute exchanges rows with batches and is read by products alone. Every part, whatever
    chain of Reshapes, Permutes, Slices and Squeezes makes it, has its elements in another order
    than the product, and can be made by one Permute of four dimensions instead.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        before = op.input.owner
        if not isinstance(before, top.PermuteOp) or not _is_of_rows(op):
            return
        moved = _map_of(before)
        rows = None if moved is None else _transposed_rows(moved, shape_of(op.input)[-1])
        if rows is None or not all(isinstance(u, top.MatMulOp) for u in users(before.output)):
            return
        width = shape_of(op.output)[-1]
        leaves = list(_leaves(op.output, IndexMap.identity(prod(shape_of(op.output)))))
        source = (*shape_of(before.input)[:-1], width)
        found: list[tuple[SSAValue, _Plan]] = []
        for leaf, way in leaves:
            if leaf is op.output or len(way.boxes) != 1 or _keeps_order(way.boxes[0]):
                return
            if any(isinstance(user, top.GatherOp) for user in users(leaf)):
                return  # of parts that are not Slices yet
            plan = _planned(way.after(rows.of_rows(width)), source)
            if plan is None:
                return
            found.append((leaf, plan))
        if not found:
            return
        product = rebuilt(
            op,
            operands=(before.input, *op.operands[1:]),
            result_types=[tensor_like(op.output, source)],
            location=name_loc(derived_name(op, "_rows")),
        )
        rewriter.insert(product)
        for leaf, plan in found:
            _moved(leaf, product.output, plan, rewriter)


class MoveRowsBeforeProduct(RewritePattern):
    """Permute(MatMul(moved x, W, b)) of rows -> MatMul(x moved once, W, b).

        Permute  64x8x8x32 of 8x8x64x32 [2, 0, 1, 3]       Permute  8x64x8x32 [0, 2, 1, 3]
        Reshape  512x256                                   Reshape  8x64x256
        MatMul   512x256 @ 256x256                   ->    MatMul   8x64x256 @ 256x256
        Reshape  64x8x256
        Permute  8x64x256 [1, 0, 2]

    Behind the product batches and rows are exchanged, before it elements are moved, too, and both
    can be done by one Permute of four dimensions. Nothing else reads what is between.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if not _is_of_rows(op):
            return
        depth, width = shape_of(op.input)[-1], shape_of(op.output)[-1]
        leaves = list(_leaves(op.output, IndexMap.identity(prod(shape_of(op.output)))))
        if len(leaves) != 1 or leaves[0][0] is op.output:
            return
        leaf, behind = leaves[0]
        rows = _transposed_rows(behind, width)
        if rows is None or shape_of(leaf)[-1] != width:
            return
        root, before = _root(op.input)
        if root is op.input or len(before.boxes) != 1 or _keeps_order(before.boxes[0]):
            return
        plan = _planned(rows.of_rows(depth).after(before), shape_of(root))
        if plan is None or plan.columns is not None:
            return
        shape = (*shape_of(leaf)[:-1], depth)
        operand = list(_carried_out(root, plan, shape, derived_name(op, "_rows"), None))
        product = rebuilt(
            op,
            operands=(operand[-1].results[0], *op.operands[1:]),
            result_types=[leaf.type],
            location=_maker(leaf).location,
        )
        rewriter.insert(operand)
        rewriter.replace(_maker(leaf), product)


class _Plan:
    """A move as columns first to last, if not all, a Reshape to `split` and a Permute `order`."""

    def __init__(
        self, columns: tuple[int, int] | None, split: Sequence[int], order: Sequence[int]
    ) -> None:
        self.columns, self.split, self.order = columns, tuple(split), tuple(order)


def _is_of_rows(op: top.MatMulOp) -> bool:
    """Whether a product makes a row of each row, by one weight."""
    if not is_plain(op):
        return False
    if not has_shapes(op.input, op.right, op.output) or not is_weight(op.right):
        return False
    return len(shape_of(op.right)) == 2 and len(shape_of(op.input)) > 1


def _map_of(op: Operation) -> IndexMap | None:
    """What an op of this dialect moves; None for one that does more."""
    if not isinstance(op, top.PermuteOp | top.ReshapeOp | top.SqueezeOp | top.UnsqueezeOp):
        return _cut(op) if isinstance(op, top.SliceOp) else None
    if not has_shapes(op.input, op.output):
        return None
    if isinstance(op, top.PermuteOp):
        return IndexMap.permuted(shape_of(op.input), ints(op.order))
    return IndexMap.identity(prod(shape_of(op.input)))


def _cut(op: top.SliceOp) -> IndexMap | None:
    if not has_shapes(op.input, op.output) or not is_static(op):
        return None
    strides, cuts = row_major(shape_of(op.input)), op.cuts()
    to = row_major([cut.count for cut in cuts])
    at = sum(cut.first * stride for cut, stride in zip(cuts, strides, strict=True))
    parts = zip(cuts, to, strides, strict=True)
    digits = (Digit(cut.count, made, cut.step * stride) for cut, made, stride in parts)
    return IndexMap((Box(0, at, tuple(digits)).simplified(),))


def _maker(value: SSAValue) -> Operation:
    assert isinstance(value.owner, Operation)
    return value.owner


def _leaves(value: SSAValue, way: IndexMap) -> Iterator[tuple[SSAValue, IndexMap]]:
    """What is read by others than movement ops, and where its elements are in the first value."""
    read = False
    for user in users(value):
        moved = _map_of(user)
        if moved is None:
            read = True
        else:
            yield from _leaves(user.results[0], moved.after(way))
    if read:
        yield value, way


def _root(value: SSAValue) -> tuple[SSAValue, IndexMap]:
    """What a chain of movement ops begins with whose values nothing else reads."""
    way = IndexMap.identity(prod(shape_of(value)))
    while isinstance(value.owner, Operation) and value.has_one_use():
        moved = _map_of(value.owner)
        if moved is None:
            break
        way, value = way.after(moved), value.owner.operands[0]
    return value, way


def _transposed_rows(way: IndexMap, width: int) -> IndexMap | None:
    """The map of rows, if whole ones are moved as those of a transposed matrix."""
    rows = way.in_rows(width)
    if rows is None or len(rows.boxes) != 1:
        return None
    (box,) = rows.boxes
    is_transposed = len(box.digits) == _TRANSPOSED and not _keeps_order(box)
    return rows if is_transposed and box.at == 0 else None


def _keeps_order(box: Box) -> bool:
    """Whether elements follow each other as in the source, some perhaps left out."""
    return all(outer.at > inner.at for outer, inner in pairwise(box.digits))


def _planned(way: IndexMap, source: Sequence[int]) -> _Plan | None:
    """One Permute for a move of all rows, of all columns or of some neighbours."""
    if len(way.boxes) != 1:
        return None
    box, width = way.boxes[0], source[-1]
    digits = sorted(box.digits, key=lambda digit: -digit.at)
    if not 1 < len(digits) <= _MOST_DIGITS or digits[-1].at < 1:
        return None
    within = [digit for digit in digits if digit.at < width]
    rows = [digit for digit in digits if digit.at >= width]
    kept = prod(digit.extent for digit in within)
    if not _is_dense(within, 1, kept) or not _is_dense(rows, width, prod(source[:-1])):
        return None
    if box.at + kept > width or len(within) + len(rows) != len(digits):
        return None
    order = [digits.index(digit) for digit in sorted(digits, key=lambda digit: -digit.to)]
    columns = None if kept == width else (box.at, box.at + kept)
    return _Plan(columns, [digit.extent for digit in digits], order)


def _is_dense(digits: Sequence[Digit], step: int, count: int) -> bool:
    """Whether digits, the largest first, go through `count` places, `step` apart."""
    for digit in reversed(digits):
        if digit.at != step:
            return False
        step, count = step * digit.extent, count // digit.extent
    return count == 1


def _carried_out(
    value: SSAValue, plan: _Plan, shape: Sequence[int], name: str, last: Operation | None
) -> Iterator[Operation]:
    """The ops of a plan; the last one has the name of `last`."""
    location = name if last is None else last.location
    if plan.columns is not None:
        first, end = plan.columns
        whole = shape_of(value)
        rank, none = len(whole), none_before(_maker(value))
        cut = top.SliceOp.make(
            f"{name}_cut",
            (value, none, none, none),
            result_types=[tensor_like(value, (*whole[:-1], end - first))],
            offset=[*[0] * (rank - 1), first],
            ends=[*whole[:-1], end],
            steps=[1] * rank,
            hasparamConvert_axes=[rank - 1],
        )
        yield cut
        value = cut.output
    split = reshape(f"{name}_split", value, plan.split)
    made = [plan.split[axis] for axis in plan.order]
    is_last = tuple(made) == tuple(shape)
    permute = top.PermuteOp.make(
        location if is_last else f"{name}_order",
        (split.output,),
        result_types=[tensor_like(value, made)],
        order=plan.order,
    )
    yield split
    yield permute
    if not is_last:
        yield reshape(location, permute.output, shape)


def _moved(leaf: SSAValue, value: SSAValue, plan: _Plan, rewriter: PatternRewriter) -> None:
    """Replace a part by what a plan makes of the new product."""
    maker = _maker(leaf)
    name = derived_name(maker, "_of_rows")
    ops = list(_carried_out(value, plan, shape_of(leaf), name, maker))
    rewriter.replace(maker, ops)
