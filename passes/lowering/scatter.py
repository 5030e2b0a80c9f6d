"""Writing by index: rows of a matrix are replaced, or joined with what is there."""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.passes.lowering.context import LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.indexing import element_rows, linear_rows
from xdsl_tpu.passes.lowering.steps import Array, Steps
from xdsl_tpu.passes.tensors import element_of, shape_of

MOST_ROUNDS = 64
"""Updates of one element that a scatter applies one after the other."""

COMBINE: dict[int, tuple[type[NamedOp], dict[str, object]]] = {
    1: (tpu.AddOp, {}),
    2: (tpu.SubOp, {}),
    3: (tpu.MaxOp, {}),
    4: (tpu.MinOp, {}),
    5: (tpu.MulOp, {}),
}
"""Reduction of a scatter -> what joins an element and its update."""

SUMS: dict[int, type[NamedOp]] = {1: tpu.AddOp, 2: tpu.SubOp}
"""Reductions of a scatter that are sums -> what joins an element and the sum of its updates."""

LARGEST_MATRIX = 1 << 26
"""Elements of the matrix that adds up updates at computed rows."""


def _scatter_nd(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """scatter_nd(x, i, u) -> ScatterND of rows, after joining them with those of x if wanted."""
    assert isinstance(op, top.ScatterNDOp)
    do, shape, places = Steps(op, ctx), shape_of(op.input_data), shape_of(op.indices)
    depth = places[-1]
    base = np.zeros(places[:-1], np.int64)
    rows = linear_rows(do, op.indices, shape[:depth], range(depth), base)
    width = math.prod(shape[depth:])
    operands = (op.input_data, rows, op.updates)
    return [_rows_written(do, operands, width, op.reduction.value.data)]


def _scatter_elements(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """scatter_elements(x, i, u) -> ScatterND of single elements."""
    assert isinstance(op, top.ScatterElementsOp)
    do, shape = Steps(op, ctx), shape_of(op.input)
    rows = element_rows(do, op.indices, shape, op.axis.value.data % len(shape))
    operands = (op.input, rows, op.updates)
    return [_rows_written(do, operands, 1, op.as_scatter_nd(op.reduction.value.data))]


def _rows_written(
    do: Steps, operands: tuple[SSAValue, SSAValue, SSAValue], width: int, reduction: int
) -> SSAValue:
    """x, seen as a matrix of `width` columns, with rows replaced by updates or joined with them."""
    x, rows, updates = operands
    ctx, element = do.ctx, do.ctx.element
    x, updates = (ctx.as_type(value, element) for value in (x, updates))
    table = do.reshaped("table", x, (math.prod(shape_of(x)) // width, width), element)
    count = math.prod(shape_of(updates)) // width
    news = do.reshaped("news", updates, (count, width), element)
    if not reduction:
        return _written(do, "", table, rows, news)
    known = do.values(rows)
    if known is not None and len(rounds := _rounds(known)) <= MOST_ROUNDS:
        return _joined_in_rounds(do, table, news, rounds, known, reduction)
    if reduction in SUMS and element != INTEGER:
        return _summed(do, table, rows, news, SUMS[reduction])
    if count > MOST_ROUNDS:
        raise do.refuse(f"{count} updates are too many to join one after the other")
    each = [np.array([place]) for place in range(count)]
    return _joined_in_rounds(do, table, news, each, rows, reduction)


def _joined_in_rounds(
    do: Steps,
    table: SSAValue,
    news: SSAValue,
    rounds: Sequence[Array],
    rows: Array | SSAValue,
    reduction: int,
) -> SSAValue:
    """Updates joined with their rows in rounds, none of which touches a row twice.

    Rows that are computed come one at a time.
    """
    element, width = do.ctx.element, shape_of(news)[1]
    target, options = COMBINE[reduction]
    for number, chosen in enumerate(rounds):
        if isinstance(rows, SSAValue):
            first = int(chosen[0])
            at = do.cut(f"at{number}", rows, 0, first, first + 1, element_of(rows))
        else:
            at = do.integers(f"at{number}", rows[chosen])
        which = do.integers(f"which{number}", chosen)
        shape = (len(chosen), width)
        old = do.step(f"old{number}", tpu.GatherOp, [table, at], shape, element, axis=0)
        new = do.step(f"new{number}", tpu.GatherOp, [news, which], shape, element, axis=0)
        joined = do.step(f"joined{number}", target, [old, new], shape, element, **options)
        label = f"written{number}" if number + 1 < len(rounds) else ""
        table = _written(do, label, table, at, joined)
    return table


def _summed(
    do: Steps, table: SSAValue, rows: SSAValue, news: SSAValue, by: type[NamedOp]
) -> SSAValue:
    """table plus or minus the product of a matrix and the updates: 1 where an update is for a row.

    The rows are read and written back once more, which names one that is outside the table.
    """
    element, (size, width), (count, _) = do.ctx.element, shape_of(table), shape_of(news)
    if size * count > LARGEST_MATRIX:
        raise do.refuse(f"{count} updates of {size} rows are too many to add up")
    line = do.reshaped("line", rows, (1, count), element_of(rows))
    numbers = do.integers("numbers", np.arange(size).reshape(size, 1))
    equal = do.compared("equal", numbers, line, "Equal", INTEGER)
    chosen = do.step("chosen", tpu.CastOp, [equal], (size, count), element)
    total = do.step("total", tpu.MatMulOp, [chosen, news], (size, width), element)
    joined = do.step("joined", by, [table, total], (size, width), element)
    read = do.step("again", tpu.GatherOp, [joined, rows], (count, width), element, axis=0)
    return _written(do, "", joined, rows, read)


def _rounds(rows: Array) -> list[Array]:
    """Places of `rows` in as few lists as have no row twice, in order."""
    seen: dict[int, int] = {}
    rounds: list[list[int]] = []
    for place, row in enumerate(rows.tolist()):
        turn = seen.get(row, 0)
        seen[row] = turn + 1
        if turn == len(rounds):
            rounds.append([])
        rounds[turn].append(place)
    return [np.array(one, np.int64) for one in rounds]


def _written(do: Steps, label: str, table: SSAValue, rows: SSAValue, news: SSAValue) -> SSAValue:
    """`table` with rows replaced; without a label the op's result."""
    element, shape = do.ctx.element, shape_of(table)
    column = do.reshaped(f"{label}column", rows, (shape_of(rows)[0], 1), element_of(rows))
    made = do.step(
        label or "written", tpu.ScatterNDOp, [table, column, news], shape, element, reduction=0
    )
    if label:
        return made
    return do.last(tpu.ReshapeOp, [made], element, shape=list(shape_of(do.op.results[0])))


LOWERINGS: Lowerings = {
    top.ScatterElementsOp: _scatter_elements,
    top.ScatterNDOp: _scatter_nd,
}
