"""The largest elements in order: TopK as comparisons of pairs, of as few as need be.

Floats are compared in f32, integers as such. Of equal elements the first one comes first. Positions
are whole numbers in f32, exact up to 2^24.

A few of each row are found one after the other (`tpu.Best`), many by comparing all pairs: those of
short rows in DDR, all at once, those of longer ones by ops of their own (`tpu.Rank`, `tpu.Ranked`).
Of rows that are long beside what is wanted of them most elements need
not be compared: the k best are in the k groups of neighbours whose best ones are best (of equal
groups the first), since in front of an element of any other group there are k others already. So

    topk(x) -> topk(those groups of x that topk(best of each group) names)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import INTEGER, is_integer_tensor
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.ranking_steps import best_along, positions
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import shape_of

MOST_PAIRS = 1 << 25
"""Pairs of elements that are compared with each other in DDR; 128 MiB for each of their tensors."""

LONG_ROW = 128
"""Elements of rows that are ranked by an op of their own: from where there are as many pairs as
make transfers worth saving."""

LONGEST_ROW, MOST_ROWS = 1 << 16, 1 << 12
"""Elements of rows that are ranked by all pairs: 2^32 of them, some 20 million cycles a row; and
rows that are ranked one after the other, each by some hundred commands."""

GROUPS = (4, 8, 16, 32, 64, 128, 256)
"""Neighbours whose best is looked for first."""

_PER_PAIR, _PER_ELEMENT, _PER_ROUND = 2.4, 95, 1500
"""Passes over a row for each element that a lane ranks or picks, cycles that beginning them takes,
and what looking at groups first takes in ops of a few elements (docs/hardware/cycles.md)."""

_PASSES, _PER_CHOICE = 10.5, 20
"""Passes over the rows of a lane for each element that is chosen from them, one after the other,
and cycles that beginning them takes."""

PAIRS, CHOICES = 0, 1
"""Plans without groups: compare all pairs, or choose one after the other."""

_CHOICE_LINES = 8
"""Lines of f32 numbers as long as a row that are in a lane when elements are chosen from it."""

_PER_ROW, _PER_LINE = 640, 20
"""Cycles that looking at groups first takes for every further row: four more ops come and go, and
each of its groups is read with their places."""


def _top_k(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """topk(x): see the head of this file. x is seen as (outer, size, inner)."""
    assert isinstance(op, top.TopKOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    axis = op.axis.value.data % len(shape)
    outer, size, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    count = next(shape_of(r)[axis] for r in op.results if not is_none(r))
    few = outer * size * size * inner <= MOST_PAIRS
    if is_integer_tensor(op.input) and not few:
        raise do.refuse(
            f"{size} integers in each of {outer * inner} rows are too many to rank; cast them to "
            "floats before"
        )
    found = plan(size, count, outer * inner, reach(ctx.chip))
    if is_integer_tensor(op.input) or (few and size < LONG_ROW and found != CHOICES):
        return _by_pairs(do, op, (outer, size, inner), count)
    if found is None or (outer * inner > MOST_ROWS and found != CHOICES):
        raise do.refuse(
            f"{count} of {size} elements in each of {outer * inner} rows are too many to rank"
        )
    return _by_ranks(do, op, (outer, size, inner), count)


def _by_pairs(
    do: Steps, op: "top.TopKOp", sizes: tuple[int, int, int], count: int
) -> Sequence[SSAValue]:
    """topk(x) -> each element's rank is how many come before it; rank i goes to place i."""
    outer, size, inner = sizes
    element = INTEGER if is_integer_tensor(op.input) else F32
    mine = do.reshaped("mine", op.input, (outer, size, 1, inner), element)
    other = do.reshaped("other", op.input, (outer, 1, size, inner), element)
    sign = "Greater" if op.largest.value.data else "Less"
    before = do.compared("before", other, mine, sign)
    before_or_same = do.compared("before_or_same", other, mine, f"{sign}OrEqual")
    earlier = do.weight("earlier", np.tri(size, k=-1).reshape(1, size, size, 1))
    pairs = (outer, size, size, inner)
    ahead = do.step("ahead", tpu.WhereOp, [earlier, before_or_same, before], pairs)
    rank = do.reduced("rank", ahead, 2, "ReduceSum")
    rank = do.reshaped("ranks", rank, (outer, 1, size, inner), F32)
    places = do.weight("ranked", np.arange(count).reshape(1, count, 1, 1))
    hit = do.compared("hit", rank, places, "Equal")
    chosen = (outer, count, size, inner)
    results: list[SSAValue] = [*op.results]
    if not is_none(op.values):
        part = do.step(
            "chosen",
            tpu.WhereOp,
            [hit, other, do.ctx.none()],
            chosen,
            element,
            y_is_const=True,
            y_const_val=0.0,
        )
        total = best_along(do, "value", part, 2, "ReduceSum")
        shape = list(shape_of(op.values))
        results[0] = do.last(tpu.ReshapeOp, [total], element, shape=shape)
    if not is_none(op.indices):
        numbers = do.weight("positions", np.arange(size).reshape(1, 1, size, 1))
        part = do.step("position", tpu.MulOp, [hit, numbers], chosen)
        results[1] = positions(do, do.reduced("index", part, 2, "ReduceSum"), 1)
    return results


