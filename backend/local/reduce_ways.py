"""tpu.Reduce from DDR to DDR: the ways there are."""

from collections.abc import Sequence

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.reduce import SUMS, reduced_extent
from xdsl_tpu.backend.local import column_sums, row_views, rows
from xdsl_tpu.backend.local.alone import InSlices, in_slices
from xdsl_tpu.backend.local.dry import element_of
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY
from xdsl_tpu.dialects.interfaces.lane_view import Viewed


def ways(op: Operation, chip: Chip) -> Sequence[InSlices]:
    """Rows go over the lanes in turn, or, where they become single elements, in blocks that each
    lane stores as one run; sums of columns are taken along the lanes where that is better."""
    assert isinstance(op, tpu.ReduceOp)
    extent = reduced_extent(op, row_views.shape_of(op))
    found = in_slices(rows.reduce, row_views.reduction(op, chip))
    if extent[2] > 1 and op.mode.data in SUMS:
        found.append(_along_lanes)
    if _height(extent, chip) > 1 and element_of(op.output) is element_of(op.input):
        found.append(_lane_by_lane)
    return found


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


_along_lanes = InSlices(column_sums.column_sums, column_sums.view)
_lane_by_lane = InSlices(rows.reduce, _as_planes)
