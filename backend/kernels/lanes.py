"""What the lanes of a convolution's input tile hold.

Usually lane c holds channel c. When the image has few channels, the filter's rows (`ky`) and/or
columns (`kx`) can be merged into the channels (`use_3ic_optimize`): lane (c, ky, kx) then holds
the channel shifted by that tap, and the convolution runs over a smaller kernel with more of the
cube's input channels in use. The shifts are made by the load, rows and columns outside the
image are zero.

    3 channels, 4x4, stride 4, rows merged:   lane 4 * c + ky, row y  =  channel c, row 4 * y + ky
                                              kernel 1x4, stride (1, 4)
"""

from collections.abc import Hashable
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Window
from xdsl_tpu.backend.kernels.tiling import Axis, Piece
from xdsl_tpu.backend.tensor import WORD_BYTES, LocalTensor, aligned, ceil_div
from xdsl_tpu.dialects.records import record


@record(frozen=True, slots=True)
class View:
    """One axis of an input tile.

    Index j of tap k is input index `first` + k * `tap` + j * `step`; the convolution then slides
    a window of `kernel` at `stride` over the `count` indices, with padding `before` and `after`.
    """

    first: int
    step: int
    tap: int
    taps: int
    count: int
    kernel: int
    stride: int
    before: int
    after: int
    dilation: int
    insert: int = 0

    def inside(self, tap: int, size: int) -> Piece:
        """The indices of this tap that lie within an axis of `size`."""
        origin = self.first + tap * self.tap
        start = min(self.count, max(0, ceil_div(-origin, self.step)))
        end = min(self.count, (size - 1 - origin) // self.step + 1)
        return Piece(start, max(0, end - start))

    def alike(self, size: int) -> Hashable:
        """The same of views whose loads from an axis of `size` are the same but for the place."""
        first = self.first % WORD_BYTES
        return replace(self, first=first), *(self.inside(tap, size) for tap in range(self.taps))


def view_rows(axis: Axis, piece: Piece, merged: bool) -> View:
    """The view of output rows `piece`; a merged kernel leaves one row per output row."""
    if not merged:
        return _plain(axis, piece)
    first = piece.start * axis.stride - axis.before
    return View(
        first, axis.stride, axis.dilation, axis.kernel, piece.size, 1, 1, 0, 0, axis.dilation
    )


def view_columns(axis: Axis, piece: Piece, merged: bool) -> View:
    """The view of output columns `piece`; runs stay dense, so the convolution keeps the stride."""
    if not merged:
        return _plain(axis, piece)
    first = piece.start * axis.stride - axis.before
    count = (piece.size - 1) * axis.stride + 1
    return View(first, 1, axis.dilation, axis.kernel, count, 1, axis.stride, 0, 0, axis.dilation)


def _plain(axis: Axis, piece: Piece) -> View:
    reach, before, after = axis.reach(piece)
    window = (axis.kernel, axis.stride, before, after, axis.dilation, axis.insert)
    return View(reach.start, 1, 0, 1, reach.size, *window)


def window_of(rows: View, columns: View) -> Window:
    """What the convolution command slides over a tile with these views."""
    return Window(
        (rows.kernel, columns.kernel),
        (rows.stride, columns.stride),
        (rows.before, rows.after, columns.before, columns.after),
        (rows.dilation, columns.dilation),
        (rows.insert, columns.insert),
    )


def tiles_rows(columns: View) -> bool:
    """Whether windows lie side by side, without gaps, pads or overlap."""
    dense = columns.stride == columns.kernel and columns.dilation == 1
    return dense and not columns.before and not columns.after and not columns.count % columns.kernel


def one_window_a_row(
    chip: Chip, out: LocalTensor, x: LocalTensor, window: Window
) -> tuple[LocalTensor, LocalTensor, Window]:
    """The same convolution with as many rows as windows, for strides that no command can say.

    Of EU-aligned tensors whose windows are one row high and `tiles_rows` is true of, the rows of
    a lane follow each other, so that (h, windows * kernel) is (h * windows, kernel) as well.
    """
    width = window.kernel[1]
    n, lanes, height, whole = x.shape
    rows = height * (whole // width)
    return (
        aligned(chip, out.address, (n, out.shape[1], rows, 1), out.dtype),
        aligned(chip, x.address, (n, lanes, rows, width), x.dtype),
        Window((1, width)),
    )
