"""`tpu.SampledSum`: how much of every pixel each row reads, and the product of that with pixels.

What a sample reads of pixel (i, j) is hat(y - i) * hat(x - j), hat(d) = max(0, 1 - |d|): of all
pixels together a column times a row of the image, two passes over it. Rows lie over the lanes, and
so do the pixels for the product. Nothing is read by an index.
"""

from dataclasses import dataclass
from functools import cached_property

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.best import numbered
from xdsl_tpu.backend.kernels.product import multiply
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    Shape4,
    aligned,
    aligned_bytes,
    ceil_div,
    compact_bytes,
    strided,
)
from xdsl_tpu.dialects import tpu

F32 = DType.F32


def sampled_sum(context: LocalContext) -> None:
    """Emit the sums of a slice, as many planes and rows at a time as scratch memory has room for:
    a plane is an image with one head, or a head of an image."""
    op, images = context.op, context.out.tensor.shape[0]
    assert isinstance(op, tpu.SampledSumOp)
    heads, height, width = (one.value.data for one in (op.heads, op.height, op.width))
    with context.scratch.temporary():
        numbers = context.scratch.aligned((1, context.chip.lanes, 1, max(height, width)), F32)
        numbered(context.emitter, numbers, 0, 1)
        for image in range(images if heads > 1 else 1):
            with context.scratch.temporary():
                count = heads if heads > 1 else images
                _Planes(context, (height, width), numbers, image, count, heads > 1).emit()


@dataclass(frozen=True, slots=True)
class _Tile:
    """Some rows of some planes."""

    rows: Piece
    planes: Piece


