"""tpu.Reduce from DDR to DDR, in whichever way takes least time."""

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.cheapest import Way, cheapest
from xdsl_tpu.backend.kernels.reduce import SUMS, reduced_extent
from xdsl_tpu.backend.kernels.support import KernelContext
from xdsl_tpu.backend.local import column_sums, row_views, rows
from xdsl_tpu.backend.local.alone import in_slices
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY
from xdsl_tpu.dialects.interfaces.lane_view import Viewed

_within_lanes = in_slices(rows.reduce, row_views.reduction)
_along_lanes = in_slices(column_sums.column_sums, column_sums.view)


def reduce(context: KernelContext, op: Operation) -> None:
    """tpu.Reduce over axes that lie next to each other.

    Rows go over the lanes in turn, or, where they become single elements, in blocks that each lane
    stores as one run; sums of columns are taken along the lanes where that is better.
    """
    assert isinstance(op, tpu.ReduceOp)
    out, x = context.value(op.results[0]), context.value(op.input)
    extent = reduced_extent(op, x.shape)
    mode = op.mode.data
    ways: list[Way] = [lambda context: _within_lanes(context, op)]
    if extent[2] > 1 and mode in SUMS:
        ways.append(lambda context: _along_lanes(context, op))
    if _height(extent, context.chip) > 1 and out.dtype is x.dtype:
        ways.append(lambda context: _lane_by_lane(context, op))
    key = (mode, extent, out.dtype, x.dtype)
    way = ways[0] if len(ways) == 1 else cheapest(context, ways, key)
    way(context)


def _height(extent: row_views.Extent, chip: Chip) -> int:
    """How many rows that lie one behind the other in DDR a lane may have, so that their results do,
    too; 1 where lanes would stay empty."""
    outer, _, inner = extent
    return outer // chip.lanes if inner == 1 and outer % chip.lanes == 0 else 1


def _as_planes(op: Operation, chip: Chip) -> tuple[Viewed]:
    """Rows as those of planes, of which each lane has one."""
    assert isinstance(op, tpu.ReduceOp)
    extent = reduced_extent(op, row_views.shape_of(op))
    outer, size, _ = extent
    height = _height(extent, chip)
    shape = (1, outer // height, height)
    attributes = {"axes": I64_ARRAY.convert([3]), "keepdims": BOOL.convert(True)}
    return (Viewed(((*shape, size), None, None), (*shape, 1), attributes),)


_lane_by_lane = in_slices(rows.reduce, _as_planes)
