"""Ops that compute nothing: every element of the result is one of an operand, or a constant.

Which one is an index map for each operand. Chains of such ops compose to one map between where a
value is made and where it is read, and one emitter carries out any map.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap, row_major
from xdsl_tpu.dialects.interfaces.shape import Shape, UnknownShapeError, known_shape


@dataclass(frozen=True, slots=True)
class Moved:
    """The elements of the result that come from one operand."""

    operand: int
    map: IndexMap


@dataclass(frozen=True, slots=True)
class Movement:
    """Where all `size` elements of a result come from; what no part gives is `border`."""

    size: int
    parts: tuple[Moved, ...]
    border: float | None = None


class Moves(Operation, ABC):
    """An op with one result that only moves elements, at least with some attributes."""

    @abstractmethod
    def movement(self) -> Movement | None:
        """Where the elements come from; None when the op also computes, or decides at run time."""

    def is_read_by_strides(self) -> bool:
        """Whether whoever loads the result can read the operand in its order instead."""
        return False

    def may_be_read_by_strides(self) -> bool:
        """The same of an op that is as good in a group: where it is in none, Loads do it."""
        return self.is_read_by_strides()

    def clamps(self) -> bool:
        """Whether a ReLU follows, so that the op is more than its movement."""
        relu = self.attributes.get("do_relu")
        return relu == BoolAttr.from_bool(True)

    def static_shape(self, operand: int) -> Shape:
        """The shape of an operand; raises UnknownShapeError when it is not known."""
        return _known(self.operands[operand].type)

    def made_shape(self) -> Shape:
        """The shape of the result; raises UnknownShapeError when it is not known."""
        return _known(self.results[0].type)


class KeepsOrder(Moves, ABC):
    """An op that only gives its first operand another shape."""

    def movement(self) -> Movement | None:
        size = prod(self.static_shape(0))
        return Movement(size, (Moved(0, IndexMap.identity(size)),))


@dataclass(frozen=True)
class Rows:
    """Rows of `table`, which lies row-major, that `index` names one after the other."""

    table: SSAValue
    index: SSAValue


class PicksRows(Operation, ABC):
    """An op with one result whose elements are whole rows of a table, at least with some
    attributes; which ones, is known when the program runs."""

    @abstractmethod
    def rows(self) -> Rows | None:
        """What is picked; None when it is not along the first axis, or shapes are not known."""


def keeps_order(op: Operation) -> bool:
    """Whether an op gives all elements of one operand as they are, whatever else it might do: from
    DDR to DDR there is nothing to be done for it."""
    movement = movement_of(op)
    if movement is None or movement.border is not None or len(movement.parts) != 1:
        return False
    (part,) = movement.parts
    shape = known_shape(op.operands[part.operand].type)
    whole = shape is not None and prod(shape) == movement.size
    return whole and part.map == IndexMap.identity(movement.size)


def movement_of(op: Operation) -> Movement | None:
    """What an op moves; None for one that does anything else, or whose shapes are not known."""
    try:
        return op.movement() if isinstance(op, Moves) and not op.clamps() else None
    except UnknownShapeError:
        return None


def single_map(op: Operation) -> IndexMap | None:
    """What an op does that only moves elements of its first operand; None of all others."""
    movement = movement_of(op)
    if movement is None or movement.border is not None or len(movement.parts) != 1:
        return None
    part = movement.parts[0]
    return part.map if part.operand == 0 else None


def in_bounds(movement: Movement, sizes: Sequence[int]) -> bool:
    """Whether all boxes stay within the result and within operands of these sizes."""
    for part in movement.parts:
        for box in part.map.boxes:
            turns = [(d.extent - 1) * d.at for d in box.digits]
            first = box.at + sum(turn for turn in turns if turn < 0)
            last = box.at + sum(turn for turn in turns if turn > 0)
            end = box.to + sum((d.extent - 1) * d.to for d in box.digits)
            forward = box.to >= 0 and all(d.extent > 0 and d.to > 0 for d in box.digits)
            if not (forward and end < movement.size and 0 <= first <= last < sizes[part.operand]):
                return False
    return True


@dataclass(frozen=True, slots=True)
class Along:
    """What happens along one axis: `count` elements, the first at `to` in the result and `at` in
    the source, and how far apart they are there, in elements of the axis (0 repeats)."""

    count: int
    to: int = 0
    at: int = 0
    to_step: int = 1
    at_step: int = 1


def window(target: Sequence[int], source: Sequence[int], axes: Sequence[Along]) -> Box:
    """The box of a rectangle of one tensor that goes into a rectangle of another, axis by axis."""
    far, near = row_major(target), row_major(source)
    digits = tuple(
        Digit(one.count, one.to_step * to, one.at_step * at)
        for one, to, at in zip(axes, far, near, strict=True)
    )
    first = sum(one.to * stride for one, stride in zip(axes, far, strict=True))
    begin = sum(one.at * stride for one, stride in zip(axes, near, strict=True))
    return Box(first, begin, digits).simplified()


def rectangles(
    target: Sequence[int], source: Sequence[int], axes: Sequence[Sequence[Along]]
) -> IndexMap:
    """The map of every combination of what is done along the axes."""
    return IndexMap(
        tuple(
            window(target, source, choice)
            for choice in product(*axes)
            if all(one.count for one in choice)
        )
    )


def padded_axis(size: int, before: int, after: int, mode: str) -> tuple[Along, ...]:
    """An axis with something around it: nothing ("constant"), copies of the ends ("edge") or what
    lies behind them, seen backwards ("reflect")."""
    middle = Along(size, to=before)
    if mode == "edge":
        ends = Along(before, at_step=0), Along(after, before + size, size - 1, at_step=0)
    elif mode == "reflect":
        ends = (
            Along(before, at=before, at_step=-1),
            Along(after, before + size, size - 2, at_step=-1),
        )
    else:
        return (middle,)
    return ends[0], middle, ends[1]


def _known(kind: Attribute) -> Shape:
    shape = known_shape(kind)
    if shape is None:
        raise UnknownShapeError(f"{kind} has no static shape")
    return shape
