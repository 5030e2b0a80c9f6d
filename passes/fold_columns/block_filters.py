"""Blocks of pixels as channels of a convolution: which there are, and their price."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.fold_columns.choice import Prices
from xdsl_tpu.passes.fold_columns.filters import Array, FoldedSlide, folded
from xdsl_tpu.passes.fold_columns.network import Sliding, slide_along
from xdsl_tpu.passes.tensors import shape_of


class Block(NamedTuple):
    """Rows and columns of neighbouring pixels that become channels."""

    rows: int
    columns: int

    @property
    def size(self) -> int:
        """Pixels."""
        return self.rows * self.columns


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


def stays_in_lanes(channels: int, chip: Chip) -> bool:
    """Whether the outputs of all pixels of a block have the lanes that they have as pixels."""
    return channels % chip.lanes == 0


def price_of(op: Sliding, channels: int, block: Block, prices: Prices) -> float:
    """Cycles of the array for so many outputs, of loading the filter, and of spreading the blocks:
    each place of them is turned, picked and turned back where its channels change lanes, and
    written to every so many columns."""
    chip, (images, _, height, *others) = prices.chip, shape_of(op.output)
    width = math.prod(others)
    inputs, taps = shape_of(op.input)[1], math.prod(how.slide.kernel for how in ways_of(op, block))
    places, outputs = images * height * width // block.size, channels * block.size
    work = prices.array(inputs, outputs, taps, places)
    lines, eu = -(-places // chip.lanes) * -(-channels // chip.lanes), chip.eu(prices.width)
    turning = 0 if stays_in_lanes(channels, chip) else 2 * lines * (chip.lanes // eu) + lines
    apart = block.columns if width > 1 else block.rows
    spread = block.size * (turning + lines * (chip.lanes // eu) * apart)
    return prices.loaded(work, prices.load((inputs, outputs, taps))) + spread


def repeated(bias: Array, block: Block) -> Array:
    """Of each output for each pixel of a block, one behind the other."""
    return np.tile(bias.reshape(-1), block.size)
