"""Channels that become blocks of pixels, and back, without leaving local memory.

One value is *deep*: it has channels of its own for each place in a block. The other is *wide*: what
it has at one place of all blocks is an image, of every so many rows and columns. Channels of a
place that have other lanes there are turned first: pixels to lanes, channels to columns, where
those of the place are picked, and back. Values are the same to the bit.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import Piece, cut, steps_of
from xdsl_tpu.backend.kernels.transpose import SCRATCH_BYTES, exchange
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.places import CHANNEL, Loops, address_of, apart, between
from xdsl_tpu.backend.local.turned_copy import copies_of
from xdsl_tpu.backend.tensor import LocalTensor, aligned_bytes, ceil_div, strided
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box, IndexMap


class _Place(NamedTuple):
    """A place in the blocks: its first deep channel, and how far it is to the next one's."""

    first: int
    step: int

    def stays(self, chip: Chip) -> bool:
        """Whether its channels have the same lanes in both values."""
        return self.step == 1 and self.first % chip.lanes == 0


class _Work(NamedTuple):
    """One slice: elements go from `deep` to `wide`, or back."""

    context: LocalContext
    moves: IndexMap
    deep: LocalValue
    wide: LocalValue
    to_wide: bool

    def places(self) -> dict[_Place, list[Box]] | None:
        """What is moved at each place, from places in a lane to such; None where the channels are
        others, or the deep value is no image without gaps."""
        ends = (self.wide, self.deep) if self.to_wide else (self.deep, self.wide)
        found: dict[_Place, list[Box]] = {}
        (_, _, height, width), (_, _, by_row, _) = self.deep.tensor.shape, self.deep.tensor.strides
        if (height > 1 and by_row != width) or self.deep.depth * self.wide.depth > 1:
            return None
        for whole in between(*ends, self.moves).boxes:
            for box in apart(whole):
                loops = Loops.of(box)
                deep, wide = (box.at, box.to) if self.to_wide else (box.to, box.at)
                steps = [(d.at, d.to) if self.to_wide else (d.to, d.at) for d in loops.both]
                step, other = steps[0] if steps else (CHANNEL, CHANNEL)
                all_of_them = loops.lanes == self.wide.tensor.shape[1] and wide < CHANNEL == other
                if len(steps) > 1 or step < CHANNEL or not all_of_them:
                    return None
                place = _Place(deep // CHANNEL, step // CHANNEL)
                to, at = box.to % CHANNEL, box.at % CHANNEL
                found.setdefault(place, []).append(Box(to, at, loops.near))
        return found

    def copy(self, boxes: list[Box], deep: LocalTensor, first: int = 0) -> None:
        """Move what boxes say between the wide value and a tensor that has its channels, with
        channel `first` for the first one, and the pixels of the deep one."""
        chip, dtype, wide = self.context.chip, deep.dtype, self.wide.tensor
        for box in boxes:
            tensors = (wide, deep) if self.to_wide else (deep, wide)
            starts = [box.to, box.at]
            starts[int(self.to_wide)] += first * CHANNEL
            to, at = (address_of(*end, chip) for end in zip(tensors, starts, strict=True))
            groups = tensors[0].strides[1], tensors[1].strides[1]
            for one in copies_of(box.digits, wide.shape[1], (to, at), groups, dtype.bytes):
                self.context.emitter.copy(*one.ends(dtype, chip))


def is_regrouped(context: LocalContext, x: LocalValue, moves: IndexMap) -> bool:
    """Whether one side of a movement between slices has channels for positions of the other, not
    more than there are lanes."""
    places = _work(context, x, moves).places()
    return places is not None and len(places) <= context.chip.lanes


def regroup(context: LocalContext, x: LocalValue, moves: IndexMap) -> None:
    """Write the elements of an operand's slice to that of the result, if that `is_regrouped`;
    images are whole along w.

    Raises DoesNotFit where channels have to change lanes and cannot: in elements of one byte, and
    where lane groups are not a multiple of the EU width.
    """
    chip, size, work = context.chip, x.dtype.bytes, _work(context, x, moves)
    places = work.places() or {}
    others = [place for place in places if not place.stays(chip)]
    if others and (size < 2 or chip.lanes % chip.eu(size)):
        raise DoesNotFit(f"{size}-byte elements do not change lanes where they lie")
    # Turning back writes all channels of a lane group.
    there = [one for one in places if one.stays(chip) and (work.to_wide or not others)]
    for place in there:
        work.copy(places[place], work.deep.tensor, place.first)
    if others:
        _across(work, skipped=there)


def _work(context: LocalContext, x: LocalValue, moves: IndexMap) -> _Work:
    to_wide = any(Loops.of(box).given for box in between(context.out, x, moves).boxes)
    ends = (x, context.out) if to_wide else (context.out, x)
    return _Work(context, moves, *ends, to_wide)


def _across(work: _Work, skipped: list[_Place]) -> None:
    """Places whose channels change lanes, as many rows at a time as there is room for."""
    scratch, (images, _, height, width) = work.context.scratch, work.deep.tensor.shape
    unit = work.context.chip.eu(work.deep.dtype.bytes)
    unit //= math.gcd(unit, width)
    sizes = [min(height, size * unit) for size in steps_of(ceil_div(height, unit))]
    size = next((size for size in sizes if scratch.holds(_bytes(work, size))), sizes[-1])
    for image in range(images):
        for rows in cut(height, size):
            with scratch.temporary():
                deep = _part(work.deep, image, rows, work.context.chip)
                _tile(work._replace(deep=deep), skipped)


def _part(value: LocalValue, image: int, rows: Piece, chip: Chip) -> LocalValue:
    """Some rows of one image of a slice."""
    _, channels, _, width = value.tensor.shape
    shape = (1, channels, rows.size, width)
    start = value.start._replace(n=value.start.n + image, h=value.start.h + rows.start)
    tensor = value.tensor.window((image, 0, rows.start, 0), shape, chip)
    return replace(value, tensor=tensor, start=start)


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


def _tile(work: _Work, skipped: list[_Place]) -> None:
    """Some rows of one image of the deep slice."""
    context, deep = work.context, work.deep.tensor
    emitter, scratch = context.emitter, context.scratch
    wide, (_, channels, rows, width) = work.wide.tensor.shape[1], deep.shape
    flat = list(_in_lines(deep, context.chip))
    turned = [
        scratch.aligned((1, line.shape[3], line.shape[2], channels), line.dtype) for line in flat
    ]
    lined = scratch.aligned((1, wide, rows, width), deep.dtype)
    if work.to_wide:
        for source, target in zip(flat, turned, strict=True):
            exchange(emitter, scratch, source, target)
    for place, boxes in (work.places() or {}).items():
        if place in skipped:
            continue
        if not work.to_wide:
            work.copy(boxes, lined)
        for all_, own in zip(turned, _in_lines(lined, context.chip), strict=True):
            picked = _columns(all_, wide, place)
            exchange(emitter, scratch, *((picked, own) if work.to_wide else (own, picked)))
        if work.to_wide:
            work.copy(boxes, lined)
    if not work.to_wide:
        for target, source in zip(flat, turned, strict=True):
            exchange(emitter, scratch, source, target)


def _in_lines(image: LocalTensor, chip: Chip) -> Iterator[LocalTensor]:
    """The pixels of an image without gaps, as lines of a lane group and one of what is left."""
    (_, channels, height, width), (by_n, by_group, *_) = image.shape, image.strides
    count, rest = divmod(height * width, chip.lanes)
    for start, lines, size in ((0, count, chip.lanes), (count * chip.lanes, min(rest, 1), rest)):
        if lines:
            address = image.address + start * image.dtype.bytes
            shape, strides = (1, channels, lines, size), (by_n, by_group, size, 1)
            yield strided(address, shape, strides, image.dtype)


def _columns(turned: LocalTensor, count: int, place: _Place) -> LocalTensor:
    """Those of a place."""
    (n, c, h, _), (by_n, by_group, by_h, _) = turned.shape, turned.strides
    strides = (by_n, by_group, by_h, place.step)
    return strided(turned.at(w=place.first), (n, c, h, count), strides, turned.dtype)
