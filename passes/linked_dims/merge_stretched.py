"""The pass `merge-stretched`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.top.abstract import BroadcastOp
from xdsl_tpu.passes.graph import has_shapes
from xdsl_tpu.passes.linked_dims.change import DROPPED, MERGED
from xdsl_tpu.passes.linked_dims.linked import Linked, carried_by
from xdsl_tpu.passes.tensors import functions, shape_of

LANE_RANK = 4
"""Dimensions that local memory tells apart: those behind share the lanes' innermost axis."""


@dataclass(frozen=True)
class MergeStretchedPass(ModulePass):
    """Give operands that are stretched fewer dimensions, where two that lie side by side are alike.

        %1 = "top.Slice"(%0) : 1x3x20x20x85 -> 1x3x20x20x2
        %2 = "top.Mul"(%1, %anchors) : (1x3x20x20x2, 1x3x1x1x2) -> 1x3x20x20x2
      ->
        %r = "top.Reshape"(%0) : 1x3x20x20x85 -> 1x3x400x85
        %1 = "top.Slice"(%r) : 1x3x400x85 -> 1x3x400x2
        %2 = "top.Mul"(%1, %anchors) : (1x3x400x2, 1x3x1x2) -> 1x3x400x2

    Commands have four dimensions: of five, the last two must be stretched alike to be done at once,
    and where they are not every number of DDR is moved for itself. A Permute of more than four
    dimensions loses all that it keeps side by side, so that `orient-products` sees the matrices it
    transposes; GroupNorms, Concats and reductions of volumes become those of images, which local
    memory has room for. Dimensions are merged in all values that hand them on to such an op:
    through element-wise ops, norms, Softmax, Permute, Slice, Split, reductions, and Concat along
    others. Around those stand Reshapes. Slices and Concats lose a dimension of size 1 likewise that
    Reshapes gave to all they are made of, as frames of one video have it that are images before and
    after.
    """

    name = "merge-stretched"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            block = func.body.block
            while any([_drop(one) for one in _parted(block)]):
                pass
            while any([_merge(one) for one in _stretching(block)]):
                pass


def _parted(block: Block) -> Iterator[Operation]:
    """Slices and Concats of more dimensions than commands have."""
    for op in list(block.ops):
        if op.parent is not block or not isinstance(op, top.SliceOp | top.ConcatOp):
            continue
        if has_shapes(*op.results) and len(shape_of(op.results[0])) > LANE_RANK:
            yield op


def _drop(op: Operation) -> bool:
    """Drop a dimension that Reshapes gave all that an op is linked with; whether there is one."""
    out = op.results[0]
    for axis, size in enumerate(shape_of(out)):
        if size == 1 and carried_by(op, out, axis, DROPPED) is not None:
            found = Linked.to(out, axis, DROPPED)
            if found is not None and _is_given(found):
                found.rewrite()
                return True
    return False


def _is_given(linked: Linked) -> bool:
    """Whether all that is computed elsewhere had the shape without the dimension before."""
    makers = {value: value.owner for value in linked.axes if value.owner not in linked.ops}
    computed = {value: made for value, made in makers.items() if not isinstance(made, top.WeightOp)}
    return bool(computed) and all(
        isinstance(made, top.ReshapeOp)
        and has_shapes(made.input)
        and shape_of(made.input) == DROPPED.without(shape_of(value), linked.axes[value])
        for value, made in computed.items()
    )


def _stretching(block: Block) -> Iterator[Operation]:
    """Element-wise ops of more dimensions than commands have, whose operands differ in shape, and
    transpositions, Concats, reductions and norms of channels of as many."""
    for op in list(block.ops):
        if op.parent is not block or len(op.results) != 1:
            continue
        if isinstance(op, top.PermuteOp):
            many = has_shapes(op.output) and len(shape_of(op.output)) > LANE_RANK
            if many and _turns_matrices(ints(op.order)):
                yield op
            continue
        if isinstance(op, top.ConcatOp | top.GroupNormOp | top.ReduceOp):
            many = has_shapes(*op.operands[:1], *op.results)
            yield from (op,) if many and len(shape_of(op.results[0])) > LANE_RANK else ()
            continue
        if not isinstance(op, BroadcastOp):
            continue
        given = [operand for operand in op.operands if not is_none(operand)]
        if not has_shapes(*given, *op.results) or len(shape_of(op.results[0])) <= LANE_RANK:
            continue
        if len({shape_of(operand) for operand in given}) > 1:
            yield op


def _turns_matrices(order: Sequence[int]) -> bool:
    """Whether an order exchanges the last two of what it keeps side by side, behind the first."""
    starts = [axis for axis, before in zip(order, (-1, *order), strict=False) if axis != before + 1]
    return len(starts) == 2 and order[0] == 0


def _merge(op: Operation) -> bool:
    """Merge two dimensions of an op and of what is linked with it; whether there are such.

    Of several pairs the one that most ops have in common, so that they stay in one shape, and of
    these the last: rows and columns of images rather than frames and rows. Of a
    transposition all that can be, images too: what is left are matrices.
    """
    whole = isinstance(op, top.PermuteOp)
    found = _most_common(op, 0 if whole else 1)
    if found is None and isinstance(op, BroadcastOp) and shape_of(op.results[0])[0] == 1:
        found = _most_common(op, 0)  # a single image is no dimension of its own
    if found is None:
        return False
    out = found.rewrite()[op.results[0]]
    while whole and isinstance(out.owner, Operation):
        more = _most_common(out.owner, 0)
        if more is None:
            break
        out = more.rewrite()[out]
    return True


def _most_common(op: Operation, first: int) -> Linked | None:
    """Two dimensions, from the `first` on, that can be one in an op and most others."""
    out = op.results[0]
    axes = [
        axis
        for axis in reversed(range(first, len(shape_of(out)) - 1))
        if carried_by(op, out, axis, MERGED) is not None
    ]
    found = [one for axis in axes if (one := Linked.to(out, axis, MERGED)) is not None]
    return max(found, key=lambda one: len(one.ops), default=None)