def _by_ranks(
    do: Steps, op: "top.TopKOp", sizes: tuple[int, int, int], count: int
) -> Sequence[SSAValue]:
    """topk(x) -> the best of rows, into which x is brought and from which results are."""
    outer, size, inner = sizes
    x = do.ctx.as_type(op.input, F32)
    if inner > 1:
        x = do.reshaped("planes", x, (outer, size, inner), F32)
        x = do.step("turned", tpu.PermuteOp, [x], (outer, inner, size), order=(0, 2, 1))
    x = do.reshaped("row", x, (outer * inner, size), F32)
    wanted = not is_none(op.values), not is_none(op.indices)
    found = Search(do, bool(op.largest.value.data), count).best("", x, None, wanted)
    results: list[SSAValue] = [*op.results]
    for number, (label, part) in enumerate(zip(("value", "index"), found, strict=True)):
        if part is None:
            continue
        if inner > 1:
            part = do.reshaped(f"{label}_rows", part, (outer, inner, count), F32)
            shape = (outer, count, inner)
            part = do.step(f"{label}_turned", tpu.PermuteOp, [part], shape, order=(0, 2, 1))
        if number:
            results[1] = positions(do, part, 1)
        else:
            results[0] = do.last(tpu.ReshapeOp, [part], F32, shape=list(shape_of(op.values)))
    return results


