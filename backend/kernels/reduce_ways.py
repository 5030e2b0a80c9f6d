"""tpu.Reduce from DDR to DDR, in whichever way takes least time."""

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.cheapest import Way, cheapest
from xdsl_tpu.backend.kernels.column_sums import column_sums
from xdsl_tpu.backend.kernels.mapping import Types
from xdsl_tpu.backend.kernels.reduce import SUMS, describe, finished, prepared, reduced_extent
from xdsl_tpu.backend.kernels.reduction import plan_reduction
from xdsl_tpu.backend.kernels.rows import FULL, REDUCED, row_layer
from xdsl_tpu.backend.kernels.support import KernelContext
from xdsl_tpu.backend.local import rows
from xdsl_tpu.backend.local.alone import in_slices
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY
from xdsl_tpu.dialects.interfaces.lane_view import Viewed

F32 = DType.F32


def reduce(context: KernelContext, op: Operation) -> None:
    """tpu.Reduce over axes that lie next to each other.

    Rows go over the lanes in turn, or, where they become single elements, in blocks that each lane
    stores as one run; sums of columns are taken along the lanes where that is better.
    """
    assert isinstance(op, tpu.ReduceOp)
    out, x = context.value(op.output), context.value(op.input)
    extent = reduced_extent(op, x.shape)
    mode = op.mode.data
    plan = plan_reduction(extent[1], extent[2], context.chip.eu(F32.bytes))
    work = describe(op, Types(out.dtype, (x.dtype,)), plan)

    def within_lanes(context: KernelContext) -> None:
        row_layer(context, (out, x), (REDUCED, FULL), extent, work)

    def along_lanes(context: KernelContext) -> None:
        def prepare(e: Emitter, target: LocalTensor, tile: LocalTensor) -> None:
            if tile.dtype is not F32:
                e.cast(target, tile)
                tile = target
            prepared(e, mode, target, tile)

        def finish(e: Emitter, result: LocalTensor, spare: LocalTensor, total: LocalTensor) -> None:
            finished(e, mode, result, spare, total, extent[1])

        changed = prepare if mode in ("ReduceL1", "ReduceL2") else None
        column_sums(context, out, x, extent, changed, finish)

    def lane_by_lane(context: KernelContext) -> None:
        in_slices(rows.reduce, lambda op, chip: (_as_planes(extent, height),))(context, op)

    ways: list[Way] = [within_lanes]
    if extent[2] > 1 and mode in SUMS:
        ways.append(along_lanes)
    height = _height(extent, context.chip.lanes)
    if height > 1 and out.dtype is x.dtype:
        ways.append(lane_by_lane)
    if len(ways) == 1:
        within_lanes(context)
        return
    key = (mode, extent, out.dtype, x.dtype)
    cheapest(context, ways, key)(context)


def _height(extent: tuple[int, int, int], lanes: int) -> int:
    """How many rows that lie one behind the other in DDR a lane may have, so that their results do,
    too; 1 where lanes would stay empty."""
    outer, _, inner = extent
    return outer // lanes if inner == 1 and outer % lanes == 0 else 1


def _as_planes(extent: tuple[int, int, int], height: int) -> Viewed:
    """Rows as those of planes, of which each lane has one."""
    outer, size, _ = extent
    shape = (1, outer // height, height)
    attributes = {"axes": I64_ARRAY.convert([3]), "keepdims": BOOL.convert(True)}
    return Viewed(((*shape, size), None, None), (*shape, 1), attributes)
