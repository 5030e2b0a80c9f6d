"""Sums of all segments of a row: differences of its running sums."""

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of


class SegmentSums(RewritePattern):
    """Where(m, v, CumSum(Where(t, x, 0))) -> Where(m, v, Sub(c, c turned)) with c = CumSum(x).

        Where   1x8x256x1, 0 where row <= column -> 1x8x256x256       CumSum  1x8x256x1
        CumSum  {axis = 2}                          1x8x256x256  ->   Sub     1x8x256x1, 1x8x1x256
        Where   v where row < column                1x8x256x256       Where   1x8x256x256

    Row i and column j of it is the sum of elements j + 1 to i, as state space models (Mamba-2) have
    it in their exponents; what lies above the diagonal is not read.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.WhereOp, rewriter: PatternRewriter) -> None:
        for place, sums in ((1, op.tbrn), (2, op.fbrn)):
            cumsum = None if is_none(sums) else sole_producer(sums, top.CumSumOp)
            if cumsum is None or not has_shapes(sums, op.cond):
                continue
            rows = cumsum.axis.value.data % len(shape_of(sums))
            segments = _segments(cumsum, rows)
            if segments is None:
                continue
            x, columns = segments
            read = _plane(op.cond, shape_of(sums), rows, columns, holds=place == 1)
            if read is None or (read & ~_triangle(read, 0)).any():
                continue
            given, turned = shape_of(x), list(shape_of(x))
            turned[rows], turned[columns] = 1, given[rows]
            total = top.CumSumOp.make(
                derived_name(cumsum, "_r_running"),
                (x, cumsum.dim),
                result_types=[tensor_like(sums, given)],
                axis=rows,
            )
            before = reshape(derived_name(cumsum, "_r_before"), total.output, turned)
            difference = top.SubOp.make(
                derived_name(cumsum, "_r_differences"),
                (total.output, before.output),
                result_types=[sums.type],
            )
            operands = list(op.operands)
            operands[place] = difference.output
            rewriter.replace(op, [total, before, difference, rebuilt(op, operands=operands)])
            return


def _segments(cumsum: top.CumSumOp, rows: int) -> tuple[SSAValue, int] | None:
    """What is summed up from behind the diagonal on, and the axis along which it is stretched."""
    masked = sole_producer(cumsum.input, top.WhereOp)
    if masked is None:
        return None
    zero_first = bool(masked.x_is_const) and not masked.x_const_val.value.data
    zero_last = bool(masked.y_is_const) and not masked.y_const_val.value.data
    if zero_first == zero_last:
        return None
    x = masked.fbrn if zero_first else masked.tbrn
    if is_none(x) or not has_shapes(x, masked.cond, cumsum.input):
        return None
    given, shape = shape_of(x), shape_of(cumsum.input)
    stretched = [axis for axis in range(len(shape)) if given != shape and given[axis] == 1]
    stretched = [axis for axis in stretched if shape[axis] == shape[rows] != 1]
    if len(given) != len(shape) or len(stretched) != 1 or abs(stretched[0] - rows) != 1:
        return None
    (columns,) = stretched
    if (*given[:columns], shape[columns], *given[columns + 1 :]) != tuple(shape):
        return None
    kept = _plane(masked.cond, shape, rows, columns, holds=not zero_first)
    return (x, columns) if kept is not None and (kept == _triangle(kept, -1)).all() else None


def _triangle(like: npt.NDArray[np.bool_], diagonal: int) -> npt.NDArray[np.bool_]:
    rows, columns = like.shape
    return np.tri(rows, columns, diagonal, dtype=np.bool_)


def _plane(
    cond: SSAValue, shape: tuple[int, ...], rows: int, columns: int, holds: bool
) -> npt.NDArray[np.bool_] | None:
    """Rows and columns where a known condition holds, or does not; None of others, and of one that
    is not the same along all other axes."""
    own = (1,) * (len(shape) - len(shape_of(cond))) + tuple(shape_of(cond))
    if any(size != (shape[a] if a in (rows, columns) else 1) for a, size in enumerate(own)):
        return None
    if (values := values_of(cond)) is None:
        return None
    plane = (values != 0).reshape(shape[min(rows, columns)], shape[max(rows, columns)])
    plane = plane if rows < columns else plane.T
    return plane if holds else ~plane
