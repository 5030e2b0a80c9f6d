"""ScatterND and GatherND with an index that counts its own position: no index, but a dimension."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import VIEWS, reshape
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of, whole_numbers_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import axis_behind_view, element_of, shape_of

MOST_MOVED = 64
"""Elements that may be put into another order for each place whose index is no longer computed.

Where all indices are known none may: one transfer has all places, and takes as long for elements as
for rows (docs/hardware/cycles.md).
"""


@dataclass(frozen=True)
class _Counted:
    """Column `column` of an index counts its positions along dimension `along` of the index.

    `parts`: what the index is joined of; `part`, `place`: which of them has the column, and where.
    """

    column: int
    along: int
    parts: tuple[SSAValue, ...]
    part: int
    place: int


class ScatterWholeDimension(RewritePattern):
    """ScatterND(x: 64x500, [n, i[m]]: 64x80x2, u: 64x80) -> ScatterND(xT, [i[m]]: 80x1, uT).

        Tile      1x80x1 -> 64x80x1              Permute   x 64x500 -> 500x64
        Concat    W: 64x80x1, 64x80x1     ->     Permute   u 64x80 -> 80x64
        ScatterND 64x500, 64x80x2, 64x80         ScatterND 500x64, 80x1, 80x64
                                                 Permute   500x64 -> 64x500

    An assignment `x[:, i] = u`. The index W of a data dimension is the position along one dimension
    of the index, all of it, and the other indices do not differ along it: updates have the data
    dimension whole, behind those that are indexed. Elements are written in the order they were,
    also where one is written twice. (The canvas of PointPillars, arXiv 1812.05784.)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScatterNDOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input_data, op.indices, op.updates, op.output):
            return
        shape, places = shape_of(op.input_data), shape_of(op.indices)
        if (found := _counted(op.indices, shape, 0)) is None:
            return
        order = _behind(len(shape), found.column, places[-1])
        news = _behind(len(shape_of(op.updates)), found.along, len(places) - 1)
        moved = _moved(op.input_data, order) + _moved(op.updates, news) + _moved(op.output, order)
        if not _is_worth(op.indices, moved):
            return
        build = _Builder(op)
        table = build.turned("table", op.input_data, order)
        column = build.without(found)
        updates = build.turned("updates", op.updates, news)
        whole = (*shape_of(column)[:-1], *shape_of(table)[places[-1] - 1 :])
        updates = build.seen_as("news", updates, whole)
        kind = tensor_like(op.output, shape_of(table))
        operands = (table, column, updates)
        written = build.add(rebuilt(op, operands=operands, result_types=[kind]))
        build.finish(written, order)
        rewriter.replace(op, build.made)


