"""Moving channels to other lanes: copied one by one, or transposed, moved along, transposed back.

The copy between lanes takes a pass for every channel. A transposition takes one for every lane
group of pixels, whatever their channels; between two of them a channel is a column, and a column's
place costs nothing. Values are the same to the bit either way.

Elements of one byte are not transposed: two pixels are one element of two bytes, or, where their
number is odd, each becomes one for the time.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transpose import transpose
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

LONG, WORTH_ROOM, LARGEST_SHARE = 10_000, 16, 4
"""Copies of channels one by one that take so many cycles, and so many times longer than
transpositions, are worth memory that an op does not get unasked, up to this share of all: 3,136
channels of 64 pixels are copied in 313,600 cycles and moved in 496, with 19,008 bytes of a lane."""

NARROWEST = 2
"""Bytes of the smallest elements that are transposed."""


def shift_lanes(e: Emitter, scratch: LocalMemory, out: LocalTensor, x: LocalTensor) -> None:
    """out = x, both EU-aligned, where they begin on different lanes."""
    copied = _copied(e.chip, out)
    with scratch.temporary():
        wide = _Wide.of(e, scratch, out, x)
        move = None if wide is None else _Move.of(e.chip, wide.out, wide.x)
        if wide is not None and move is not None and wide.cycles(e.chip) + move.cycles() < copied:
            found = _room(e, scratch, move, copied)
            if found is not None:
                with wide.around(e):
                    move.emit(e, *found)
                return
    e.lane_copy(out, x)


def _room(e: Emitter, scratch: LocalMemory, move: "_Move", copied: int) -> tuple[int, int] | None:
    """Memory for a move and how many pixels at a time have room there; what many channels need is
    asked for. None where copies one by one have to do, which take `copied` cycles."""
    sizes = tuple(dict.fromkeys(min(size, move.pixels) for size in PIXELS))
    for size in sizes:
        place = scratch.find(move.bytes(size))
        if place is not None:
            return place, size
    least = move.bytes(sizes[-1])
    if copied < max(LONG, WORTH_ROOM * move.cycles()):
        return None
    if least > e.chip.local_bytes // LARGEST_SHARE:
        return None
    return scratch.take(least), sizes[-1]


@dataclass(frozen=True, slots=True)
class _Wide:
    """Result and operand of a move with elements of two bytes or more; `narrow` are those that they
    stand for, where they are others."""

    out: LocalTensor
    x: LocalTensor
    narrow: tuple[LocalTensor, LocalTensor] | None = None

    @classmethod
    def of(
        cls, e: Emitter, scratch: LocalMemory, out: LocalTensor, x: LocalTensor
    ) -> "_Wide | None":
        """None where scratch memory has no room for copies of single bytes."""
        if x.dtype.bytes >= NARROWEST:
            return cls(out, x)
        if x.shape[2] * x.shape[3] % 2 == 0:
            return cls(_in_pairs(e.chip, out), _in_pairs(e.chip, x))
        kind = DType.I16 if x.dtype.signed else DType.U16
        copies: list[LocalTensor] = []
        for tensor in (out, x):
            lane = tensor.address >> e.chip.lane_shift << e.chip.lane_shift
            low, high = aligned(e.chip, lane, tensor.shape, kind).span(e.chip)
            address = scratch.find(high - low)
            if address is None:
                return None
            copies.append(aligned(e.chip, lane | address, tensor.shape, kind))
        return cls(copies[0], copies[1], (out, x))

    def cycles(self, chip: Chip) -> int:
        """What making and reading the copies takes."""
        if self.narrow is None:
            return 0
        n, _, h, w = self.out.shape
        groups = self.out.groups(chip) + self.x.groups(chip)
        return n * groups * ceil_div(h * w, chip.eu(self.x.dtype.bytes))

    @contextmanager
    def around(self, e: Emitter) -> Generator[None]:
        """Make the copy of the operand first, and the result of its copy at last."""
        if self.narrow is not None:
            e.cast(self.x, self.narrow[1])
        yield
        if self.narrow is not None:
            e.cast(self.narrow[0], self.out)


def _in_pairs(chip: Chip, tensor: LocalTensor) -> LocalTensor:
    """Two pixels of a channel, a byte each, as one element; both EU-aligned."""
    n, c, h, w = tensor.shape
    return aligned(chip, tensor.address, (n, c, 1, h * w // 2), DType.U16)


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
        """None for what neither begins nor ends on lane 0."""
        first, to = (tensor.address >> chip.lane_shift for tensor in (x, out))
        if min(first, to) or chip.lanes % chip.eu(out.dtype.bytes):
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
        images = range(self.out.shape[0])
        alike: dict[int, list[tuple[int, Piece]]] = {}
        for image, piece in product(images, cut(self.pixels, at_once)):
            alike.setdefault(piece.size, []).append((image, piece))
        for places in alike.values():
            for image, piece in e.alike(places):
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