@dataclass(frozen=True)
class _Planes:
    """Planes that are computed together, from one `image` on; they lie `beside` each other in a
    lane where they are its heads. `numbers` are 0, 1, 2, .. in every lane."""

    context: LocalContext
    sizes: tuple[int, int]
    numbers: LocalTensor
    image: int
    count: int
    beside: bool

    @property
    def chip(self) -> Chip:
        return self.context.chip

    @property
    def emitter(self) -> Emitter:
        return self.context.emitter

    @property
    def dtype(self) -> DType:
        return self.context.out.dtype

    @property
    def pixels(self) -> int:
        """How many there are of each plane."""
        return self.sizes[0] * self.sizes[1]

    @property
    def is_dense(self) -> bool:
        """Whether a left operand of a product has no gaps: one of f32 is a filter, of one row in
        each lane at a time."""
        return self.dtype is F32

    @cached_property
    def columns(self) -> int:
        """Of the result, for each plane."""
        return self._width(self.context.out)

    @cached_property
    def points(self) -> int:
        """Samples of each row of a plane."""
        return self._width(self.context.operand(1))

    def _width(self, value: LocalValue) -> int:
        """Elements of a row of one plane."""
        _, _, h, w = value.tensor.shape
        return h * w // (self.count if self.beside else 1)

    def emit(self) -> None:
        """All rows of all planes."""
        values, out = self._values(), self._planes(self.context.out)
        rows, planes = self._at_once(out.shape[1])
        for some in cut(out.shape[1], rows):
            for group in cut(self.count, planes):
                with self.context.scratch.temporary():
                    self._tile(_Tile(some, group), values, out)

    def _planes(self, value: LocalValue) -> LocalTensor:
        """The planes of a value: (planes, rows, 1, columns)."""
        tensor, columns = value.tensor, self._width(value)
        by_n, by_c, *_ = tensor.strides
        image = self.image if tensor.shape[0] > 1 else 0
        shape = (self.count, tensor.shape[1], 1, columns)
        if self.beside:
            return strided(tensor.at(image), shape, (columns, by_c, columns, 1), tensor.dtype)
        strides = (by_n, by_c, columns, 1)
        return LocalTensor(tensor.at(image), shape, strides, tensor.dtype, tensor.layout)

    def _values(self) -> LocalTensor:
        """The pixels of each plane by itself, as operands of products."""
        planes = self._planes(self.context.operand(0))
        if not self.beside:
            return planes
        values = self.context.scratch.aligned(planes.shape, self.dtype)
        self.emitter.copy(values, planes)
        return values

    def _at_once(self, rows: int) -> tuple[int, int]:
        """Rows and planes of a tile, of the largest that scratch memory holds."""
        lanes = self.chip.lanes
        groups = 1 if self.is_dense else ceil_div(rows, lanes)
        choices = [(g * lanes, n) for g in _halves(groups) for n in _halves(self.count)]

        def found() -> tuple[int, int] | None:
            ordered = sorted(choices, key=lambda choice: (-choice[0] * choice[1], -choice[0]))
            fits = (one for one in ordered if self.context.scratch.holds(self._room(*one)))
            return next(fits, None)

        return self.context.scratch.enough(found, "for one head of some rows")

    def _room(self, rows: int, planes: int) -> list[int]:
        """Bytes per lane of everything that a tile takes."""
        tiles = [(planes, rows, self.points, size) for size in self.sizes]
        found = [aligned_bytes(self.chip, shape, self.dtype) for shape in tiles]
        found.append(aligned_bytes(self.chip, max(tiles), F32))
        count = compact_bytes if self.is_dense else aligned_bytes
        shares = count(self.chip, (planes, rows, 1, self.pixels), self.dtype)
        found += [shares] * (1 + (self.points > 1))
        if self.beside:
            found.append(aligned_bytes(self.chip, (planes, rows, 1, self.columns), self.dtype))
        return found

    def _tile(self, tile: _Tile, values: LocalTensor, out: LocalTensor) -> None:
        shares, target = self._shares(tile), _part(out, tile, self.chip)
        product = target
        if self.beside:
            product = self.context.scratch.aligned(target.shape, self.dtype)
        for number in range(tile.planes.size):
            value = _plane(values, tile.planes.start + number)
            multiply(self.emitter, _plane(product, number), _plane(shares, number), value)
        if self.beside:
            self.emitter.copy(target, product)

    def _shares(self, tile: _Tile) -> LocalTensor:
        """How much of each pixel every row of the tile reads: (planes, rows, 1, pixels)."""
        e, scratch = self.emitter, self.context.scratch
        planes, rows, (height, width) = tile.planes.size, tile.rows.size, self.sizes
        across, down = (
            scratch.aligned((planes, rows, self.points, size), self.dtype)
            for size in (width, height)
        )
        wide = scratch.aligned((planes, rows, self.points, max(self.sizes)), F32).address
        weights = None if self.context.optional(3) is None else self._places(3, tile)
        self._hats(across, self._places(1, tile), None, wide)
        self._hats(down, self._places(2, tile), weights, wide)
        take = scratch.compact if self.is_dense else scratch.aligned
        total = take((planes, rows, 1, self.pixels), self.dtype)
        part = take(total.shape, self.dtype) if self.points > 1 else total
        for point in range(self.points):
            column = _seen(down, down.at(h=point), (planes, rows, height, 1), 1)
            row = _seen(across, across.at(h=point), (planes, rows, 1, width), width)
            target = part if point else total
            image = _seen(target, target.address, (planes, rows, height, width), width)
            e.arith(Arith.MUL, image, column, row)
            if point:
                e.arith(Arith.ADD, total, total, part)
        return total

    def _hats(
        self, out: LocalTensor, places: LocalTensor, weights: LocalTensor | None, wide: int
    ) -> None:
        """out = max(0, 1 - |place - number|) along w, times the weights: places are f32, and what
        is left of a pixel is rounded once."""
        e, size = self.emitter, out.shape[3]
        tall = aligned(self.chip, wide, out.shape, F32)
        lanes = min(out.shape[1], self.chip.lanes)
        row = self.numbers.window((0, 0, 0, 0), (1, lanes, 1, size), self.chip)
        e.arith(Arith.DISTANCE, tall, places, row)
        e.arith(Arith.SUB, tall, 1.0, tall)
        e.convert(out, tall)
        e.arith(Arith.MAX, out, out, 0.0)
        if weights is not None:
            e.arith(Arith.MUL, out, out, weights)

    def _places(self, index: int, tile: _Tile) -> LocalTensor:
        """Numbers of the samples of a tile: (planes, rows, points, 1)."""
        part = _part(self._planes(self.context.operand(index)), tile, self.chip)
        return _seen(part, part.address, (*part.shape[:2], self.points, 1), 1)


def _halves(count: int) -> list[int]:
    """A count, half of it, .. 1."""
    found = [count]
    while found[-1] > 1:
        found.append(ceil_div(found[-1], 2))
    return found


def _part(planes: LocalTensor, tile: _Tile, chip: Chip) -> LocalTensor:
    """The planes and rows of a tile, which begin with a lane group."""
    address = planes.at(tile.planes.start, tile.rows.start // chip.lanes)
    shape = (tile.planes.size, tile.rows.size, *planes.shape[2:])
    return LocalTensor(address, shape, planes.strides, planes.dtype, planes.layout)


def _plane(planes: LocalTensor, number: int) -> LocalTensor:
    """One plane, laid out as all are."""
    shape = (1, *planes.shape[1:])
    return LocalTensor(planes.at(number), shape, planes.strides, planes.dtype, planes.layout)


def _seen(tensor: LocalTensor, address: int, shape: Shape4, by_h: int) -> LocalTensor:
    """Other lines of the same images and channels."""
    by_n, by_c, *_ = tensor.strides
    return strided(address, shape, (by_n, by_c, by_h, 1), tensor.dtype)