class GatherWholeDimension(RewritePattern):
    """GatherND(x: 64x500, [n, i[m]]: 64x80x2) -> Permute(GatherND(Permute(x), [i[m]]: 80x1)).

        Concat    W: 64x80x1, 64x80x1            Permute   500x64
        GatherND  64x500, 64x80x2         ->     GatherND  500x64, 80x1 -> 80x64
                                                 Permute   80x64 -> 64x80

    `ScatterWholeDimension`, of what is read; behind dimensions of batches as well.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.GatherNDOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.indices, op.output):
            return
        shape, places, batch = shape_of(op.input), shape_of(op.indices), op.batch_dims.value.data
        if (found := _counted(op.indices, shape, batch)) is None:
            return
        order = _behind(len(shape), batch + found.column, batch + places[-1])
        back = _behind(len(shape_of(op.output)), found.along, len(places) - 1)
        moved = _moved(op.input, order) + _moved(op.output, back)
        if not _is_worth(op.indices, moved):
            return
        build = _Builder(op)
        table = build.turned("table", op.input, order)
        column = build.without(found)
        whole = (*shape_of(column)[:-1], *shape_of(table)[batch + places[-1] - 1 :])
        kind = tensor_like(op.output, whole)
        read = build.add(rebuilt(op, operands=(table, column), result_types=[kind]))
        read = build.seen_as("read", read, [shape_of(op.output)[axis] for axis in back])
        build.finish(read, back)
        rewriter.replace(op, build.made)


class _Builder:
    """The new ops of one rewrite, in order; they are named after the op that they replace."""

    def __init__(self, op: top.ScatterNDOp | top.GatherNDOp) -> None:
        self.op = op
        self.made: list[Operation] = []

    def add(self, new: Operation) -> SSAValue:
        self.made.append(new)
        return new.results[0]

    def name(self, label: str) -> str:
        return derived_name(self.op, f"_r_{label}")

    def seen_as(self, label: str, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The value under another shape, where it has not that."""
        if shape_of(value) == tuple(shape):
            return value
        return self.add(reshape(self.name(label), value, shape))

    def turned(self, label: str, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """The value with its dimensions in another order; a constant stays one."""
        if not _moved(value, order):
            return self.seen_as(label, value, [shape_of(value)[axis] for axis in order])
        known = values_of(value) if is_f32_weight(value) else None
        if is_integer_tensor(value):
            known = whole_numbers_of(value)
        if known is not None:
            made = make_weight(self.op, self.name(label), known.transpose(order), element_of(value))
            return self.add(made)
        kind = tensor_like(value, [shape_of(value)[axis] for axis in order])
        name = self.name(label)
        return self.add(top.PermuteOp.make(name, (value,), result_types=[kind], order=list(order)))

    def without(self, found: _Counted) -> SSAValue:
        """The index without the column, and without the dimension that it counted."""
        left: list[SSAValue] = []
        for number, part in enumerate(found.parts):
            width = shape_of(part)[-1]
            if number != found.part:
                one = self.once(part, found.along)
            elif width > 1:
                known = _numbers(part)
                assert known is not None
                others = known[..., [place for place in range(width) if place != found.place]]
                one = self.weight(others.take([0], found.along), part)
            else:
                continue
            shape = list(shape_of(one))
            if len(shape) > 2:  # the last dimension of places stays, as one of size 1
                del shape[found.along]
            left.append(self.seen_as(f"column{number}", one, shape))
        if len(left) == 1:
            return left[0]
        shape = (*shape_of(left[0])[:-1], sum(shape_of(one)[-1] for one in left))
        kind, axis = tensor_like(self.op.indices, shape), len(shape) - 1
        return self.add(top.ConcatOp.make(self.name("index"), left, result_types=[kind], axis=axis))

    def once(self, value: SSAValue, axis: int) -> SSAValue:
        """The value, which `_repeats` along an axis, with one element there."""
        shape = shape_of(value)
        if shape[axis] == 1:
            return value
        maker = value.owner
        shape = (*shape[:axis], 1, *shape[axis + 1 :])
        if isinstance(maker, top.TileOp) and maker.tile is not None:
            counts = [1 if at == axis else count for at, count in enumerate(ints(maker.tile))]
            inner = self.once(maker.input, axis)
            if set(counts) == {1}:
                return inner
            name = self.name(f"tiled{len(self.made)}")
            kind = tensor_like(value, shape)
            return self.add(top.TileOp.make(name, (inner,), result_types=[kind], tile=counts))
        if isinstance(maker, VIEWS):
            inner_axis = axis_behind_view(axis, shape_of(value), shape_of(maker.operands[0]))
            assert inner_axis is not None
            inner = self.once(maker.operands[0], inner_axis)
            return self.seen_as(f"view{len(self.made)}", inner, shape)
        known = whole_numbers_of(value)
        assert known is not None
        return self.weight(known.take([0], axis), value)

    def weight(self, numbers: npt.NDArray[np.int64], like: SSAValue) -> SSAValue:
        name = self.name(f"places{len(self.made)}")
        return self.add(make_weight(self.op, name, numbers, element_of(like)))

    def finish(self, value: SSAValue, order: Sequence[int]) -> None:
        """The op's result, of its dimensions in another order; with the op's name."""
        last, op = value.owner, self.op
        assert isinstance(last, Operation)
        if shape_of(value) != shape_of(op.output) or _moved(op.output, order):
            last.location = name_loc(self.name("whole"))
            back = [int(axis) for axis in np.argsort(order)]
            kind = [op.output.type]
            if _moved(op.output, order):
                self.add(top.PermuteOp.make(op.location, (value,), result_types=kind, order=back))
            else:
                self.add(reshape(op.location, value, shape_of(op.output)))


def _counted(indices: SSAValue, shape: Sequence[int], batch: int) -> _Counted | None:
    """A column of an index that counts a dimension of it, along which no other column changes.

    `shape`: of the table, whose dimension behind `batch` others the column is an index of, whole.
    """
    places = shape_of(indices)
    if places[-1] < 2 or 0 in places:
        return None
    joined, parts = indices.owner, (indices,)
    if isinstance(joined, top.ConcatOp) and joined.axis.value.data % len(places) == len(places) - 1:
        parts = tuple(joined.inputs)
    if not has_shapes(*parts):
        return None
    column = 0
    for number, part in enumerate(parts):
        known = _numbers(part)
        for place in range(shape_of(part)[-1]):
            if known is not None:
                size = shape[batch + column]
                for along in range(batch, len(places) - 1):
                    found = _Counted(column, along, parts, number, place)
                    if _counts(known[..., place], along, size) and _is_alone(found, known):
                        return found
            column += 1
    return None


def _counts(known: npt.NDArray[np.int64], along: int, size: int) -> bool:
    """Whether indices of a dimension of `size` are their own positions, from 0 to the last."""
    if known.shape[along] != size:
        return False
    line = np.arange(size).reshape(-1, *(1,) * (known.ndim - 1 - along))
    return bool((np.where(known < 0, known + size, known) == line).all())


def _is_alone(found: _Counted, known: npt.NDArray[np.int64]) -> bool:
    """Whether all columns but the one that counts are the same along the dimension counted."""
    others = np.delete(known, found.place, -1)
    if (others != others.take([0], found.along)).any():
        return False
    return all(
        number == found.part or _repeats(part, found.along)
        for number, part in enumerate(found.parts)
    )


def _repeats(value: SSAValue, axis: int) -> bool:
    """Whether a value is known to be the same all along a dimension."""
    shape, maker = shape_of(value), value.owner
    if shape[axis] == 1:
        return True
    if isinstance(maker, top.TileOp):
        if maker.tile is None or not has_shapes(maker.input):
            return False
        fits = len(ints(maker.tile)) == len(shape) == len(shape_of(maker.input))
        return fits and _repeats(maker.input, axis)
    if isinstance(maker, VIEWS):
        if not has_shapes(source := maker.operands[0]):
            return False
        inner = axis_behind_view(axis, shape, shape_of(source))
        return inner is not None and _repeats(source, inner)
    known = whole_numbers_of(value)
    return known is not None and bool((known == known.take([0], axis)).all())


def _numbers(value: SSAValue) -> npt.NDArray[np.int64] | None:
    """The numbers of a weight, also where it is seen in another shape or repeated."""
    maker = value.owner
    if isinstance(maker, VIEWS):
        inner = _numbers(maker.operands[0])
        return None if inner is None else inner.reshape(shape_of(value))
    if isinstance(maker, top.TileOp) and maker.tile is not None:
        inner = _numbers(maker.input)
        return None if inner is None else np.tile(inner, ints(maker.tile))
    return whole_numbers_of(value)


def _behind(rank: int, axis: int, end: int) -> list[int]:
    """The order of dimensions in which `axis` stands last of the first `end`."""
    return [*(at for at in range(end) if at != axis), axis, *range(end, rank)]


def _moved(value: SSAValue, order: Sequence[int]) -> int:
    """How many elements change places when dimensions take another order."""
    shape = shape_of(value)
    inner = [axis for axis in order if shape[axis] != 1]
    return 0 if inner == sorted(inner) else math.prod(shape)


def _is_worth(indices: SSAValue, moved: int) -> bool:
    """Whether so many elements may move for the places that are named by `indices`."""
    computed = 0 if _numbers(indices) is not None else math.prod(shape_of(indices)[:-1])
    return moved <= MOST_MOVED * computed
