"""Convolutions with a stride beyond what a command can say: patch embeddings.

The kernel is cut into chunks of at most as many taps along the axis as the longest stride. For each
chunk the columns (rows) that it reads are put side by side in local memory, where a stride of the
chunk's own length walks from one window to the next; the chunks' results are added up in f32.

    stride 16, kernel 16, chunk of taps 8..15:    columns 8..15, 24..31, 40..47, ...
                                                  are 8 apart, kernel 8, stride 8
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_tpu.backend.emitter import Emitter, Window
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.lanes import View
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.tensor import (
    GlobalTensor,
    LocalTensor,
    Shape4,
    align,
    aligned,
    ceil_div,
    compact,
    strided,
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some taps of a kernel along both axes."""

    rows: Piece
    columns: Piece

    @property
    def positions(self) -> int:
        """Kernel positions in it."""
        return self.rows.size * self.columns.size


def chunks_of(rows: View, columns: View) -> list[Chunk]:
    """The kernel in chunks; whole along an axis whose stride a command can say."""
    return [Chunk(down, right) for down in _taps(rows) for right in _taps(columns)]


def _taps(view: View) -> tuple[Piece, ...]:
    if view.stride <= LIMITS.window_stride:
        return (Piece(0, view.kernel),)
    parts = ceil_div(view.kernel, LIMITS.window_stride)
    return cut(view.kernel, ceil_div(view.kernel, parts))


def cell_shape(x: Shape4, chunk: Chunk, rows: View, columns: View, out: tuple[int, int]) -> Shape4:
    """The tile that a chunk convolves, for an input tile of shape x and out (h, w) results."""
    height = out[0] * chunk.rows.size if rows.stride > LIMITS.window_stride else x[2]
    width = out[1] * chunk.columns.size if columns.stride > LIMITS.window_stride else x[3]
    return x[0], x[1], height, width


def gather_cells(
    emitter: Emitter,
    address: int,
    x: LocalTensor,
    chunk: Chunk,
    views: tuple[View, View],
    out: tuple[int, int],
) -> LocalTensor:
    """Copy what a chunk reads of the input tile into a tile of its own at `address`."""
    rows, columns = views
    cells = aligned(emitter.chip, address, cell_shape(x.shape, chunk, rows, columns, out), x.dtype)
    far_rows, far_columns = (view.stride > LIMITS.window_stride for view in views)
    width, steps = cells.shape[3], (chunk.rows.size if far_rows else 1, chunk.columns.size)
    for image in range(x.shape[0]):
        for row in range(steps[0]):
            down = (chunk.rows.start + row) if far_rows else 0
            right = chunk.columns.start if far_columns else 0
            count = out[0] if far_rows else x.shape[2]
            source_row = x.strides[2] * (rows.stride if far_rows else 1)
            if far_columns:
                shape = (count, x.shape[1], out[1], steps[1])
                near = (source_row, x.strides[1], columns.stride, 1)
                dense = (width * steps[0], cells.strides[1], steps[1], 1)
            else:
                shape = (count, x.shape[1], 1, width)
                near = (source_row, x.strides[1], width, 1)
                dense = (width * steps[0], cells.strides[1], width, 1)
            emitter.copy(
                strided(cells.at(image, 0, row), shape, dense, x.dtype),
                strided(x.at(image, 0, down, right), shape, near, x.dtype),
            )
    return cells


def chunk_window(chunk: Chunk, rows: View, columns: View) -> Window:
    """What slides over a chunk's tile."""
    steps = [
        part.size if view.stride > LIMITS.window_stride else view.stride
        for view, part in ((rows, chunk.rows), (columns, chunk.columns))
    ]
    return Window(
        (chunk.rows.size, chunk.columns.size),
        (steps[0], steps[1]),
        (rows.before, rows.after, columns.before, columns.after),
        (rows.dilation, columns.dilation),
    )


def chunk_filters(
    emitter: Emitter, address: int, source: GlobalTensor, chunks: list[Chunk], columns: View
) -> Iterator[tuple[LocalTensor, LocalTensor, GlobalTensor]]:
    """For each chunk: its filter as an operand, and the copy that fills it.

    source (1, oc, blocks, positions * channels) as for a plain convolution; the chunks' filters
    lie one behind the other from `address` on.
    """
    chip = emitter.chip
    _, oc, blocks, _ = source.shape
    cube = source.shape[3] // sum(chunk.positions for chunk in chunks)
    for chunk in chunks:
        row = chunk.columns.size * cube
        operand = compact(chip, address, (1, oc, blocks, chunk.positions * cube), source.dtype)
        shape = (blocks, oc, chunk.rows.size, row)
        block = chunk.positions * cube
        local = strided(address, shape, (block, block * blocks, row, 1), source.dtype)
        first = (chunk.rows.start * columns.kernel + chunk.columns.start) * cube
        ddr = GlobalTensor(
            source.address + first * source.dtype.bytes,
            shape,
            (source.strides[2], source.strides[1], columns.kernel * cube, 1),
            source.dtype,
        )
        yield operand, local, ddr
        size = ceil_div(oc, chip.lanes) * blocks * block * source.dtype.bytes
        address += align(size, chip.eu_bytes)
