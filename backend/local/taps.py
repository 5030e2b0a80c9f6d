"""Loads of images with filter taps as channels (`kernels/lanes.py`).

Every lane has a box of the image of its own, the rows and columns that are inside of it; boxes
alike at equal distances, as those of neighbouring taps are, become one.
"""

from collections.abc import Hashable, Iterator
from functools import lru_cache
from itertools import groupby, product

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import WORD, fetch
from xdsl_tpu.backend.local.gather_boxes import CHANNEL, pieces
from xdsl_tpu.backend.tensor import GlobalTensor, LocalTensor, Shape4, ceil_div
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap, gathered

ROW_PIECES = 8
"""In which large tiles are loaded, so that work on the first rows can begin."""

LARGE = 8192
"""Elements per lane of such a tile."""


def load_taps(
    emitter: Emitter, target: LocalTensor, source: GlobalTensor, rows: View, columns: View
) -> None:
    """Fill a tile (n, channels * taps, rows, columns) from source (n, channels, h, w)."""
    chip, (_, _, h, w) = emitter.chip, target.shape
    for gap in _gaps(target, source, rows, columns, chip):
        emitter.copy(gap, 0.0)
    parts = ROW_PIECES if h * w >= LARGE else 1
    for some in cut(h, ceil_div(h, parts)):
        boxes = _boxes(source.shape, source.strides, rows, columns, target.strides, some)
        found = pieces(boxes, target, source, chip)
        if found is None:
            raise DoesNotFit("filter taps as channels take too many transfers")
        for _, alike in groupby(found, lambda piece: _alike(piece, chip)):
            for local, ddr in emitter.alike(list(alike)):
                fetch(emitter, local, ddr)


def _alike(piece: tuple[LocalTensor, GlobalTensor], chip: Chip) -> Hashable:
    """The same for transfers that take the same commands, but for places in lanes and in DDR."""
    local, ddr = piece
    first = local.address >> chip.lane_shift
    words = local.address % WORD.bytes, ddr.address % WORD.bytes
    return (
        first and first + local.shape[1] > chip.lanes,
        words,
        local.shape,
        local.strides,
        ddr.shape,
        ddr.strides,
    )


def _gaps(
    target: LocalTensor, source: GlobalTensor, rows: View, columns: View, chip: Chip
) -> Iterator[LocalTensor]:
    """The rows and columns of a tile in which some tap sticks out of the image."""
    n, c, h, w = target.shape
    _, _, height, width = source.shape
    for view, size, axis in ((rows, height, 2), (columns, width, 3)):
        inside = _common(view, size)
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


@lru_cache(maxsize=1 << 10)
def _boxes(
    shape: Shape4, strides: Shape4, rows: View, columns: View, tile: Shape4, some: Piece
) -> IndexMap:
    """Those of all lanes, of some rows of a tile with these strides: rows that all taps have by
    themselves, as these are alike."""
    images, channels, height, width = shape
    by_n, by_c, by_h, by_w = strides
    common, found = _common(rows, height), list[Box]()
    taps = product(range(channels), range(rows.taps), range(columns.taps))
    for lane, (c, ky, kx) in enumerate(taps):
        right = columns.inside(kx, width)
        x = columns.first + kx * columns.tap + right.start * columns.step
        for part in _around(rows.inside(ky, height), common):
            start = max(part.start, some.start)
            size = min(part.end, some.end) - start
            y = rows.first + ky * rows.tap + start * rows.step
            if size > 0 < right.size:
                digits = (
                    Digit(images, tile[0], by_n),
                    Digit(size, tile[2], rows.step * by_h),
                    Digit(right.size, tile[3], columns.step * by_w),
                )
                to = lane * CHANNEL + start * tile[2] + right.start * tile[3]
                found.append(Box(to, c * by_c + y * by_h + x * by_w, digits).simplified())
    return IndexMap(tuple(gathered(found)))


def _common(view: View, size: int) -> Piece:
    """The indices of all taps that lie within an axis of `size`."""
    inside = [view.inside(tap, size) for tap in range(view.taps)]
    start = max(piece.start for piece in inside)
    return Piece(start, max(0, min(piece.end for piece in inside) - start))


def _around(piece: Piece, middle: Piece) -> list[Piece]:
    """`piece` cut at the ends of `middle`, which lies in it unless it is empty."""
    if not middle.size:
        return [piece]
    before = Piece(piece.start, middle.start - piece.start)
    return [before, middle, Piece(middle.end, piece.end - middle.end)]
