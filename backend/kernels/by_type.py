"""Ops that have kernels of their own for quantised integers, and for filters of one channel."""

from dataclasses import replace

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.lanes import tiles_rows, view_columns
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.kernels.tiling import Piece, check_window
from xdsl_tpu.backend.local import by_type
from xdsl_tpu.backend.local.alone import in_slices
from xdsl_tpu.backend.local.views import conv_axes
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.shape import known_shape


def _as_table(op: Operation, chip: Chip) -> tuple[Viewed]:
    """A computed filter (C, 1, kh, kw) seen as one that was laid out in advance: (1, C, kh, kw)."""
    assert isinstance(op, tpu.Conv2DOp)
    shape = known_shape(op.filter.type)
    table = (1, shape[0], *shape[2:]) if shape is not None and shape[1] == 1 else None
    return (Viewed((None, table, *(None for _ in op.operands[2:])), ()),)


_in_slices = in_slices(by_type.conv2d, view=_as_table)


def conv2d(context: KernelContext, op: Operation) -> None:
    """`tpu.Conv2D`, slice by slice.

    Raises TpuError for integers beside floats, and windows that no command can describe.
    """
    assert isinstance(op, tpu.Conv2DOp)
    kinds = [context.value(v).dtype for v in (op.input, op.filter, op.output)]
    if not kinds[0].is_float and {kind.bytes for kind in kinds} != {1}:
        found = " and ".join(kind.label for kind in kinds)
        raise NoKernel(f"{where(op)}: there is no convolution of {found}")
    rows, columns = conv_axes(op, context.chip.lanes)
    by_rows, by_columns = op.merged_taps()
    whole = Piece(0, columns.out)
    one_row = by_rows or rows.kernel == rows.stride == 1
    if one_row and not by_columns and tiles_rows(view_columns(columns, whole, False)):
        columns = replace(columns, stride=1)
    if by_rows:
        rows = replace(rows, stride=1)
    check_window((rows, columns), where(op))
    _in_slices(context, op)
