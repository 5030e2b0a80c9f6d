"""Blocks of pixels as channels of a convolution: which there are, and their price."""

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.fold_columns.choice import Prices
from xdsl_tpu.passes.fold_columns.filters import Array, FoldedSlide, folded
from xdsl_tpu.passes.fold_columns.network import Sliding, slide_along
from xdsl_tpu.passes.lowering.int8.prices import CAST, HALF
from xdsl_tpu.passes.tensors import shape_of


class Block(NamedTuple):
    """Rows and columns of neighbouring pixels that become channels."""

    rows: int
    columns: int

    @property
    def size(self) -> int:
        """Pixels."""
        return self.rows * self.columns


class Part(NamedTuple):
    """Neighbouring places of a block, row by row, and the taps in each dimension that some of them
    have."""

    places: slice
    taps: tuple[slice, ...]


def blocks_of(op: Sliding, channels: int, prices: Prices) -> Iterator[Block]:
    """Blocks that so many outputs of a filter can have: they fill one round of the lanes at most,
    or are the pixels that one of the input makes."""
    strides = *ints(op.strides), 1
    least = Block(strides[0], strides[1]) if isinstance(op, top.DeconvOp) else None
    rows, columns = (_sizes(op, axis) for axis in (2, 3))
    for one in rows:
        for other in columns:
            block = Block(one, other)
            fits = 1 < block.size <= prices.chip.lanes // channels
            if fits or block == least:
                yield block


def _sizes(op: Sliding, axis: int) -> list[int]:
    """So many places of the result in one dimension can be one; a line has no columns."""
    if axis - 2 >= len(op.kernel_shape):
        return [1]
    slide, most = slide_along(op, axis), LIMITS.window_stride
    sizes = range(1, min(slide.result, most * (slide.stride if slide.transposed else 1)) + 1)
    ways = ((size, folded(slide, 1, size, slides=True)) for size in sizes)
    return [size for size, how in ways if how is not None and how.slide.stride <= most]


def ways_of(op: Sliding, block: Block) -> Sequence[FoldedSlide]:
    """How the filter of a block goes over rows, and over columns where there are any."""
    ways = [
        folded(slide_along(op, axis), 1, size, slides=True)
        for axis, size in enumerate(block[: len(op.kernel_shape)], 2)
    ]
    found = [way for way in ways if way is not None]
    assert len(found) == len(ways)
    return found


def parts_of(op: Sliding, block: Block, *, divided: bool) -> Sequence[Part]:
    """A block as one part or, `divided`, in parts whose places have the same taps: those of a
    transposed filter of more taps than strides are not all of the block's."""
    ways = ways_of(op, block)
    if not divided or not all(_divides(how) for how in ways):
        return [Part(slice(0, block.size), tuple(slice(0, how.slide.kernel) for how in ways))]
    rows, *columns = (list(_runs(how)) for how in ways)
    if not columns or len(columns[0]) == 1:
        others = tuple(taps for _, taps in (runs[0] for runs in columns))
        return [
            Part(slice(at.start * block.columns, at.stop * block.columns), (taps, *others))
            for at, taps in rows
        ]
    return [
        Part(slice(row * block.columns + at.start, row * block.columns + at.stop), (taps, others))
        for rows_at, taps in rows
        for row in range(rows_at.start, rows_at.stop)
        for at, others in columns[0]
    ]


def _divides(how: FoldedSlide) -> bool:
    """Whether all places begin within the image or before it, and end in it or behind it."""
    slides = [how.within(taps).slide for _, taps in _runs(how)]
    return all(slide.before >= 0 and slide.after >= 0 for slide in slides)


def _runs(how: FoldedSlide) -> Iterator[tuple[slice, slice]]:
    """Neighbouring places of one dimension that have the same taps, from the first to the last."""
    seen: list[list[int]] = [[] for _ in range(how.given)]
    for _, out, _, at in how.taps():
        seen[out].append(at)
    taps = [(min(one, default=0), max(one, default=0) + 1) for one in seen]
    for (first, end), run in groupby(enumerate(taps), key=lambda one: one[1]):
        places = [place for place, _ in run]
        yield slice(places[0], places[-1] + 1), slice(first, end)


def stays_in_lanes(channels: int, chip: Chip) -> bool:
    """Whether the outputs of all pixels of a block have the lanes that they have as pixels."""
    return channels % chip.lanes == 0


def price_of(
    op: Sliding, channels: int, block: Block, prices: Prices, *, divided: bool = False
) -> float:
    """Cycles of the array for so many outputs, of loading the filter, and of spreading the blocks:
    each place of them is turned, picked and turned back where its channels change lanes, and
    written to every so many columns. Blocks that are `divided` are put together before that."""
    chip, (images, _, height, *others) = prices.chip, shape_of(op.output)
    width = math.prod(others)
    inputs, places = shape_of(op.input)[1], images * height * width // block.size
    work, weights = 0.0, 0.0
    for part in parts_of(op, block, divided=divided):
        outputs = channels * (part.places.stop - part.places.start)
        taps = math.prod(one.stop - one.start for one in part.taps)
        work += prices.array(inputs, outputs, taps, places)
        weights += prices.load((inputs, outputs, taps))
    turned = not stays_in_lanes(channels, chip)
    eu = chip.eu(max(prices.width, HALF) if turned else prices.width)
    rounds = -(-channels // chip.lanes)
    lines = -(-places // chip.lanes) * rounds
    turning = 2 * lines * (chip.lanes // eu) + lines if turned else 0
    apart = block.columns if width > 1 else block.rows
    spread = block.size * (turning + lines * (chip.lanes // eu) * apart)
    if turned and prices.width < HALF:
        outputs = -(-channels * block.size // chip.lanes)
        spread += CAST * (outputs * -(-places // eu) + rounds * -(-places * block.size // eu))
    if divided:
        spread += block.size * rounds * -(-places // eu)
    return prices.loaded(work, weights) + spread


def repeated(bias: Array, places: int) -> Array:
    """Of each output for so many places, one behind the other."""
    return np.tile(bias.reshape(-1), places)
