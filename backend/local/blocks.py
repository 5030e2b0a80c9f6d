"""Channels that become blocks of pixels, and back, without leaving local memory.

A lane's pixels of one channel lie in every `rows`th row and `columns`th column of the image; what
that image has in other lanes is turned first: pixels to lanes, channels to columns, where those of
one place in the block are picked, and back. Values are the same to the bit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import Piece, cut, steps_of
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.exchange import SCRATCH_BYTES, exchange
from xdsl_tpu.backend.tensor import LocalTensor, aligned_bytes, ceil_div, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


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

    Raises DoesNotFit for slices that do not hold what the result needs, and where channels have to
    change lanes and cannot: in elements of one byte, and where lane groups are not a multiple of
    the EU width.
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
    size = x.dtype.bytes
    if others and (size < 2 or context.chip.lanes % context.chip.eu(size)):
        raise DoesNotFit(f"{size}-byte elements do not change lanes where they lie")
    for image in range(out.tensor.shape[0]):
        for row, column in there:
            _in_lanes(work, image, row, column)
        if others:
            _across(work, image, others)


def _check(work: _Work) -> None:
    height, width = work.block
    deep, wide = work.deep, work.wide
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
    """Bytes of a lane for a tile: all its channels turned, those of one place as an image, and
    turned in parts."""
    chip, dtype = work.context.chip, work.deep.dtype
    (_, deep, _, width), wide = work.deep.tensor.shape, work.wide.tensor.shape[1]
    lines = ceil_div(rows * width, chip.lanes)
    one = aligned_bytes(chip, (1, chip.lanes, lines, min(wide, chip.lanes)), dtype)
    return [
        aligned_bytes(chip, (1, chip.lanes, lines, deep), dtype),
        aligned_bytes(chip, (1, wide, rows, width), dtype),
        min(one, SCRATCH_BYTES),
    ]


def _tile(work: _Work, image: int, rows: Piece, places: Sequence[tuple[int, int]]) -> None:
    """Some rows of the deep slice, counted from its first."""
    context, deep, scratch = work.context, work.deep.tensor, work.context.scratch
    wide, (_, channels, _, width) = work.wide.tensor.shape[1], deep.shape
    part = deep.window((image, 0, rows.start, 0), (1, channels, rows.size, width), context.chip)
    flat = _in_lines(part, context.chip)
    turned = [
        scratch.aligned((1, line.shape[3], line.shape[2], channels), line.dtype) for line in flat
    ]
    lined = scratch.aligned((1, wide, rows.size, width), deep.dtype)
    pixels = _in_lines(lined, context.chip)
    if work.to_wide:
        for source, target in zip(flat, turned, strict=True):
            exchange(context, source, target)
    for row, column in places:
        lines = work.lines(row)
        start = max(lines.start - work.deep.start.h, rows.start)
        end = min(lines.start + lines.size - work.deep.start.h, rows.start + rows.size)
        if end <= start:
            continue
        shape = (1, wide, end - start, width)
        here = lined.window((0, 0, start - rows.start, 0), shape, context.chip)
        absolute = Piece(start + work.deep.start.h, end - start)
        spread = work.spread(image, Piece(0, wide), absolute, row, column)
        if not work.to_wide:
            context.emitter.copy(here, spread)
        for all_, own in zip(turned, pixels, strict=True):
            picked = _columns(all_, wide, *work.channel(row, column))
            exchange(context, *((picked, own) if work.to_wide else (own, picked)))
        if work.to_wide:
            context.emitter.copy(spread, here)
    if not work.to_wide:
        for target, source in zip(flat, turned, strict=True):
            exchange(context, source, target)


def _in_lines(image: LocalTensor, chip: Chip) -> list[LocalTensor]:
    """The pixels of an image without gaps, as lines of a lane group and one of what is left."""
    (_, channels, height, width), (by_n, by_group, *_) = image.shape, image.strides
    count, rest = divmod(height * width, chip.lanes)
    found: list[LocalTensor] = []
    for start, lines, size in ((0, count, chip.lanes), (count * chip.lanes, min(rest, 1), rest)):
        if lines:
            address = image.address + start * image.dtype.bytes
            shape, strides = (1, channels, lines, size), (by_n, by_group, size, 1)
            found.append(strided(address, shape, strides, image.dtype))
    return found


def _columns(turned: LocalTensor, count: int, first: int, step: int) -> LocalTensor:
    """Every `step`th column from the first on."""
    (n, c, h, _), (by_n, by_group, by_h, _) = turned.shape, turned.strides
    return strided(turned.at(w=first), (n, c, h, count), (by_n, by_group, by_h, step), turned.dtype)
