"""What the lanes of a convolution's input tile hold.

Usually lane c holds channel c. When the image has few channels, the filter's rows (`ky`) and/or
columns (`kx`) can be merged into the channels (`use_3ic_optimize`): lane (c, ky, kx) then holds
the channel shifted by that tap, and the convolution runs over a smaller kernel with more of the
cube's input channels in use. The shifts are made by the load, rows and columns outside the
image are zero.

    3 channels, 4x4, stride 4, rows merged:   lane 4 * c + ky, row y  =  channel c, row 4 * y + ky
                                              kernel 1x4, stride (1, 4)
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.kernels.tiling import Axis, Piece
from xdsl_tpu.backend.kernels.transfer import fetch
from xdsl_tpu.backend.tensor import GlobalTensor, LocalTensor, ceil_div

MERGE_ROWS, MERGE_COLUMNS = 1, 2
"""Bits of `use_3ic_optimize`."""


@dataclass(frozen=True, slots=True)
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

    def inside(self, tap: int, size: int) -> Piece:
        """The indices of this tap that lie within an axis of `size`."""
        origin = self.first + tap * self.tap
        start = min(self.count, max(0, ceil_div(-origin, self.step)))
        end = min(self.count, (size - 1 - origin) // self.step + 1)
        return Piece(start, max(0, end - start))


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
    return View(
        reach.start, 1, 0, 1, reach.size, axis.kernel, axis.stride, before, after, axis.dilation
    )


def window_of(rows: View, columns: View) -> Window:
    """What the convolution command slides over a tile with these views."""
    return Window(
        (rows.kernel, columns.kernel),
        (rows.stride, columns.stride),
        (rows.before, rows.after, columns.before, columns.after),
        (rows.dilation, columns.dilation),
    )


def load_lanes(
    emitter: Emitter, target: LocalTensor, source: GlobalTensor, rows: View, columns: View
) -> None:
    """Fill a tile (n, channels * taps, rows, columns) from source (n, channels, h, w)."""
    if rows.taps * columns.taps == 1:
        start = (0, 0, rows.first, columns.first)
        n, c = source.shape[:2]
        fetch(emitter, target, source.window(start, (n, c, rows.count, columns.count)))
        return
    copies = list(_copies(source, rows, columns))
    full = (rows.count, columns.count)
    if any((copy.rows.size, copy.columns.size) != full for copy in copies):
        emitter.copy(target, 0.0)
    for copy in copies:
        _emit(emitter, target, source, copy, (rows.step, columns.step))


@dataclass(frozen=True, slots=True)
class _Copy:
    """Lanes [lane, lane + lanes): the part of the tile that lies in the image; element offsets."""

    lane: int
    lanes: int
    rows: Piece
    columns: Piece
    offset: int
    delta: int

    def joins(self, other: "_Copy") -> bool:
        """Whether `other`, a single lane, continues this one."""
        delta = other.offset - self.offset - (self.lanes - 1) * self.delta
        same = (self.rows, self.columns) == (other.rows, other.columns)
        return same and (self.lanes == 1 or delta == self.delta) and delta > 0


def _copies(source: GlobalTensor, rows: View, columns: View) -> Iterator[_Copy]:
    """One copy for each run of lanes with the same extent and a constant step in DDR."""
    run: _Copy | None = None
    for lane in _lanes(source, rows, columns):
        if run is not None and run.joins(lane):
            delta = lane.offset - run.offset if run.lanes == 1 else run.delta
            run = _Copy(run.lane, run.lanes + 1, run.rows, run.columns, run.offset, delta)
            continue
        if run is not None:
            yield run
        run = lane
    if run is not None:
        yield run


def _lanes(source: GlobalTensor, rows: View, columns: View) -> Iterator[_Copy]:
    _, channels, height, width = source.shape
    _, c_stride, h_stride, w_stride = source.strides
    lane = 0
    for c in range(channels):
        for ky in range(rows.taps):
            for kx in range(columns.taps):
                down, right = rows.inside(ky, height), columns.inside(kx, width)
                y = rows.first + ky * rows.tap + down.start * rows.step
                x = columns.first + kx * columns.tap + right.start * columns.step
                offset = c * c_stride + y * h_stride + x * w_stride
                yield _Copy(lane, 1, down, right, offset, 0)
                lane += 1


def _emit(
    emitter: Emitter,
    target: LocalTensor,
    source: GlobalTensor,
    copy: _Copy,
    steps: tuple[int, int],
) -> None:
    if not copy.rows.size or not copy.columns.size:
        return
    shape = (source.shape[0], copy.lanes, copy.rows.size, copy.columns.size)
    start = (0, copy.lane, copy.rows.start, copy.columns.start)
    n_stride, _, h_stride, w_stride = source.strides
    strides = (n_stride, copy.delta, h_stride * steps[0], w_stride * steps[1])
    address = source.address + copy.offset * source.dtype.bytes
    part = GlobalTensor(address, shape, strides, source.dtype)
    emitter.load(target.window(start, shape, emitter.chip), part)
