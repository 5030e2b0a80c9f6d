"""Few columns of many sets of rows, computed column by column where they become an image."""

import math
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, SI32, ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.abstract import BroadcastOp, UnaryOp
from xdsl_tpu.passes.canonicalize.common import VIEWS, reshape
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    module_of,
    none_for,
    rebuilt,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import shape_of

WIDEST = 16
"""Columns of a row that are taken apart at most: more are pieces of DDR that are worth a load."""

_RANK = 3
"""Sets, rows, columns."""


@dataclass(frozen=True)
class _Part:
    """A value that columns are made of: sets x rows x columns, or sets x rows where not `columned`.

    Any of them may be 1 where the op that reads it repeats them; leading ones may not be there.
    """

    value: SSAValue
    columned: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Sets, rows and columns."""
        shape = shape_of(self.value)
        whole = shape if self.columned else (*shape, 1)
        return (1,) * (_RANK - len(whole)) + whole


class ColumnsFirst(RewritePattern):
    """Permute(f(x: 8000x20x4, ..): 8000x20x10) to 10x8000x20 -> f of columns, x permuted instead.

        Concat   8000x20x4, 8000x20x6               Permute  x 64x125x20x4 -> 4x64x125x20
        Mul      8000x20x10, 8000x20x1       ->     Concat   4x64x125x20, 6x64x125x20
        Permute  8000x20x10 -> 10x8000x20           Mul      10x64x125x20, 1x64x125x20

    f is any of ops element by element, Concats and Slices of columns, and Reduces over the rows of
    a set, whose values nothing else reads. A row is a piece of DDR for itself, however short; of a
    column, each lane has those of as many sets as lie together, and at least half of the lanes
    have some. What is one column has no order. Less must be permuted than was.
    (Points of PointPillars' pillars, arXiv 1812.05784.)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.PermuteOp, rewriter: PatternRewriter) -> None:
        if (value := _turned(op)) is None:
            return
        sets, _, columns = shape_of(value)
        most = chip_of(module_of(op)).lanes
        lanes = next((count for count in range(most, most // 2 - 1, -1) if sets % count == 0), sets)
        if not 1 < columns <= WIDEST or lanes == sets:
            return
        root = _Part(value, columned=True)
        reader = next(iter(value.uses)).operation
        found = _inner(root, reader)
        leaves = {part for parts in found.values() for part in parts if part not in found}
        moved = sum(math.prod(part.shape) for part in leaves if part.shape[-1] > 1)
        if root not in found or moved >= math.prod(shape_of(value)):
            return
        build = _Builder(op, found, none_for(op, rewriter), lanes)
        result = build.by_columns(root)
        build.made.append(reshape(op.location, result, shape_of(op.output)))
        rewriter.replace(op, build.made)


class _Builder:
    """The new ops of one rewrite, in order."""

    def __init__(
        self,
        op: top.PermuteOp,
        found: dict[_Part, list[_Part]],
        none: SSAValue,
        lanes: int,
    ) -> None:
        self.op, self.found, self.none, self.lanes = op, found, none, lanes
        self.made: list[Operation] = []
        self._known: dict[_Part, SSAValue] = {}

    def by_columns(self, part: _Part) -> SSAValue:
        """A part as columns x lanes x sets of a lane x rows."""
        if part not in self._known:
            self._known[part] = self._computed(part) if part in self.found else self._leaf(part)
        return self._known[part]

    def _leaf(self, part: _Part) -> SSAValue:
        """A part that is there already: one column is only seen in another shape."""
        sets, rows, columns = part.shape
        split = self._split(sets)
        name = derived_name(self.op, f"_r_part{len(self._known)}")
        if columns == 1:
            return self._add(reshape(name, part.value, (1, *split, rows)))
        seen = self._add(reshape(f"{name}_sets", part.value, (*split, rows, columns)))
        kind = tensor_like(seen, (columns, *split, rows))
        order = [3, 0, 1, 2]
        return self._add(top.PermuteOp.make(name, (seen,), result_types=[kind], order=order))

    def _computed(self, part: _Part) -> SSAValue:
        """The result of an op of what its operands are by columns."""
        op = part.value.owner
        assert isinstance(op, Operation)
        operands = [self.by_columns(one) for one in self.found[part]]
        if isinstance(op, VIEWS):
            return operands[0]
        name = derived_name(op, "_by_columns")
        if isinstance(op, top.SliceOp):
            cut = op.cuts()[-1]
            bounds = cut.first, cut.first + cut.count
            return self._add(slice_along(name, operands[0], 0, bounds, self.none))
        sets, rows, columns = part.shape
        split = self._split(sets)
        kind = tensor_like(part.value, (columns, *split, rows))
        made = rebuilt(op, operands=operands, result_types=[kind], location=name_loc(name))
        if isinstance(made, top.ConcatOp):
            made.axis = SI32.encode(0)
        elif isinstance(made, top.ReduceOp):
            made.axes = I64_ARRAY.encode([_RANK])
        return self._add(made)

    def _split(self, sets: int) -> tuple[int, int]:
        return (self.lanes, sets // self.lanes) if sets > 1 else (1, 1)

    def _add(self, new: Operation) -> SSAValue:
        self.made.append(new)
        return new.results[0]


def _turned(op: top.PermuteOp) -> SSAValue | None:
    """What a Permute brings the last dimension of to the front, the others as they are.

    Sets x rows x columns, seen through a change of shape that keeps columns; None where something
    else reads that, and of any other order.
    """
    if not has_shapes(op.input, op.output):
        return None
    shape = shape_of(op.input)
    order = [axis for axis in ints(op.order) if shape[axis] != 1]
    last = len(shape) - 1
    if order[:1] != [last] or order[1:] != sorted(order[1:]) or not op.input.has_one_use():
        return None
    value = op.input
    if (view := sole_producer(value, top.ReshapeOp)) is not None and has_shapes(view.input):
        value = view.input
    whole = shape_of(value)
    if len(whole) != _RANK or whole[-1] != shape[-1] or not value.has_one_use():
        return None
    return value


def _inner(root: _Part, reader: Operation) -> dict[_Part, list[_Part]]:
    """What is computed by columns, and of which parts: all that only such values and `reader`
    read."""
    outside: set[_Part] = set()
    while True:
        found = _reached(root, outside)
        readers = {reader, *(part.value.owner for part in found)}
        read = {
            part for part in found if any(use.operation not in readers for use in part.value.uses)
        }
        if not read:
            return found
        outside |= read


def _reached(root: _Part, outside: set[_Part]) -> dict[_Part, list[_Part]]:
    """The parts behind `root` that ops make of parts, but for those that are `outside`."""
    found: dict[_Part, list[_Part]] = {}
    waiting = [root]
    while waiting:
        part = waiting.pop()
        other_form = _Part(part.value, columned=not part.columned)
        if part in found or part in outside or other_form in found:
            continue
        operands = _operands(part)
        sets = {1, root.shape[0]}
        if operands and all(one.shape[0] in sets for one in operands):
            found[part] = operands
            waiting += operands
    return found


def _operands(part: _Part) -> list[_Part] | None:
    """What an op makes a part of, column by column; None where it does not work by columns."""
    op, shape = part.value.owner, shape_of(part.value)
    if len(shape) != (_RANK if part.columned else _RANK - 1):
        return None
    if isinstance(op, BroadcastOp | UnaryOp):
        if not has_shapes(*op.operands):
            return None
        return [_Part(value, part.columned) for value in op.operands]
    if isinstance(op, VIEWS):
        return _seen(part, op.operands[0])
    if not part.columned:
        return None
    if isinstance(op, top.ConcatOp):
        along = op.axis.value.data % _RANK == _RANK - 1 and has_shapes(*op.inputs)
        return [_Part(value, columned=True) for value in op.inputs] if along else None
    if isinstance(op, top.ReduceOp):
        rows = has_shapes(op.input) and op.keepdims.value.data and ints(op.axes) == (1,)
        return [_Part(op.input, columned=True)] if rows else None
    if isinstance(op, top.SliceOp) and is_static(op):
        cuts = op.cuts()
        if cuts[-1].step == 1 and tuple(cut.count for cut in cuts[:-1]) == shape_of(op.input)[:-1]:
            return [_Part(op.input, columned=True)]
    return None


def _seen(part: _Part, source: SSAValue) -> list[_Part] | None:
    """The operand of a change of shape that has one column, written as a dimension or not."""
    if not has_shapes(source) or part.shape[-1] != 1:
        return None
    if part.columned and shape_of(source) == part.shape[:-1]:
        return [_Part(source, columned=False)]
    if not part.columned and shape_of(source) == part.shape:
        return [_Part(source, columned=True)]
    return None
