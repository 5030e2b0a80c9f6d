"""Blocks of pixels as channels of a convolution: which there are, their price, their filters."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.fold_columns.choice import Prices
from xdsl_tpu.passes.fold_columns.filters import Array
from xdsl_tpu.passes.tensors import shape_of


class Block(NamedTuple):
    """Rows and columns of neighbouring pixels that become channels."""

    rows: int
    columns: int

    @property
    def size(self) -> int:
        """Pixels."""
        return self.rows * self.columns


def blocks_of(op: top.ConvOp, channels: int, prices: Prices) -> Iterator[Block]:
    """Blocks that so many outputs of a convolution can have."""
    _, _, height, width = shape_of(op.output)
    strides = ints(op.strides)
    most = [LIMITS.window_stride // stride for stride in strides]
    for rows in range(1, most[0] + 1):
        for columns in range(1, most[1] + 1):
            block = Block(rows, columns)
            fits = 1 < block.size <= prices.chip.lanes // channels
            if fits and height % rows == width % columns == 0:
                yield block


def kernel_of(op: top.ConvOp, block: Block) -> tuple[int, int]:
    """Rows and columns that a block's filter sees."""
    (height, width), (down, across) = ints(op.kernel_shape), ints(op.strides)
    return height + (block.rows - 1) * down, width + (block.columns - 1) * across


def price_of(op: top.ConvOp, channels: int, block: Block, prices: Prices) -> float:
    """Cycles of the array for so many outputs, of loading the filter, and of spreading the blocks:
    each place of them is turned, picked, turned back, and written to every so many columns."""
    chip, (images, _, height, width) = prices.chip, shape_of(op.output)
    inputs, taps = shape_of(op.input)[1], math.prod(kernel_of(op, block))
    places, outputs = images * height * width // block.size, channels * block.size
    work = prices.array(inputs, outputs, taps, places)
    lines, eu = -(-places // chip.lanes), chip.eu(prices.width)
    turning = 2 * lines * (chip.lanes // eu)
    spread = block.size * (turning + lines + lines * (chip.lanes // eu) * block.columns)
    return prices.loaded(work, prices.load((inputs, outputs, taps))) + spread


def pads_of(op: top.ConvOp) -> list[int]:
    """Those in front as they are, those behind up to what the last window sees."""
    windows, sizes = op.windows(), shape_of(op.input)[2:]
    behind: list[int] = []
    for window, size, count in zip(windows, sizes, shape_of(op.output)[2:], strict=True):
        end = (count - 1) * window.stride + window.extent - window.before
        behind.append(max(0, end - size))
    return [*(window.before for window in windows), *behind]


def beside(filters: Array, strides: Sequence[int], block: Block) -> Array:
    """(outputs, inputs, kh, kw) for each pixel of a block, one behind the other, in a filter that
    sees the whole block."""
    outputs, inputs, height, width = filters.shape
    down, across = strides
    size = height + (block.rows - 1) * down, width + (block.columns - 1) * across
    wide = np.zeros((block.rows, block.columns, outputs, inputs, *size), filters.dtype)
    for row in range(block.rows):
        for column in range(block.columns):
            y, x = row * down, column * across
            wide[row, column, :, :, y : y + height, x : x + width] = filters
    return wide.reshape(block.size * outputs, inputs, *size)


def repeated(bias: Array, block: Block) -> Array:
    """Of each output for each pixel of a block, one behind the other."""
    return np.tile(bias.reshape(-1), block.size)
