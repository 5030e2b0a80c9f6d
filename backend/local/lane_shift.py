"""Moving channels to other lanes: copied one by one, or transposed, moved along, transposed back.

The copy between lanes takes a pass for every channel. A transposition takes one for every lane
group of pixels, whatever their channels; between two of them a channel is a column, and a column's
place costs nothing. Values are the same to the bit either way.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.local.context import Scratch
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    aligned,
    aligned_bytes,
    ceil_div,
    strided,
)

PIXELS = (4096, 1024, 256, 64)
"""How many are moved at a time, largest first: as many as there is room for."""

NARROWEST = 2
"""Bytes of the smallest elements that are transposed."""


def shift_lanes(e: Emitter, scratch: Scratch, out: LocalTensor, x: LocalTensor) -> None:
    """out = x, both EU-aligned, where they begin on different lanes."""
    move = _Move.of(e.chip, out, x)
    if move is not None and move.cycles() < _copied(e.chip, out):
        for size in dict.fromkeys(min(size, move.pixels) for size in PIXELS):
            place = scratch.find(move.bytes(size))
            if place is not None:
                move.emit(e, place, size)
                return
    e.lane_copy(out, x)


def shuffle_lanes(
    e: Emitter, scratch: Scratch, out: LocalTensor, x: LocalTensor, group: int
) -> None:
    """out = the channels of x as `group` rows, read column by column; both EU-aligned on lane 0.

    Raises TpuError when the chip has no transposition for that, or there is no room for it.
    """
    n, channels, h, w = x.shape

    def buffers(place: int, pixels: int) -> tuple[LocalTensor, LocalTensor]:
        shape = (1, pixels, 1, channels)
        read = aligned(e.chip, place, shape, x.dtype)
        return read, aligned(e.chip, place + aligned_bytes(e.chip, shape, x.dtype), shape, x.dtype)

    sizes = [2 * aligned_bytes(e.chip, (1, size, 1, channels), x.dtype) for size in PIXELS]
    found = ((scratch.find(size), pixels) for size, pixels in zip(sizes, PIXELS, strict=True))
    place, at_once = next((one for one in found if one[0] is not None), (None, PIXELS[-1]))
    place = scratch.take(sizes[-1]) if place is None else place
    for image in range(n):
        for piece in cut(h * w, at_once):
            read, wanted = buffers(place, piece.size)
            transpose(e, read, _rows(e.chip, x, image, piece, channels))
            pitch, size = read.strides[1], channels // group
            shape = (1, piece.size, group, size)
            source = strided(read.address, shape, (pitch, pitch, size, 1), x.dtype)
            e.copy(strided(wanted.address, shape, (pitch, pitch, 1, group), x.dtype), source)
            transpose(e, _rows(e.chip, out, image, piece, channels), wanted)


def _rows(chip: Chip, tensor: LocalTensor, image: int, piece: Piece, count: int) -> LocalTensor:
    """Some pixels of `count` channels, from lane 0 on."""
    address = tensor.at(image, w=piece.start) & (chip.local_bytes - 1)
    by_group = tensor.strides[1]
    shape = (1, count, 1, piece.size)
    return strided(address, shape, (by_group, by_group, piece.size, 1), tensor.dtype)


def _copied(chip: Chip, out: LocalTensor) -> int:
    """Cycles of the copy between lanes."""
    n, c, h, w = out.shape
    return n * c * out.groups(chip) * ceil_div(h * w, chip.eu(out.dtype.bytes))


@dataclass(frozen=True, slots=True)
class _Move:
    """Channels [first, first + channels) of rows that begin on lane 0 become those from `to` on.

    One of `first` and `to` is 0, as one side begins on lane 0.
    """

    chip: Chip
    out: LocalTensor
    x: LocalTensor
    first: int
    to: int

    @classmethod
    def of(cls, chip: Chip, out: LocalTensor, x: LocalTensor) -> "_Move | None":
        """None for what neither begins nor ends on lane 0, and for elements of one byte."""
        first, to = (tensor.address >> chip.lane_shift for tensor in (x, out))
        if min(first, to) or out.dtype.bytes < NARROWEST or chip.lanes % chip.eu(out.dtype.bytes):
            return None
        return cls(chip, out, x, first, to)

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.out.dtype

    @property
    def channels(self) -> int:
        """Channels that are moved."""
        return self.out.shape[1]

    @property
    def pixels(self) -> int:
        """Elements of a channel."""
        return self.out.shape[2] * self.out.shape[3]

    def cycles(self) -> int:
        """About what it takes: rows are transposed, moved along, transposed back, put in place."""
        chip, eu = self.chip, self.chip.eu(self.dtype.bytes)
        rounds = ceil_div(self.pixels, chip.lanes)
        read, written = self.first + self.channels, self.to + self.channels
        turned = rounds * ceil_div(read, eu)
        moved = rounds * (ceil_div(self.channels, eu) + ceil_div(self.to, eu)) * 2
        back = rounds * ceil_div(written, chip.lanes) * ceil_div(chip.lanes, eu)
        put = ceil_div(written, chip.lanes) * ceil_div(self.pixels, eu)
        return self.out.shape[0] * (turned + moved + back + put)

    def _tensors(self, place: int, pixels: int) -> Iterator[LocalTensor]:
        """Columns as read, columns as wanted, and channels on their lanes."""
        for rows, columns in (
            (pixels, self.first + self.channels),
            (pixels, self.to + self.channels),
            (self.to + self.channels, pixels),
        ):
            shape = (1, rows, 1, columns)
            yield aligned(self.chip, place, shape, self.dtype)
            place += aligned_bytes(self.chip, shape, self.dtype)

    def bytes(self, pixels: int) -> int:
        """Bytes of a lane that so many pixels need."""
        return sum(
            aligned_bytes(self.chip, tensor.shape, self.dtype)
            for tensor in self._tensors(0, pixels)
        )

    def emit(self, e: Emitter, place: int, at_once: int) -> None:
        """Move all images, some pixels at a time."""
        for image in range(self.out.shape[0]):
            for piece in cut(self.pixels, at_once):
                self._emit(e, place, image, piece)

    def _emit(self, e: Emitter, place: int, image: int, piece: Piece) -> None:
        read, wanted, turned = self._tensors(place, piece.size)
        x = _rows(self.chip, self.x, image, piece, self.first + self.channels)
        transpose(e, read, x)
        chip, rows, count = self.chip, piece.size, self.channels
        if self.to:
            e.copy(wanted.window((0, 0, 0, 0), (1, rows, 1, self.to), chip), 0.0)
        source = read.window((0, 0, 0, self.first), (1, rows, 1, count), chip)
        e.copy(wanted.window((0, 0, 0, self.to), (1, rows, 1, count), chip), source)
        if not self.to:
            transpose(e, _rows(chip, self.out, image, piece, count), wanted)
            return
        transpose(e, turned, wanted)
        lane = self.to << chip.lane_shift
        by_group = turned.strides[1]
        shape = (1, count, 1, rows)
        moved = strided(turned.address | lane, shape, (by_group, by_group, rows, 1), self.dtype)
        by_group = self.out.strides[1]
        address = self.out.at(image, w=piece.start)
        target = strided(address, shape, (by_group, by_group, rows, 1), self.dtype)
        e.copy(target, moved)
