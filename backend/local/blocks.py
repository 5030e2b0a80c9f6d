"""Channels that become blocks of pixels, and back, without leaving local memory.

A lane's pixels of one channel lie in every `rows`th row and `columns`th column of the image; what
that image has in other lanes is turned first: pixels to lanes, channels to columns, where those of
one place in the block are picked, and back. Values are the same to the bit.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import Piece, cut, steps_of
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.tensor import LocalTensor, aligned, aligned_bytes, ceil_div, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


class _Turned(NamedTuple):
    """Pixels of a tile and a lane group of its channels: as the image has them, and turned.

    Whole lane groups of pixels are the lines of one command, what is left is one line.
    """

    flat: LocalTensor
    turned: LocalTensor


@dataclass(frozen=True)
class _Work:
    """One slice: `deep` has the channels, `wide` the blocks; elements go from one to the other."""

    context: LocalContext
    op: tpu.Depth2SpaceOp
    deep: LocalValue
    wide: LocalValue

    @property
    def to_wide(self) -> bool:
        """Whether blocks are made, not resolved."""
        return not self.op.is_inversed.value.data

    @property
    def block(self) -> tuple[int, int]:
        """Rows and columns of a block."""
        return self.op.block_h.value.data, self.op.block_w.value.data

    def channel(self, row: int, column: int) -> tuple[int, int]:
        """First deep channel of a place in the block, and how far it is to the next one's."""
        (height, width), channels = self.block, self.wide.full.c
        place = row * width + column
        if self.op.swap_cr.value.data:
            place = column * height + row
        return (place, height * width) if self.op.is_CRD.value.data else (place * channels, 1)

    def copy(self, wide: LocalTensor, deep: LocalTensor) -> None:
        """Move elements of two tensors of one shape in the direction of the op."""
        if self.to_wide:
            self.context.emitter.copy(wide, deep)
        else:
            self.context.emitter.copy(deep, wide)

    def lines(self, row: int) -> Piece:
        """Rows of the deep value that both slices have at a block's row."""
        height = self.block[0]
        first = max(self.deep.start.h, -(-(self.wide.start.h - row) // height))
        deep_end = self.deep.start.h + self.deep.tensor.shape[2]
        wide_end = self.wide.start.h + self.wide.tensor.shape[2]
        return Piece(first, min(deep_end, (wide_end - 1 - row) // height + 1) - first)

    def spread(
        self, image: int, channels: Piece, rows: Piece, row: int, column: int
    ) -> LocalTensor:
        """What the wide value has of some rows of the deep one at one place of the blocks."""
        height, width = self.block
        tensor = self.wide.tensor
        by_n, by_group, by_h, by_w = tensor.strides
        first = rows.start * height + row - self.wide.start.h
        group = channels.start // self.context.chip.lanes
        shape = (1, channels.size, rows.size, self.deep.tensor.shape[3])
        strides = (by_n, by_group, height * by_h, width * by_w)
        return strided(tensor.at(image, group, first, column), shape, strides, tensor.dtype)


def depth_to_space(context: LocalContext) -> None:
    """tpu.Depth2Space, both ways, of images that are whole along w.

    Raises DoesNotFit for slices that do not hold what the result needs, and where channels cannot
    change lanes: in elements of one byte, and where lane groups are not a multiple of the EU width.
    """
    op, x, out = context.op, context.operand(0), context.out
    assert isinstance(op, tpu.Depth2SpaceOp)
    inverse = bool(op.is_inversed.value.data)
    work = _Work(context, op, *((out, x) if inverse else (x, out)))
    _check(work)
    places = [(row, column) for row in range(work.block[0]) for column in range(work.block[1])]
    there = [place for place in places if _stays(work, *place)]
    others = [place for place in places if place not in there]
    if inverse and others:  # turning back writes all channels of a lane group
        there, others = [], places
    for image in range(out.tensor.shape[0]):
        for row, column in there:
            _in_lanes(work, image, row, column)
        if others:
            _across(work, image, others)


def _check(work: _Work) -> None:
    height, width = work.block
    deep, wide, chip = work.deep, work.wide, work.context.chip
    images = deep.tensor.shape[0], deep.start.n, deep.start.w, wide.start.w
    whole = images == (wide.tensor.shape[0], wide.start.n, 0, 0)
    columns = deep.tensor.shape[3] * width == wide.tensor.shape[3]
    channels = deep.tensor.shape[1] == wide.tensor.shape[1] * height * width
    if not (whole and columns and channels) or deep.depth > 1:
        raise DoesNotFit(f"blocks of {deep.full} in {wide.full} are cut by their slice")
    found = sum(work.lines(row).size for row in range(height))
    wanted = wide.tensor.shape[2] if work.to_wide else deep.tensor.shape[2] * height
    if found != wanted:
        raise DoesNotFit(f"the operand's slice holds {found} of {wanted} rows of blocks")
    size = deep.dtype.bytes
    if size < 2 or chip.lanes % chip.eu(size):
        raise DoesNotFit(f"{size}-byte elements do not change lanes where they lie")


def _stays(work: _Work, row: int, column: int) -> bool:
    """Whether the channels of a place have the same lanes in both values."""
    first, step = work.channel(row, column)
    return step == 1 and first % work.context.chip.lanes == 0


def _in_lanes(work: _Work, image: int, row: int, column: int) -> None:
    chip, deep = work.context.chip, work.deep.tensor
    first, _ = work.channel(row, column)
    rows = work.lines(row)
    channels = Piece(0, work.wide.tensor.shape[1])
    start = (image, first, rows.start - work.deep.start.h, 0)
    shape = (1, channels.size, rows.size, deep.shape[3])
    work.copy(work.spread(image, channels, rows, row, column), deep.window(start, shape, chip))


def _across(work: _Work, image: int, places: Sequence[tuple[int, int]]) -> None:
    """Places whose channels change lanes, as many rows at a time as there is room for."""
    scratch = work.context.scratch
    height = work.deep.tensor.shape[2]
    unit = work.context.chip.eu(work.deep.dtype.bytes)
    unit //= math.gcd(unit, work.deep.tensor.shape[3])
    sizes = [min(height, size * unit) for size in steps_of(ceil_div(height, unit))]
    size = next((size for size in sizes if scratch.holds(_bytes(work, size))), sizes[-1])
    for rows in cut(height, size):
        with scratch.temporary():
            _tile(work, image, rows, places)


def _bytes(work: _Work, rows: int) -> list[int]:
    """Bytes of a lane for a tile: turned channels, those of one place, and these as an image."""
    chip, dtype = work.context.chip, work.deep.dtype
    deep, wide = work.deep.tensor.shape, work.wide.tensor.shape
    pixels = rows * deep[3]
    turned = [
        _turned_bytes(chip, pixels, part.size, dtype.bytes) for part in cut(deep[1], chip.lanes)
    ]
    one = min(wide[1], chip.lanes)
    image = aligned_bytes(chip, (1, one, 1, pixels), dtype)
    return [*turned, _turned_bytes(chip, pixels, one, dtype.bytes), image]


def _turned_bytes(chip: Chip, pixels: int, channels: int, size: int) -> int:
    lines, rest = divmod(pixels, chip.lanes)
    return sum(
        ceil_div(count * channels * size, chip.eu_bytes) * chip.eu_bytes
        for count in (lines, min(rest, 1))
    )


def _tile(work: _Work, image: int, rows: Piece, places: Sequence[tuple[int, int]]) -> None:
    """Some rows of the deep slice, counted from its first."""
    context = work.context
    chip, deep, scratch = context.chip, work.deep.tensor, context.scratch
    pixels = rows.size * deep.shape[3]
    turned_at = partial(_views, chip, pixels)
    groups: list[list[_Turned]] = []
    for part in cut(deep.shape[1], chip.lanes):
        place = scratch.take(_turned_bytes(chip, pixels, part.size, deep.dtype.bytes))
        flat = deep.at(image, part.start // chip.lanes, rows.start)
        groups.append(list(turned_at(flat, place, part.size, deep)))
    if work.to_wide:
        for group in groups:
            for flat, turned in group:
                context.emitter.transpose_cw(turned, flat)
    for row, column in places:
        lines = work.lines(row)
        start = max(lines.start - work.deep.start.h, rows.start)
        end = min(lines.start + lines.size - work.deep.start.h, rows.start + rows.size)
        if end <= start:
            continue
        for channels in cut(work.wide.tensor.shape[1], chip.lanes):
            with scratch.temporary():
                _place(
                    work, image, rows, Piece(start, end - start), channels, (row, column), groups
                )
    if not work.to_wide:
        for group in groups:
            for flat, turned in group:
                context.emitter.transpose_cw(flat, turned)


def _place(
    work: _Work,
    image: int,
    tile: Piece,
    rows: Piece,
    channels: Piece,
    place: tuple[int, int],
    groups: Sequence[Sequence[_Turned]],
) -> None:
    """One lane group of the wide value's channels at one place of the blocks; `rows` of a tile,
    both counted from the deep slice's first row."""
    context, dtype = work.context, work.deep.dtype
    chip, scratch, emitter = context.chip, context.scratch, context.emitter
    width = work.deep.tensor.shape[3]
    pixels = tile.size * width
    size = _turned_bytes(chip, pixels, channels.size, dtype.bytes)
    picked_at = scratch.take(size)
    lined = scratch.aligned((1, channels.size, tile.size, width), dtype)
    views = list(_views(chip, pixels, lined.address, picked_at, channels.size, lined))
    part = lined.window(
        (0, 0, rows.start - tile.start, 0), (1, channels.size, rows.size, width), chip
    )
    absolute = Piece(rows.start + work.deep.start.h, rows.size)
    spread = work.spread(image, channels, absolute, *place)
    if not work.to_wide:
        emitter.copy(part, spread)
        for flat, turned in views:
            emitter.transpose_cw(turned, flat)
    first, step = work.channel(*place)
    for to, source, count in _runs(first + channels.start * step, step, channels.size, chip.lanes):
        group, column = divmod(source, chip.lanes)
        for own, all_ in zip(views, groups[group], strict=True):
            work.copy(
                _columns(own.turned, Piece(to, count), 1),
                _columns(all_.turned, Piece(column, count), step),
            )
    if work.to_wide:
        for flat, turned in views:
            emitter.transpose_cw(flat, turned)
        emitter.copy(spread, part)


def _views(
    chip: Chip, pixels: int, flat: int, turned: int, channels: int, like: LocalTensor
) -> Iterator[_Turned]:
    """Pixels from addresses on, as lines of a lane group and what is left."""
    dtype, lanes = like.dtype, chip.lanes
    lines, rest = divmod(pixels, lanes)
    if lines:
        yield _Turned(
            aligned(chip, flat, (1, channels, lines, lanes), dtype),
            aligned(chip, turned, (1, lanes, lines, channels), dtype),
        )
    if rest:
        behind = _turned_bytes(chip, lines * lanes, channels, dtype.bytes)
        yield _Turned(
            aligned(chip, flat + lines * lanes * dtype.bytes, (1, channels, 1, rest), dtype),
            aligned(chip, turned + behind, (1, rest, 1, channels), dtype),
        )


def _runs(first: int, step: int, count: int, lanes: int) -> Iterator[tuple[int, int, int]]:
    """(place, channel, number) of channels `step` apart that lie in one lane group."""
    done = 0
    while done < count:
        channel = first + done * step
        here = min(count - done, ceil_div(lanes - channel % lanes, step))
        yield done, channel, here
        done += here


def _columns(turned: LocalTensor, part: Piece, step: int) -> LocalTensor:
    n, c, h, _ = turned.shape
    by_n, by_group, by_h, _ = turned.strides
    return strided(
        turned.at(w=part.start), (n, c, h, part.size), (by_n, by_group, by_h, step), turned.dtype
    )
