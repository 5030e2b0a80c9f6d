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
from functools import lru_cache
from itertools import product

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.kernels.tiling import Axis, Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch
from xdsl_tpu.backend.tensor import GlobalTensor, LocalTensor, Shape4, aligned, ceil_div

ROW_PIECES = 8
"""In which large tiles of merged taps are loaded."""

LARGE = 8192
"""Elements per lane of such a tile."""


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
    insert: int = 0

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


Part = tuple[LocalTensor, GlobalTensor]
"""One copy: where to and where from, of the same shape."""


def load_lanes(
    emitter: Emitter, target: LocalTensor, source: GlobalTensor, rows: View, columns: View
) -> None:
    """Fill a tile (n, channels * taps, rows, columns) from source (n, channels, h, w).

    Large tiles of merged taps come some rows at a time, so that work on the first can begin.
    """
    chip = emitter.chip
    for gap in _gaps(target, source, rows, columns, chip):
        emitter.copy(gap, 0.0)
    parts = _lane_parts(chip, target, source, rows, columns)
    merged = rows.taps * columns.taps > 1
    pieces = ROW_PIECES if merged and target.shape[2] * target.shape[3] >= LARGE else 1
    for some in cut(target.shape[2], ceil_div(target.shape[2], pieces)):
        for local, ddr in parts if pieces > 1 else ():
            _fetch_rows(emitter, local, ddr, some, target)
    for local, ddr in parts if pieces == 1 else ():
        fetch(emitter, local, ddr)


def _fetch_rows(
    emitter: Emitter, local: LocalTensor, ddr: GlobalTensor, rows: Piece, tile: LocalTensor
) -> None:
    """Load those rows of one copy that are among `rows` of the tile."""
    n, c, h, w = local.shape
    offset = (local.address - tile.address) & (emitter.chip.local_bytes - 1)
    first = offset // local.dtype.bytes % local.strides[1] // local.strides[2]
    start, end = max(rows.start - first, 0), min(rows.end - first, h)
    if start < end:
        place, shape = (0, 0, start, 0), (n, c, end - start, w)
        fetch(emitter, local.window(place, shape, emitter.chip), ddr.window(place, shape))


def _lane_parts(
    chip: Chip, target: LocalTensor, source: GlobalTensor, rows: View, columns: View
) -> list[Part]:
    """The copies that fill a tile; what they leave out is padding."""
    if rows.taps * columns.taps == 1:
        n, c = source.shape[:2]
        start, shape = (0, 0, rows.first, columns.first), (n, c, rows.count, columns.count)
        return [(target, source.window(start, shape))]
    runs = _runs(source.shape, source.strides, rows, columns)
    return [_part(chip, target, source, run, (rows.step, columns.step)) for run in runs]


def _gaps(
    target: LocalTensor, source: GlobalTensor, rows: View, columns: View, chip: Chip
) -> Iterator[LocalTensor]:
    """The rows and columns of a tile in which some tap sticks out of the image."""
    if rows.taps * columns.taps == 1:
        return
    n, c, h, w = target.shape
    _, _, height, width = source.shape
    for view, size, axis in ((rows, height, 2), (columns, width, 3)):
        inside = _common([view.inside(tap, size) for tap in range(view.taps)])
        if not inside.size:
            yield target
            return
        for piece in (Piece(0, inside.start), Piece(inside.end, view.count - inside.end)):
            if not piece.size:
                continue
            if axis == 2:
                yield target.window((0, 0, piece.start, 0), (n, c, piece.size, w), chip)
            else:
                yield target.window((0, 0, 0, piece.start), (n, c, h, piece.size), chip)


@dataclass(frozen=True, slots=True)
class _Run:
    """Lanes [lane, lane + lanes) of some rows and columns of the tile, `delta` elements apart."""

    lane: int
    lanes: int
    rows: Piece
    columns: Piece
    offset: int
    delta: int

    def joins(self, other: "_Run") -> bool:
        """Whether `other`, a single lane, continues this one."""
        delta = other.offset - self.offset - (self.lanes - 1) * self.delta
        place = self.rows == other.rows and self.columns == other.columns
        step = delta == self.delta if self.lanes > 1 else delta > 0
        return place and step and other.lane == self.lane + self.lanes


@lru_cache(maxsize=1 << 10)
def _runs(shape: Shape4, strides: Shape4, rows: View, columns: View) -> tuple[_Run, ...]:
    """The copies that fill a tile; slices are priced and emitted many times."""
    return tuple(_joined(_lanes(shape, strides, rows, columns)))


def _joined(lanes: Iterator[_Run]) -> Iterator[_Run]:
    """Neighbouring lanes with the same extent and a constant step in DDR become one run."""
    open_runs: dict[tuple[Piece, Piece], _Run] = {}
    for lane in lanes:
        key = (lane.rows, lane.columns)
        run = open_runs.get(key)
        if run is None or not run.joins(lane):
            if run is not None:
                yield run
            open_runs[key] = lane
            continue
        delta = lane.offset - run.offset if run.lanes == 1 else run.delta
        open_runs[key] = _Run(run.lane, run.lanes + 1, run.rows, run.columns, run.offset, delta)
    yield from open_runs.values()


def _lanes(shape: Shape4, strides: Shape4, rows: View, columns: View) -> Iterator[_Run]:
    """Every lane's part of the image: the rows that all taps have, and those that only it has."""
    _, channels, height, width = shape
    _, c_stride, h_stride, w_stride = strides
    taps = product(range(channels), range(rows.taps), range(columns.taps))
    common = _common([rows.inside(tap, height) for tap in range(rows.taps)])
    for lane, (c, ky, kx) in enumerate(taps):
        right = columns.inside(kx, width)
        x = columns.first + kx * columns.tap + right.start * columns.step
        for down in _around(rows.inside(ky, height), common):
            y = rows.first + ky * rows.tap + down.start * rows.step
            if down.size and right.size:
                offset = c * c_stride + y * h_stride + x * w_stride
                yield _Run(lane, 1, down, right, offset, 0)


def _common(pieces: list[Piece]) -> Piece:
    start = max(piece.start for piece in pieces)
    return Piece(start, max(0, min(piece.end for piece in pieces) - start))


def _around(piece: Piece, middle: Piece) -> list[Piece]:
    """`piece` cut at the ends of `middle`, which lies in it unless it is empty."""
    if not middle.size:
        return [piece]
    before = Piece(piece.start, middle.start - piece.start)
    return [before, middle, Piece(middle.end, piece.end - middle.end)]


def _part(
    chip: Chip, target: LocalTensor, source: GlobalTensor, run: _Run, steps: tuple[int, int]
) -> Part:
    shape = (source.shape[0], run.lanes, run.rows.size, run.columns.size)
    start = (0, run.lane, run.rows.start, run.columns.start)
    n_stride, _, h_stride, w_stride = source.strides
    strides = (n_stride, run.delta, h_stride * steps[0], w_stride * steps[1])
    address = source.address + run.offset * source.dtype.bytes
    return target.window(start, shape, chip), GlobalTensor(address, shape, strides, source.dtype)
