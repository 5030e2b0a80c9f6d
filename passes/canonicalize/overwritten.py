"""Boxes that are written over each other: what is left of each, once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.box_origins import Origin, makers_of, origins_of, parts_of
from xdsl_tpu.passes.canonicalize.common import HARDWARE_RANK, VIEWS, reshape
from xdsl_tpu.passes.canonicalize.slice import set_cuts
from xdsl_tpu.passes.constants import is_known, known_values, make_weight
from xdsl_tpu.passes.graph import derived_name, is_calibrated, none_for, tensor_like
from xdsl_tpu.passes.tensors import shape_of


class WriteBoxesOnce(RewritePattern):
    """Concats of Slices of Concats, with Permutes between -> Concats of what is left in the end.

        a = Concat(x: 4x9, y: 4x3)
        b = Permute(a: 4x12 -> 12x4)                 Concat(Slice(x, 4x8), z: 4x4)
        c = Concat(Slice(b, 0..8), Permute(z: 4x4))    ->
        Permute(c: 12x4 -> 4x12)

    So assignments to slices of a value, one after the other, which an exporter brings to the front
    by Permutes: `out[:, :-1, :f] = x[:, 1:, :f]` and so on. Each is a box of the result; what is
    written over later, goes, and numbers around what remains are a Pad. The boxes are joined by
    cuts from edge to edge, in as few ops as possible; where no such cuts part them, nothing
    happens. All between is for this op alone, and fewer elements are moved than before.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.ConcatOp | top.PadOp | top.PermuteOp, rewriter: PatternRewriter
    ) -> None:
        makers = makers_of(op)
        if is_integer_tensor(op.output) or not _wastes(op, makers):
            return
        if (boxes := origins_of(op, makers)) is None:
            return
        order, boxes = _in_order_of_largest(boxes, shape_of(op.output))
        turned = sorted(order) != order
        joined = _joined(boxes)
        if joined is None:
            return
        least = _moved_by(makers) - (not _is_too_long(shape_of(op.output)))
        if _moved(joined) + turned * _size(joined) > least:
            return
        build = _Build(op, none_for(op, rewriter))
        build.finish(build.made(joined), order)
        rewriter.replace(op, build.ops)


@dataclass(frozen=True)
class _Joined:
    """Parts of a value that follow each other along an axis."""

    axis: int
    parts: "tuple[_Joined | Origin, ...]"


def _wastes(op: Operation, makers: Sequence[Operation]) -> bool:
    """Whether what is joined is joined again, in another order, without some of it, or in more
    dimensions than the chip has, of which some are of size 1.

    What rolls a value takes all of it apart and joins it once more: that stays.
    """
    joins = [one for one in makers if isinstance(one, top.ConcatOp | top.PadOp)]
    if len(joins) < 2:
        return False
    shape = shape_of(op.results[0])
    if _is_too_long(shape) or any(isinstance(one, top.PermuteOp) for one in makers):
        return True
    taken = 0
    for one in joins:
        sizes = {value: prod(shape_of(value)) for value in parts_of(one)}
        if isinstance(one, top.PadOp):
            taken += prod(shape_of(one.output)) - sizes[one.input]
        taken += sum(size for value, size in sizes.items() if not _is_of(joins, makers, value))
    return taken > prod(shape)


def _is_of(joins: Sequence[Operation], makers: Sequence[Operation], value: SSAValue) -> bool:
    """Whether a value is one of those that are joined, or moved from one."""
    maker = value.owner
    while maker in makers and maker not in joins:
        assert isinstance(maker, Operation)
        maker = parts_of(maker)[0].owner
    return maker in joins


def _is_too_long(shape: Sequence[int]) -> bool:
    return len(shape) > HARDWARE_RANK and 1 in shape


def _moved_by(makers: Sequence[Operation]) -> int:
    """How many elements ops write."""
    return sum(prod(shape_of(op.results[0])) for op in makers if not isinstance(op, VIEWS))


