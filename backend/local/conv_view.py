"""Convolutions by themselves: the shapes they are seen in, and which there are."""

from dataclasses import replace

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.lanes import tiles_rows, view_columns
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.kernels.tiling import Piece, check_window
from xdsl_tpu.backend.local.dry import element_of
from xdsl_tpu.backend.local.views import conv_axes
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.shape import known_shape


def view(op: Operation, chip: Chip) -> tuple[Viewed]:
    """A computed filter (C, 1, kh, kw) seen as one that was laid out in advance: (1, C, kh, kw).

    Raises NoKernel for integers beside floats, and windows that no command can describe.
    """
    assert isinstance(op, tpu.Conv2DOp)
    kinds = [element_of(value) for value in (op.input, op.filter, op.output)]
    if not kinds[0].is_float and {kind.bytes for kind in kinds} != {1}:
        found = " and ".join(kind.label for kind in kinds)
        raise NoKernel(f"{where(op)}: there is no convolution of {found}")
    _check_windows(op, chip)
    shape = known_shape(op.filter.type)
    table = (1, shape[0], *shape[2:]) if shape is not None and shape[1] == 1 else None
    return (Viewed((None, table, *(None for _ in op.operands[2:])), ()),)


def _check_windows(op: tpu.Conv2DOp, chip: Chip) -> None:
    rows, columns = conv_axes(op, chip.lanes)
    by_rows, by_columns = op.merged_taps()
    whole = Piece(0, columns.out)
    one_row = by_rows or rows.kernel == rows.stride == 1
    if one_row and not by_columns and tiles_rows(view_columns(columns, whole, False)):
        columns = replace(columns, stride=1)
    if by_rows:
        rows = replace(rows, stride=1)
    check_window((rows, columns), where(op))
