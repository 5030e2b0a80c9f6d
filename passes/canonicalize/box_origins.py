"""Where the elements of a value come from that Concats, Slices, Pads and Permutes put together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import prod
from typing import TypeVar

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import VIEWS, has_relu
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.constants import is_f32_weight, values_of
from xdsl_tpu.passes.graph import has_shapes
from xdsl_tpu.passes.tensors import shape_of

Item = TypeVar("Item")

MOST_OPS = 64
"""What is further away is taken as it is: what is found must not depend on how long loops are."""

MOST_BOXES = 64
"""A value of more boxes is taken as it is."""


@dataclass(frozen=True)
class Origin:
    """A box of a value, from `at` on, of `sizes`, and where its elements come from.

    They are all one number, or lie in `source` from `first` on: position i along axis k of the box
    is `first[axes[k]] + i` there. Axes of size 1 are at none of those of the source.
    """

    at: tuple[int, ...]
    sizes: tuple[int, ...]
    source: SSAValue | float
    axes: tuple[int | None, ...]
    first: tuple[int, ...] = ()

    def moved(self, axis: int, by: int) -> "Origin":
        """The box further on along an axis."""
        return replace(self, at=_with(self.at, axis, self.at[axis] + by))

    def cut(self, axis: int, begin: int, end: int) -> "Origin | None":
        """What lies between two positions of an axis; None when that is nothing."""
        low = max(begin, self.at[axis])
        count = min(end, self.at[axis] + self.sizes[axis]) - low
        if count <= 0:
            return None
        first, along = self.first, self.axes[axis]
        if along is not None:
            first = _with(first, along, first[along] + low - self.at[axis])
        axes = _with(self.axes, axis, None if count == 1 else along)
        at, sizes = _with(self.at, axis, low), _with(self.sizes, axis, count)
        return replace(self, at=at, sizes=sizes, axes=axes, first=first)

    def ordered(self, order: Sequence[int]) -> "Origin":
        """The box of the transposed value, whose axis k was `order[k]`."""
        at, sizes, axes = (
            tuple(one[axis] for axis in order) for one in (self.at, self.sizes, self.axes)
        )
        return replace(self, at=at, sizes=sizes, axes=axes)

    def joined(self, other: "Origin") -> "Origin | None":
        """Both as one box, when `other` follows along some axis, here and in the source."""
        apart = [k for k, at in enumerate(self.at) if at != other.at[k]]
        if len(apart) != 1 or self.source != other.source:
            return None
        (axis,) = apart
        size = self.sizes[axis]
        if other.at[axis] != self.at[axis] + size:
            return None
        if _with(self.sizes, axis, 0) != _with(other.sizes, axis, 0):
            return None
        along = None
        if self.first:
            steps = [b - a for a, b in zip(self.first, other.first, strict=True)]
            moved = [place for place, step in enumerate(steps) if step]
            if len(moved) != 1 or steps[moved[0]] != size:
                return None
            (along,) = moved
        axes = _with(self.axes, axis, along)
        if along in self.axes[:axis] + self.axes[axis + 1 :] and along is not None:
            return None
        if any(_with(one.axes, axis, along) != axes for one in (self, other)):
            return None
        if any(one.axes[axis] not in (None, along) for one in (self, other)):
            return None
        sizes = _with(self.sizes, axis, size + other.sizes[axis])
        return replace(self, sizes=sizes, axes=axes)


def makers_of(root: Operation) -> list[Operation]:
    """The ops that put together what is for `root` alone, which is the first of them."""
    found = dict.fromkeys([root])
    for op in (queue := [root]):
        for value in parts_of(op):
            maker = value.owner
            if isinstance(maker, Operation) and parts_of(maker) and maker not in found:
                if len(found) == MOST_OPS:
                    break
                found[maker] = None
                queue.append(maker)
    while True:
        outside = [
            op
            for op in found
            if op is not root and any(use.operation not in found for use in op.results[0].uses)
        ]
        if not outside:
            return list(found)
        for op in outside:
            del found[op]


def origins_of(root: Operation, makers: Sequence[Operation]) -> list[Origin] | None:
    """Where the result of `root` comes from, as `makers` put it together; None in many boxes."""
    known: dict[SSAValue, list[Origin]] = {}

    def find(value: SSAValue) -> list[Origin]:
        if value not in known:
            if value.owner in makers:
                assert isinstance(value.owner, Operation)
                parts = [find(part) for part in parts_of(value.owner)]
                many = sum(map(len, parts)) > MOST_BOXES
                known[value] = [] if many or [] in parts else _merged(_made(value.owner, parts))
            else:
                known[value] = [_whole(value)]
        return known[value]

    return find(root.results[0]) or None


def parts_of(op: Operation) -> Sequence[SSAValue]:
    """What an op moves without computing anything; nothing of an op that does not."""
    if isinstance(op, top.ConcatOp):
        parts, moves = list(op.inputs), not has_relu(op)
    elif isinstance(op, top.SliceOp):
        parts = [op.input]
        moves = is_static(op) and all(cut.step == 1 for cut in op.cuts())
    elif isinstance(op, top.PadOp):
        given = op.paddingsT is None or is_none(op.paddingsT)
        parts, moves = (
            [op.input],
            given and op.mode.data == "constant" and min(ints(op.paddings)) >= 0,
        )
    elif isinstance(op, top.PermuteOp):
        parts, moves = [op.input], True
    elif isinstance(op, VIEWS):
        parts = [op.operands[0]]
        moves = has_shapes(*parts, op.results[0]) and (
            _without_ones(parts[0]) == _without_ones(op.results[0])
        )
    else:
        return []
    values = [*parts, *op.results]
    moves = moves and has_shapes(*values) and not any(0 in shape_of(value) for value in values)
    return parts if moves else []


def _without_ones(value: SSAValue) -> list[int]:
    return [size for size in shape_of(value) if size != 1]


def _whole(value: SSAValue) -> Origin:
    """All of a value that is taken as it is."""
    shape = shape_of(value)
    nowhere = (0,) * len(shape)
    values = values_of(value) if is_f32_weight(value) else None
    if values is not None and (values == values.flat[0]).all():
        return Origin(nowhere, shape, float(values.flat[0]), (None,) * len(shape))
    axes = tuple(None if size == 1 else axis for axis, size in enumerate(shape))
    return Origin(nowhere, shape, value, axes, nowhere)


def _made(op: Operation, parts: Sequence[Sequence[Origin]]) -> list[Origin]:
    """Where the result of an op comes from, whose operands come from `parts`."""
    if isinstance(op, top.ConcatOp):
        axis = op.axis.value.data % len(shape_of(op.output))
        ends = accumulate(shape_of(value)[axis] for value in op.inputs)
        begins = [0, *ends][:-1]
        pairs = zip(parts, begins, strict=True)
        return [one.moved(axis, begin) for part, begin in pairs for one in part]
    if isinstance(op, top.SliceOp):
        return [one for box in parts[0] if (one := _sliced(box, op)) is not None]
    if isinstance(op, top.PadOp):
        return [*_border(op), *(_shifted(box, ints(op.paddings)) for box in parts[0])]
    if isinstance(op, top.PermuteOp):
        return [box.ordered(ints(op.order)) for box in parts[0]]
    shape, source = shape_of(op.results[0]), shape_of(op.operands[0])
    return [_viewed(box, source, shape) for box in parts[0]]


def _sliced(box: Origin, op: top.SliceOp) -> Origin | None:
    found: Origin | None = box
    for axis, part in enumerate(op.cuts()):
        found = found.cut(axis, part.first, part.first + part.count) if found else None
        found = found.moved(axis, -part.first) if found else None
    return found


def _shifted(box: Origin, counts: Sequence[int]) -> Origin:
    at = tuple(place + count for place, count in zip(box.at, counts, strict=False))
    return replace(box, at=at)


def _border(op: top.PadOp) -> list[Origin]:
    """The boxes that a Pad adds: along each axis those beside all of the axes before it."""
    inner, outer, counts = shape_of(op.input), shape_of(op.output), ints(op.paddings)
    found: list[Origin] = []
    for axis, size in enumerate(inner):
        at = (*(0 for _ in inner[:axis]), 0, *counts[axis + 1 : len(inner)])
        for begin, count in ((0, counts[axis]), (counts[axis] + size, counts[axis + len(inner)])):
            sizes = (*outer[:axis], count, *inner[axis + 1 :])
            if prod(sizes):
                nothing = (None,) * len(inner)
                number = float(op.val.value.data)
                found.append(Origin(_with(at, axis, begin), sizes, number, nothing))
    return found


def _viewed(box: Origin, source: Sequence[int], shape: Sequence[int]) -> Origin:
    """A box where axes of size 1 come and go."""
    kept = iter([axis for axis, size in enumerate(source) if size != 1])
    places = [None if size == 1 else next(kept) for size in shape]
    at = tuple(0 if place is None else box.at[place] for place in places)
    sizes = tuple(1 if place is None else box.sizes[place] for place in places)
    axes = tuple(None if place is None else box.axes[place] for place in places)
    return replace(box, at=at, sizes=sizes, axes=axes)


def _merged(boxes: Sequence[Origin]) -> list[Origin]:
    """The same in fewer boxes, where some are beside each other here and in their source."""
    left: list[Origin] = []
    for box in sorted(boxes, key=lambda one: one.at):
        whole = box
        while True:
            pairs = ((other, other.joined(whole) or whole.joined(other)) for other in left)
            beside = next(((other, both) for other, both in pairs if both is not None), None)
            if beside is None:
                break
            other, whole = beside
            left.remove(other)
        left.append(whole)
    return left


def _with(items: tuple[Item, ...], place: int, item: Item) -> tuple[Item, ...]:
    return (*items[:place], item, *items[place + 1 :])