def _in_order_of_largest(
    boxes: Sequence[Origin], shape: Sequence[int]
) -> tuple[list[int], list[Origin]]:
    """The boxes in the order of axes in which the source of the largest has them, and where each
    axis of the result is among these; without axes of size 1 that the chip has no room for."""
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    gone = ones[: max(len(shape) - HARDWARE_RANK, 0)]
    kept = [axis for axis in range(len(shape)) if axis not in gone]
    boxes = [box.ordered(kept) for box in boxes]
    known = [box for box in boxes if isinstance(box.source, SSAValue)]
    axes = max(known, key=_size).axes if known else ()
    long = [place for place, axis in enumerate(kept) if shape[axis] != 1]
    found = {place: axes[place] for place in long if known}
    order = list(range(len(kept)))
    if None not in found.values():
        for place, axis in zip(long, sorted(found, key=lambda one: found[one] or 0), strict=False):
            order[place] = axis
    return [order.index(place) for place in range(len(kept))], [b.ordered(order) for b in boxes]


def _joined(boxes: Sequence[Origin]) -> _Joined | Origin | None:
    """Boxes as one, in the fewest ops; None when no cut from edge to edge parts them."""
    if len(boxes) == 1:
        return boxes[0]
    found: list[_Joined] = []
    for axis in range(len(boxes[0].at)):
        groups = _parted(boxes, axis)
        parts = [_joined(group) for group in groups] if len(groups) > 1 else [None]
        if None not in parts:
            found.append(_Joined(axis, tuple(part for part in parts if part is not None)))
    return min(found, key=_joins, default=None)


def _parted(boxes: Sequence[Origin], axis: int) -> list[list[Origin]]:
    """Boxes by what no cut across an axis parts, in its order."""
    groups: list[list[Origin]] = []
    end = -1
    for box in sorted(boxes, key=lambda one: one.at[axis]):
        if not groups or box.at[axis] >= end:
            groups.append([])
        groups[-1].append(box)
        end = max(end, box.at[axis] + box.sizes[axis])
    return groups


def _joins(part: _Joined | Origin) -> int:
    return 0 if isinstance(part, Origin) else 1 + sum(map(_joins, part.parts))


def _size(part: _Joined | Origin) -> int:
    return prod(part.sizes) if isinstance(part, Origin) else sum(map(_size, part.parts))


def _moved(part: _Joined | Origin) -> int:
    """How many elements are written to make a value."""
    if isinstance(part, _Joined):
        return _size(part) + sum(map(_moved, part.parts))
    if not isinstance(part.source, SSAValue) or is_known(part.source):
        return 0
    some = _size(part) != prod(shape_of(part.source))
    return (some + (_order(part) != sorted(_order(part)))) * _size(part)


def _order(box: Origin) -> list[int]:
    """The axes of the source that a box is along, in its order."""
    return [axis for axis in box.axes if axis is not None]