@dataclass(frozen=True)
class Search:
    """For the `count` best of rows."""

    do: Steps
    largest: bool
    count: int

    def best(
        self,
        label: str,
        x: SSAValue,
        places: SSAValue | None,
        wanted: tuple[bool, bool] = (True, True),
    ) -> tuple[SSAValue | None, SSAValue | None]:
        """The best of each row of x [rows, size] in order, and their `places`, which are their
        positions if none are given; none for what is not wanted."""
        rows, size = shape_of(x)
        group = plan(size, self.count, rows, reach(self.do.ctx.chip))
        if group == CHOICES:
            return self._chosen(f"{label}chosen", x, places, wanted)
        if group:
            x, places = self._candidates(f"{label}groups", x, places, group)
            return self.best(f"{label}best_", x, places, wanted)
        ranks = self.do.step(f"{label}ranks", tpu.RankOp, [x], (rows, size), largest=self.largest)
        if places is None and wanted[1]:
            places = self.do.weight(f"{label}positions", np.tile(np.arange(size), (rows, 1)))
        values = self._ranked(f"{label}value", x, ranks) if wanted[0] else None
        return values, self._ranked(f"{label}index", places, ranks) if wanted[1] else None

    def _chosen(
        self, label: str, x: SSAValue, places: SSAValue | None, wanted: tuple[bool, bool]
    ) -> tuple[SSAValue | None, SSAValue | None]:
        """As `best`, one element after the other; x is seen with rows that lie over the lanes."""
        do, (rows, size), count = self.do, shape_of(x), self.count
        flags = {"largest": self.largest, "values": wanted[0], "places": wanted[1]}
        shape = (1, rows, sum(wanted) * count)
        operands = [do.reshaped(f"{label}_rows", x, (1, rows, size), F32)]
        if places is not None:
            operands.append(do.reshaped(f"{label}_numbers", places, (1, rows, size), F32))
        made = do.step(label, tpu.BestOp, operands, shape, count=count, **flags)
        results: list[SSAValue | None] = []
        for what, is_wanted in zip(("values", "places"), wanted, strict=True):
            if not is_wanted:
                results.append(None)
                continue
            start = count * sum(part is not None for part in results)
            part = made
            if sum(wanted) > 1:
                part = do.cut(f"{label}_{what}", made, 2, start, start + count, F32)
            results.append(do.reshaped(f"{label}_{what}_rows", part, (rows, count), F32))
        return results[0], results[1]

    def _ranked(self, label: str, x: SSAValue | None, ranks: SSAValue) -> SSAValue:
        assert x is not None
        shape = (shape_of(x)[0], self.count)
        return self.do.step(label, tpu.RankedOp, [x, ranks], shape, count=self.count)

    def _candidates(
        self, label: str, x: SSAValue, places: SSAValue | None, group: int
    ) -> tuple[SSAValue, SSAValue]:
        """The elements among which the best ones are, in their order, and their places: of the
        groups that have the best elements, and what is left behind the last whole group."""
        do, (rows, size) = self.do, shape_of(x)
        lanes = do.ctx.chip.lanes
        groups = _groups(size, group, lanes)
        end, kept = groups * group, self.count * group
        table = self._table(f"{label}_table", x, end, group)
        mode = "ReduceMax" if self.largest else "ReduceMin"
        each = groups // lanes or 1
        planes = do.reshaped(f"{label}_planes", table, (rows, groups // each, each, group), F32)
        most = do.reduced(f"{label}_most", planes, 3, mode)
        most = do.reshaped(f"{label}_mosts", most, (rows, groups), F32)
        _, chosen = self.best(f"{label}_", most, None, (False, True))
        assert chosen is not None
        in_order = replace(self, largest=False)
        index, _ = in_order.best(f"{label}_sorted_", chosen, None, (True, False))
        assert index is not None
        chosen = index
        if rows > 1:
            first = do.weight(f"{label}_first", np.arange(rows).reshape(rows, 1) * groups)
            index = do.step(f"{label}_lines", tpu.AddOp, [chosen, first], shape_of(chosen))
        index = do.reshaped(f"{label}_line", index, (rows * self.count,), F32)
        index = do.step(f"{label}_index", tpu.CastOp, [index], shape_of(index), INTEGER)
        parts = [self._picked(f"{label}_picked", table, index, kept)]
        if places is None:
            column = do.reshaped(f"{label}_column", chosen, (rows * self.count, 1), F32)
            start = do.step(
                f"{label}_start", tpu.MulConstOp, [column], shape_of(column), const_val=float(group)
            )
            inside = do.weight(f"{label}_inside", np.arange(group).reshape(1, group))
            shape = (rows * self.count, group)
            at = do.step(f"{label}_places", tpu.AddOp, [start, inside], shape)
            parts.append(do.reshaped(f"{label}_place", at, (rows, kept), F32))
        else:
            at = self._table(f"{label}_at", places, end, group)
            parts.append(self._picked(f"{label}_place", at, index, kept))
        if end == size:
            return parts[0], parts[1]
        rest = [do.cut(f"{label}_rest", x, 1, end, size, F32)]
        if places is None:
            numbers = np.tile(np.arange(end, size), (rows, 1))
            rest.append(do.weight(f"{label}_rest_places", numbers))
        else:
            rest.append(do.cut(f"{label}_rest_places", places, 1, end, size, F32))
        shape = (rows, kept + size - end)
        joined = [
            do.step(f"{label}_{what}", tpu.ConcatOp, [part, other], shape, axis=1)
            for what, part, other in zip(("all", "all_places"), parts, rest, strict=True)
        ]
        return joined[0], joined[1]

    def _table(self, label: str, x: SSAValue, end: int, group: int) -> SSAValue:
        """Whole groups of all rows as rows of a matrix."""
        rows, size = shape_of(x)
        whole = x if end == size else self.do.cut(f"{label}_whole", x, 1, 0, end, F32)
        return self.do.reshaped(label, whole, (rows * end // group, group), F32)

    def _picked(self, label: str, table: SSAValue, index: SSAValue, kept: int) -> SSAValue:
        """Lines of a table, `kept` elements for each row."""
        lines, group = math.prod(shape_of(index)), shape_of(table)[1]
        read = self.do.step(f"{label}_lines", tpu.GatherOp, [table, index], (lines, group), axis=0)
        return self.do.reshaped(label, read, (lines * group // kept, kept), F32)


class Reach(NamedTuple):
    """Lanes, f32 numbers that each computes with at a time, and elements of the longest rows that
    are chosen from one after the other."""

    lanes: int
    units: int
    choice: int


def reach(chip: Chip) -> Reach:
    """That of a chip."""
    line = F32.size * _CHOICE_LINES
    return Reach(chip.lanes, chip.eu_bytes // F32.size, chip.local_bytes // line)


def plan(size: int, count: int, rows: int, of: Reach) -> int | None:
    """How many neighbours to take as a group, or `PAIRS`, or `CHOICES`; None: they are too many."""
    return _cheapest(size, count, rows, of)[1]


def _groups(size: int, group: int, lanes: int) -> int:
    """Groups of a row, as many in each lane; what is left is looked at element by element."""
    whole = size // group
    return whole // lanes * lanes or whole


@lru_cache(maxsize=4096)
def _cheapest(size: int, count: int, rows: int, of: Reach) -> tuple[float, int | None]:
    """Cycles of the best plan, roughly, and the plan."""
    lanes, units = of.lanes, of.units
    best: tuple[float, int | None] = (math.inf, None)
    if size <= LONGEST_ROW:
        found = -(-size // lanes) + 2 * -(-count // lanes)  # ranks, and values and places
        best = (rows * found * (_PER_PAIR * size / units + _PER_ELEMENT), PAIRS)
    if size <= of.choice:
        each = -(-rows // lanes) * _PASSES * -(-size // units) + _PER_CHOICE
        best = min(best, (count * each, CHOICES))
    for group in GROUPS:
        groups = _groups(size, group, lanes)
        left = count * group + size - groups * group
        if groups < count or left >= size:
            continue
        price = _PER_ROUND + rows * size / units
        price += (rows - 1) * (_PER_ROW + 2 * _PER_LINE * count)
        price += _cheapest(groups, count, rows, of)[0]
        price += _cheapest(left, count, rows, of)[0]
        best = min(best, (price, group))
    return best


LOWERINGS: Lowerings = {top.TopKOp: _top_k}
