"""Ops of which nothing but a part along one dimension is read."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.calibration.ranges import (
    Range,
    range_of,
    range_of_sum,
    scaled_range,
    set_range,
)
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.linked_dims.change import DROPPED, Axes
from xdsl_tpu.passes.linked_dims.rules import rule_of
from xdsl_tpu.passes.products import keeps_rows
from xdsl_tpu.passes.tensors import axis_behind_view, shape_of

MOVES = (top.ReshapeOp, top.PermuteOp, top.SliceOp, top.SqueezeOp, top.UnsqueezeOp)


class Part(ABC):
    """Which elements along a dimension are read."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many."""

    @abstractmethod
    def of(self, value: SSAValue, axis: int, reader: Operation) -> SSAValue:
        """Those of a value along one of its dimensions, made in front of `reader`."""


@dataclass
class Region:
    """Ops of which nothing but one part along a dimension is read, the last one first.

    `axes`: where that dimension is in the result and operands of each.
    """

    axes: Mapping[Operation, Axes]
    _new: dict[tuple[SSAValue, int], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, int], SSAValue]
    )

    @classmethod
    def behind(cls, value: SSAValue, axis: int, but: tuple[type[Operation], ...] = ()) -> "Region":
        """The ops that make a value and whose results nobody reads otherwise, up to those of the
        classes `but`."""
        found: dict[Operation, Axes] = {}
        reads = {value: [axis] * len(list(value.uses))}
        op = value.owner
        while isinstance(op, Operation):
            result = op.results[0] if len(op.results) == 1 else None
            own = reads.get(result, []) if result is not None else []
            if result is not None and own and len(own) == len(list(result.uses)):
                is_linked = len(set(own)) == 1 and not isinstance(op, but)
                axes = _axes(op, result, own[0]) if is_linked else None
                if axes is not None:
                    found[op] = axes
                    for operand in op.operands:
                        if operand in axes:
                            reads.setdefault(operand, []).append(axes[operand])
            op = op.prev_op
        return cls(found)

    def without_first_moves(self) -> "Region":
        """Without the moves in front of all else: how whole values are moved, others know
        better."""
        kept = dict(self.axes)
        for op in reversed(list(self.axes)):
            if isinstance(op, MOVES) and not any(one.owner in kept for one in op.operands):
                del kept[op]
        return Region(kept)

    @property
    def outer(self) -> set[SSAValue]:
        """The values of which a part is taken for the ops."""
        made = {op.results[0] for op in self.axes}
        return {one for axes in self.axes.values() for one in axes} - made

    def cut(self, value: SSAValue, part: Part, before: Operation | None = None) -> SSAValue:
        """Write the ops anew for one part of a value that one of them makes, in front of those
        that they replace, or of `before`."""
        for op, axes in reversed(list(self.axes.items())):
            out, place = op.results[0], before or op
            operands = [
                self._part(one, axes[one], part, place) if one in axes else one
                for one in op.operands
            ]
            kind = tensor_like(out, _shortened(shape_of(out), axes[out], part.count))
            name = name_loc(derived_name(op, "_part"))
            if isinstance(op, top.ReshapeOp):
                made: Operation = top.ReshapeOp.make(name, operands[:1], result_types=[kind])
            else:
                made = rebuilt(op, operands=operands, result_types=[kind], location=name)
            Builder(InsertPoint.before(place)).insert(made)
            _narrow(made)
            self._new[out, axes[out]] = made.results[0]
        return next(made for (old, _), made in self._new.items() if old is value)

    def _part(self, value: SSAValue, axis: int, part: Part, reader: Operation) -> SSAValue:
        """An operand's part; it is cut where no op of the region makes it."""
        known = self._new.get((value, axis))
        if known is None:
            known = self._new[value, axis] = part.of(value, axis, reader)
        return known

    def erase(self) -> None:
        """Take the old ops away, once nobody reads them."""
        for op in self.axes:
            op.detach()
            op.erase()


def _axes(op: Operation, value: SSAValue, axis: int) -> Axes | None:
    """Where in the operands of an op a dimension of its result is; None when the op needs it."""
    tensors = [one for one in (*op.operands, *op.results) if not is_none(one)]
    if len(op.results) != 1 or not has_shapes(*tensors):
        return None
    if isinstance(op, top.ReshapeOp):
        return _reshaped(op, axis)
    if isinstance(op, top.MatMulOp) and (found := _rows(op, axis)) is not None:
        return found
    rule = rule_of(op)
    found = None if rule is None else rule(op, value, axis, DROPPED)
    size = shape_of(value)[axis]
    if found is None or any(shape_of(one)[own] not in {1, size} for one, own in found.items()):
        return None
    return {one: own for one, own in found.items() if shape_of(one)[own] == size}


def _reshaped(op: top.ReshapeOp, axis: int) -> Axes | None:
    """A dimension that has as many elements in front of it before and after."""
    own = axis_behind_view(axis, shape_of(op.output), shape_of(op.input))
    return None if own is None else {op.input: own, op.output: axis}


def _rows(op: top.MatMulOp, axis: int) -> Axes | None:
    """The rows of a product are those of its left matrix."""
    given, out = len(shape_of(op.input)), len(shape_of(op.output))
    if not keeps_rows(op):
        return None
    if given != out or axis != out - 2 or op.input is op.right:
        return None
    return {op.input: axis, op.output: axis}


def _narrow(op: Operation) -> None:
    """A sum of parts with small ranges does not have the range of the whole."""
    if not isinstance(op, top.AddOp) or op.coeff is not None:
        return
    known, reach = range_of(op.output), Range(0.0, 0.0)
    for value in op.inputs:
        total = range_of_sum(reach, scaled_range(value))
        if known is None or total is None:
            return
        reach = total
    assert known is not None
    low, high = max(known.min, reach.min), min(known.max, reach.max)
    if low < high:
        set_range(op.output, Range(low, high))


def _shortened(shape: Sequence[int], axis: int, count: int) -> Shape:
    return (*shape[:axis], count, *shape[axis + 1 :])