@dataclass
class _Build:
    """Makes ops in the place of `op`, which lends them its name."""

    op: Operation
    none: SSAValue
    ops: list[Operation] = field(default_factory=list[Operation])

    def made(self, part: _Joined | Origin) -> SSAValue:
        """A box, or what several make together: first all that is taken of other values, as Loads
        of one layer group may do that, and then what is made of it."""
        taken = {box: self._taken(box) for box in _boxes(part) if not _is_constant(box)}
        return self._joined(part, taken)

    def _joined(self, part: _Joined | Origin, taken: Mapping[Origin, SSAValue]) -> SSAValue:
        if isinstance(part, Origin):
            return taken[part] if part in taken else self._constant(part)
        beside = [_number(one) for one in part.parts]
        around = {number for number in beside if number is not None}
        # In whole numbers only zeros are the same whatever the scale.
        kept = around == {0.0} or not is_calibrated(self.op.results[0])
        if kept and len(around) == 1 and beside.count(None) == 1:
            place = beside.index(None)
            value = self._joined(part.parts[place], taken)
            return self._padded(part, place, value, around.pop())
        inputs = [self._joined(one, taken) for one in part.parts]
        shape = list(shape_of(inputs[0]))
        shape[part.axis] = sum(shape_of(value)[part.axis] for value in inputs)
        kind = tensor_like(self.op.results[0], shape)
        return self._add(
            top.ConcatOp.make(self._name(), inputs, result_types=[kind], axis=part.axis)
        )

    def finish(self, value: SSAValue, order: Sequence[int]) -> None:
        """The value as the result of `op`: its axes in this order, and those of size 1."""
        if sorted(order) != order:
            kind = tensor_like(value, [shape_of(value)[axis] for axis in order])
            value = self._add(
                top.PermuteOp.make(self._name(), (value,), result_types=[kind], order=order)
            )
        self._add(reshape(self.op.location, value, shape_of(self.op.results[0])))

    def _add(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]

    def _name(self) -> str:
        return derived_name(self.op, f"_r_box{len(self.ops)}")

    def _padded(self, part: _Joined, place: int, value: SSAValue, number: float) -> SSAValue:
        """The one part that is no number, `value`, between those that are."""
        sizes = [_along(one, part.axis) for one in part.parts]
        shape = list(shape_of(value))
        counts = [0] * (2 * len(shape))
        inner = value.owner
        if isinstance(inner, top.PadOp) and inner in self.ops and inner.val.value.data == number:
            value, counts = inner.input, list(ints(inner.paddings))  # around both at once
            self.ops.remove(inner)
            inner.erase()
        counts[part.axis] = sum(sizes[:place])
        counts[part.axis + len(shape)] = sum(sizes[place + 1 :])
        shape[part.axis] = sum(sizes)
        kind, operands = tensor_like(self.op.results[0], shape), (value, self.none)
        return self._add(
            top.PadOp.make(
                self._name(),
                operands,
                result_types=[kind],
                paddings=counts,
                mode="constant",
                val=number,
            )
        )

    def _constant(self, box: Origin) -> SSAValue:
        if isinstance(box.source, SSAValue):
            cuts = tuple(slice(cut.first, cut.first + cut.count) for cut in _cuts(box))
            values = known_values(box.source)[cuts]
            values = values.transpose(_whole_order(box)).reshape(box.sizes)
        else:
            values = np.full(box.sizes, box.source, np.float32)
        return self._add(make_weight(self.op, self._name(), values))

    def _taken(self, box: Origin) -> SSAValue:
        """What a box has of its source, in its form."""
        assert isinstance(box.source, SSAValue)
        value, cuts = box.source, _cuts(box)
        if _size(box) != prod(shape_of(value)):
            kind = tensor_like(value, [cut.count for cut in cuts])
            operands, lists = (
                (value, *[self.none] * 3),
                dict.fromkeys(("offset", "steps", "ends"), ()),
            )
            part = top.SliceOp.make(self._name(), operands, result_types=[kind], **lists)
            set_cuts(part, cuts)
            value = self._add(part)
        if (order := _whole_order(box)) != sorted(order):
            kind = tensor_like(value, [shape_of(value)[axis] for axis in order])
            value = self._add(
                top.PermuteOp.make(self._name(), (value,), result_types=[kind], order=order)
            )
        if shape_of(value) != box.sizes:
            value = self._add(reshape(self._name(), value, box.sizes))
        return value


def _boxes(part: _Joined | Origin) -> Iterator[Origin]:
    if isinstance(part, Origin):
        yield part
    else:
        for one in part.parts:
            yield from _boxes(one)


def _is_constant(box: Origin) -> bool:
    return not isinstance(box.source, SSAValue) or is_known(box.source)


def _number(part: _Joined | Origin) -> float | None:
    """The number that all elements of a part are; None where they are not known to be one."""
    if isinstance(part, Origin) and not isinstance(part.source, SSAValue):
        return part.source
    return None


def _along(part: _Joined | Origin, axis: int) -> int:
    """How long a part is along an axis."""
    if isinstance(part, Origin):
        return part.sizes[axis]
    sizes = [_along(one, axis) for one in part.parts]
    return sum(sizes) if part.axis == axis else sizes[0]


def _cuts(box: Origin) -> list[Cut]:
    """What a box has of each axis of its source."""
    counts = dict(zip(box.axes, box.sizes, strict=True))
    return [Cut(first, counts.get(axis, 1), 1) for axis, first in enumerate(box.first)]


def _whole_order(box: Origin) -> list[int]:
    """All axes of the source in the order in which a box has them; those of one element stay
    in front of the next."""
    order = iter(_order(box))
    moved = set(_order(box))
    return [next(order) if axis in moved else axis for axis in range(len(box.first))]
