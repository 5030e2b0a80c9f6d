"""A convolution over tensors in DDR, and its cutting into tiles."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.lanes import (
    MERGE_COLUMNS,
    MERGE_ROWS,
    View,
    view_columns,
    view_rows,
)
from xdsl_tpu.backend.kernels.tiling import Axis, Piece, Turn, cut, slots_of, turns
from xdsl_tpu.backend.tensor import GlobalTensor, Shape4, ceil_div


@dataclass(frozen=True)
class Convolution:
    """A convolution over tensors in DDR.

    x (n, groups * ic, ih, iw); weight (1, groups * oc, blocks, width), where a block is the
    cube's worth of input channels; bias (1, groups * oc, 1, 1) f32; out (n, groups * oc, oh, ow).
    """

    x: GlobalTensor
    weight: GlobalTensor
    bias: GlobalTensor | None
    out: GlobalTensor
    rows: Axis
    columns: Axis
    groups: int
    merge: int
    clamp: Clamp

    @cached_property
    def ic(self) -> int:
        """Input channels of a group."""
        return self.x.shape[1] // self.groups

    @cached_property
    def oc(self) -> int:
        """Output channels of a group."""
        return self.out.shape[1] // self.groups

    @property
    def blocks(self) -> int:
        """Blocks of input channels in a filter."""
        return self.weight.shape[2]

    @property
    def taps(self) -> int:
        """Lanes per input channel."""
        rows = self.rows.kernel if self.merge & MERGE_ROWS else 1
        return rows * (self.columns.kernel if self.merge & MERGE_COLUMNS else 1)

    @property
    def positions(self) -> int:
        """Kernel positions that are left for the convolution command."""
        return self.rows.kernel * self.columns.kernel // self.taps

    @property
    def far(self) -> bool:
        """Whether windows are farther apart than a command can say (see `cells`)."""
        rows = 1 if self.merge & MERGE_ROWS else self.rows.stride
        return max(rows, self.columns.stride) > LIMITS.window_stride

    def channels(self, blocks: Piece, chip: Chip) -> Piece:
        """The channels of a group that these blocks hold (before merging)."""
        if blocks.size == self.blocks:
            return Piece(0, self.ic)
        width = chip.cube_channels[self.x.dtype.bytes]
        start = blocks.start * width
        return Piece(start, min(self.ic, blocks.end * width) - start)


@dataclass(frozen=True, slots=True)
class Area:
    """A part of the output: images, rows and columns."""

    images: Piece
    rows: Piece
    columns: Piece

    def views(self, conv: Convolution) -> tuple[View, View]:
        """What the input tile must hold for it."""
        return (
            view_rows(conv.rows, self.rows, bool(conv.merge & MERGE_ROWS)),
            view_columns(conv.columns, self.columns, bool(conv.merge & MERGE_COLUMNS)),
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One convolution command: a tile of the input, on the left, with one of the filter."""

    group: int
    area: Area
    oc: Piece
    turn: Turn

    @property
    def blocks(self) -> Piece:
        """The blocks of input channels."""
        return self.turn.piece

    def x_shape(self, conv: Convolution, chip: Chip) -> Shape4:
        """The input tile, one lane for each channel and merged tap."""
        rows, columns = self.area.views(conv)
        lanes = conv.channels(self.blocks, chip).size * conv.taps
        return self.area.images.size, lanes, rows.count, columns.count

    def weight_shape(self, conv: Convolution) -> Shape4:
        """The filter tile."""
        return 1, self.oc.size, self.blocks.size, conv.weight.shape[3]

    def out_shape(self) -> Shape4:
        """The output tile."""
        area = self.area
        return area.images.size, self.oc.size, area.rows.size, area.columns.size

    def x_source(self, conv: Convolution, chip: Chip) -> GlobalTensor:
        """The channels that the input tile is made of, whole planes."""
        channels = conv.channels(self.blocks, chip)
        start = (self.area.images.start, self.group * conv.ic + channels.start, 0, 0)
        shape = (self.area.images.size, channels.size, *conv.x.shape[2:])
        return conv.x.window(start, shape)

    def weight_source(self, conv: Convolution) -> GlobalTensor:
        """Where the filter tile lies in DDR."""
        start = (0, self.group * conv.oc + self.oc.start, self.blocks.start, 0)
        return conv.weight.window(start, self.weight_shape(conv))

    def out_target(self, conv: Convolution) -> GlobalTensor:
        """Where the output tile goes."""
        area = self.area
        channel = self.group * conv.oc + self.oc.start
        start = (area.images.start, channel, area.rows.start, area.columns.start)
        return conv.out.window(start, self.out_shape())


@dataclass(frozen=True, slots=True)
class Plan:
    """Tile sizes, and whether the filter (or else the input) is held while the other streams."""

    images: int
    rows: int
    columns: int
    oc: int
    blocks: int
    hold_weights: bool

    def steps(self, conv: Convolution) -> Iterator[Step]:
        """The work in order."""
        areas, channels = self._areas(conv), cut(conv.oc, self.oc)
        blocks = cut(conv.blocks, self.blocks)
        for group in range(conv.groups):
            for turn in turns(len(areas), len(channels), blocks, not self.hold_weights, group):
                yield Step(group, areas[turn.left], channels[turn.right], turn)

    def _areas(self, conv: Convolution) -> list[Area]:
        return [
            Area(images, rows, columns)
            for images in cut(conv.x.shape[0], self.images)
            for rows in cut(conv.rows.out, self.rows)
            for columns in cut(conv.columns.out, self.columns)
        ]

    def _tiles(self, conv: Convolution) -> tuple[int, int, int, int]:
        """Groups, areas, pieces of a group's output channels and of its input channels."""
        areas = ceil_div(conv.x.shape[0], self.images) * ceil_div(conv.rows.out, self.rows)
        areas *= ceil_div(conv.columns.out, self.columns)
        filters, pieces = ceil_div(conv.oc, self.oc), ceil_div(conv.blocks, self.blocks)
        return conv.groups, areas, filters, pieces

    def count(self, conv: Convolution) -> int:
        """How many steps there are."""
        return math.prod(self._tiles(conv))

    def slots(self, conv: Convolution) -> tuple[int, int, int]:
        """Buffers for input, filter and output tiles."""
        return slots_of(*self._tiles(conv))
