"""Which ops work on every row by itself, and which movement only changes the order of rows."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView
from xdsl_tpu.dialects.interfaces.movement import Moved, Moves, movement_of
from xdsl_tpu.dialects.interfaces.shape import Shape, known_shape
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.tensors import element_of

MOST_BOXES = 64
"""A map in more boxes is no order that a Load could follow."""


Places = NDArray[np.int64]
"""For each row of a value which row of another it is."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A value as rows: what lies along the last dimension stays together."""

    count: int
    width: int


def rows_of(value: SSAValue) -> Rows | None:
    """The rows of a value; None where its shape is not known or has no rows."""
    shape = known_shape(value.type)
    if shape is None or len(shape) < 2 or not prod(shape):
        return None
    return Rows(prod(shape[:-1]), shape[-1])


def row_operands(op: Operation) -> tuple[int, ...]:
    """The operands whose row i is all that row i of the result depends on; none for ops that do
    not work row by row.

    What else it reads must be the same for every row.
    """
    if not isinstance(op, LaneView) or isinstance(op, Moves) or len(op.results) != 1:
        return ()
    rows = rows_of(op.results[0])
    if rows is None or rows.count == 1 or not op.can_be_seen():
        return ()
    view = op.viewed(Lanes(1, rows.count))
    if view is None or tuple(view.result[:2]) != (1, rows.count):
        return ()
    other = op.viewed(Lanes(rows.count, 1))
    if other is None:
        return ()
    followed = op.followed()
    shapes = zip(op.operands, view.operands, other.operands, strict=True)
    for index, (value, across, along) in enumerate(shapes):
        if index in followed:
            own = rows_of(value)
            if own is None or own.count != rows.count:
                return ()
        elif across is not None and along is not None and _differs(across, along, rows.count):
            return ()
    return followed


def _differs(across: Shape, along: Shape, count: int) -> bool:
    """Whether an operand has a row for each of the result's, seen as (1, `count`, ..), and as
    (`count`, 1, ..)."""
    return len(across) > 1 and (along[0], across[1]) == (count, count)


def moved(op: Operation) -> tuple[Moved, ...]:
    """Where the elements of the result of an op that only moves them come from; nothing for all
    others."""
    movement = movement_of(op)
    if movement is None or movement.border is not None:
        return ()
    kinds = {_numbers(op.operands[part.operand]) for part in movement.parts}
    return movement.parts if kinds == {_numbers(op.results[0])} else ()


def _numbers(value: SSAValue) -> tuple[Attribute, ...]:
    """What the elements of a value are: of integers not what a cast made them of, which their types
    say, too (`!quant.uniform<i8:f16, ..>` and `<i8:f32, ..>` of one scale are the same numbers)."""
    kind = element_of(value)
    if not isinstance(kind, UniformType):
        return (kind,)
    return tuple(part for part in kind.parameters if part != kind.expressed)


def row_map(moves: IndexMap, source: SSAValue, target: SSAValue) -> IndexMap | None:
    """The order of rows that a map of elements is; None where it is more than that, or gives some
    of as many rows several times."""
    rows = rows_of(source)
    if rows is None or rows != rows_of(target) or len(moves.boxes) > MOST_BOXES:
        return None
    found = moves.in_rows(rows.width)
    return found if found is not None and _gives_each_once(found, rows.count) else None


def _gives_each_once(rows: IndexMap, count: int) -> bool:
    """Whether so many rows are all of the source's."""
    if len(rows.boxes) == 1 and len(rows.boxes[0].digits) <= 1:
        return all(digit.at for digit in rows.boxes[0].digits)
    given = np.bincount(places_of(rows, count), minlength=count)
    return bool((given == 1).all())


def inverse(rows: IndexMap) -> IndexMap:
    """The map back, of one that gives every row once."""
    return IndexMap(
        tuple(
            Box(box.at, box.to, tuple(Digit(d.extent, d.at, d.to) for d in box.digits)).simplified()
            for box in rows.boxes
        )
    )


def places_of(rows: IndexMap, count: int) -> Places:
    """For each of `count` rows which row of the source it is."""
    places = np.empty(count, np.int64)
    for box in rows.boxes:
        to, at = np.array([box.to]), np.array([box.at])
        for digit in box.digits:
            steps = np.arange(digit.extent)
            to = np.add.outer(to, steps * digit.to).ravel()
            at = np.add.outer(at, steps * digit.at).ravel()
        places[to] = at
    return places
