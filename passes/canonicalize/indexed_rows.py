"""GatherElements and ScatterElements whose indices are the same for all columns: whole rows."""

import math
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import make_weight, whole_numbers_of
from xdsl_tpu.passes.graph import derived_name, has_shapes
from xdsl_tpu.passes.tensors import element_of, shape_of


@dataclass(frozen=True)
class _Rows:
    """Indices before they were repeated for each column: of as many tables as `tables` has.

    `made`: the weight that holds them where it is a new one.
    """

    indices: SSAValue
    tables: tuple[int, ...]
    made: list[Operation] = field(default_factory=list[Operation])


class GatherOfRows(RewritePattern):
    """GatherElements(x: 8x32, Tile(i: 4x1) to 4x32) -> Gather(x, Reshape(i): 4).

    Where each of several tables has indices of its own: GatherND(x: 2x8x32, Reshape(i): 2x4x1) with
    one batch dimension. A row is one transfer instead of one for each element.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.GatherElementsOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.indices, op.output):
            return
        axis = op.axis.value.data % len(shape_of(op.input))
        rows = _rows(op.indices, shape_of(op.input), axis, op)
        if rows is None:
            return
        count = shape_of(op.indices)[axis]
        kind = [op.output.type]
        if math.prod(rows.tables) == 1:
            line = reshape(derived_name(op, "_r_rows"), rows.indices, (count,))
            made = top.GatherOp.make(
                op.location, (op.input, line.output), result_types=kind, axis=axis
            )
        else:
            column = (*rows.tables, count, 1)
            line = reshape(derived_name(op, "_r_rows"), rows.indices, column)
            made = top.GatherNDOp.make(
                op.location, (op.input, line.output), result_types=kind, batch_dims=axis
            )
        rewriter.replace(op, [*rows.made, line, made])


class ScatterOfRows(RewritePattern):
    """ScatterElements(x: 8x32, Tile(i: 4x1) to 4x32, u) -> ScatterND(x, Reshape(i): 4x1, u)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScatterElementsOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.indices, op.updates):
            return
        shape = shape_of(op.input)
        axis = op.axis.value.data % len(shape)
        rows = _rows(op.indices, shape, axis, op)
        if rows is None or math.prod(shape[:axis]) != 1:
            return
        count = shape_of(op.indices)[axis]
        x, news = op.input, op.updates
        made = [*rows.made, reshape(derived_name(op, "_r_rows"), rows.indices, (count, 1))]
        column = made[-1].results[0]
        if axis:
            made.append(reshape(derived_name(op, "_r_table"), x, shape[axis:]))
            x = made[-1].results[0]
            made.append(reshape(derived_name(op, "_r_news"), news, (count, *shape[axis + 1 :])))
            news = made[-1].results[0]
        reduction = op.as_scatter_nd(op.reduction.value.data)
        name = derived_name(op, "_r_scattered") if axis else op.location
        written = top.ScatterNDOp.make(
            name, (x, column, news), result_types=[x.type], reduction=reduction
        )
        made.append(written)
        if axis:
            made.append(reshape(op.location, written.output, shape))
        rewriter.replace(op, made)


def _rows(indices: SSAValue, shape: tuple[int, ...], axis: int, near: Operation) -> _Rows | None:
    """Indices along `axis` that are the same all along every later dimension of `shape`, which they
    cover as they do the earlier ones; None of others, and where no dimension follows."""
    places = shape_of(indices)
    tables, columns = shape[:axis], shape[axis + 1 :]
    if math.prod(columns) == 1 or (places[:axis], places[axis + 1 :]) != (tables, columns):
        return None
    repeated = indices.owner
    if isinstance(repeated, top.TileOp) and repeated.tile is not None:
        source = shape_of(repeated.input)
        if len(source) != len(ints(repeated.tile)) or source[axis] != places[axis]:
            return None
        if math.prod(source[axis + 1 :]) != 1 or source[:axis] not in (tables, (1,) * axis):
            return None
        return _Rows(repeated.input, source[:axis])
    if (known := whole_numbers_of(indices)) is None:
        return None
    first = known[(..., slice(None), *(slice(0, 1) for _ in columns))]
    if not np.array_equal(np.broadcast_to(first, known.shape), known):
        return None
    one = first[(slice(0, 1),) * axis]
    if np.array_equal(np.broadcast_to(one, first.shape), first):
        first = one
    weight = make_weight(near, derived_name(near, "_r_indices"), first, element_of(indices))
    return _Rows(weight.output, first.shape[:axis], [weight])
