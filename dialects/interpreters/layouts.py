"""Where a chip wants the numbers of a convolution filter, and back again.

Filters arrive as `[oc, ic/group, kh, kw]`. The matrix unit reads, for each output channel,
`row` bytes of input channels side by side for one kernel position, then the next
position, then the next group of channels. The rules are those of
docs/hardware/quantization.md#weight-images; both directions work on arrays of any dtype, because
only the byte width of an element decides the grouping (a bf16 filter may be held as uint16 or as
float32).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.lanes import Lanes, channels_of_row

Array = npt.NDArray[Any]

WIDEST_ROW = 65535
"""The widest last dimension an instruction can name; longer rows are split over dimension 2."""

MERGE_NOTHING, MERGE_HEIGHT, MERGE_WIDTH, MERGE_BOTH = range(4)
"""The low two bits of `use_3ic_optimize`: which kernel dimensions became input channels."""


def choose_3ic(ic: int, kh: int, kw: int, element_bytes: int, lanes: Lanes) -> int:
    """The merge (0-3) that fills the parallel channels best for a filter of few channels.

    f32 filters are never merged. The 0x10 and 0x30 flags of `use_3ic_optimize` say where the
    input is broadcast and are the caller's business.
    """
    if element_bytes >= 4:
        return MERGE_NOTHING
    parallel, limit = lanes.channels(element_bytes), most_merged_rows(element_bytes, lanes)
    if ic * kh * kw <= parallel and kh > 1 and kw > 1:
        return MERGE_BOTH
    if ic * kw <= parallel and kw > 1 and (kh < kw or ic * kh > parallel):
        return MERGE_WIDTH
    if ic * kh <= limit and kh > 1:
        return MERGE_HEIGHT
    return MERGE_NOTHING


def most_merged_rows(element_bytes: int, lanes: Lanes) -> int:
    """Up to how many channels the rows of a kernel may become, times the channels of the filter."""
    return lanes.count if element_bytes == 2 else lanes.channels(element_bytes)


@dataclass(frozen=True)
class FilterShape:
    """A convolution filter before any reordering; `ic` counts the channels of one group."""

    oc: int
    ic: int
    kh: int
    kw: int

    @classmethod
    def of(cls, dims: Sequence[int]) -> FilterShape:
        """Of `[oc, ic/group, kh, kw]`, or `[oc, ic/group, kh]`: a 1-D image is a column."""
        oc, ic, kh, kw = (*dims, 1)[:4]
        return cls(oc, ic, kh, kw)

    def merged(self, use_3ic: int) -> tuple[int, int]:
        """(input channels, kernel positions) after the 3ic merge."""
        kernel = {MERGE_NOTHING: 1, MERGE_HEIGHT: self.kh, MERGE_WIDTH: self.kw}.get(
            use_3ic & 3, self.kh * self.kw
        )
        return self.ic * kernel, self.kh * self.kw // kernel


def is_depthwise(shape: FilterShape, group: int) -> bool:
    """One input and one output channel per group: the depthwise unit's case."""
    return group > 1 and shape.ic == 1 and shape.oc == group


def filter_blocks(shape: FilterShape, group: int, element_bytes: int, lanes: Lanes) -> int:
    """How many blocks of output channels (one for each lane) by input channels (those of a row) the
    matrix unit goes through for one kernel position: its time is proportional to them."""
    per_group = math.ceil(shape.oc / group / lanes.count)
    return group * per_group * math.ceil(shape.ic / lanes.channels(element_bytes))


def dense_filter_blocks(shape: FilterShape, group: int, element_bytes: int, lanes: Lanes) -> int:
    """The same for the filter over all channels that is zero between the groups."""
    dense = FilterShape(shape.oc, shape.ic * group, shape.kh, shape.kw)
    return filter_blocks(dense, 1, element_bytes, lanes)


def fills_lanes(shape: FilterShape, group: int, lanes: Lanes) -> bool:
    """Whether every group's output channels take whole rounds of lanes."""
    return (shape.oc // group) % lanes.count == 0


def reordered_filter_shape(
    shape: FilterShape, element_bytes: int, row: int, group: int = 1, use_3ic: int = 0
) -> tuple[int, int, int, int]:
    """The shape `reorder_conv_filter` gives; always rank 4 with a leading 1."""
    if is_depthwise(shape, group):
        return (1, shape.oc, shape.kh, shape.kw)
    if element_bytes >= 4:
        return (1, shape.oc, shape.ic, shape.kh * shape.kw)
    parallel = channels_of_row(row, element_bytes)
    channels, positions = shape.merged(use_3ic)
    blocks = -(-channels // parallel)
    if blocks * positions * parallel > WIDEST_ROW:
        return (1, shape.oc, blocks, positions * parallel)
    return (1, shape.oc, 1, blocks * positions * parallel)


def reorder_conv_filter(
    filter_: Array, element_bytes: int, row: int, group: int = 1, use_3ic: int = 0
) -> Array:
    """`[oc, ic/group, kh, kw]` -> the layout the chip reads.

    16-bit and 8-bit: `out[oc][block][position][p] = in[oc][block * P + p][position]`, zeros
    beyond the last channel, as `[1, oc, 1, blocks * positions * P]` (or split over dimension 2
    when longer than 65535). Depthwise: `[1, oc, kh, kw]`. f32: `[1, oc, ic/group, kh * kw]`.
    `use_3ic` merges kernel rows and/or columns into the channels first; merging the width
    transposes each kernel before. Raises TpuError for a filter that is not of rank 4.
    """
    if filter_.ndim != 4:
        raise TpuError(f"a convolution filter has 4 dimensions, this one has {filter_.shape}")
    shape = FilterShape(*filter_.shape)
    target = reordered_filter_shape(shape, element_bytes, row, group, use_3ic)
    if is_depthwise(shape, group) or element_bytes >= 4:
        return filter_.reshape(target)
    parallel = channels_of_row(row, element_bytes)
    channels, positions = shape.merged(use_3ic)
    blocks = -(-channels // parallel)
    if use_3ic & 3 == MERGE_WIDTH:
        filter_ = filter_.transpose(0, 1, 3, 2)
    padded = np.zeros((shape.oc, blocks * parallel, positions), filter_.dtype)
    padded[:, :channels] = filter_.reshape(shape.oc, channels, positions)
    grouped = padded.reshape(shape.oc, blocks, parallel, positions)
    return np.ascontiguousarray(grouped.transpose(0, 1, 3, 2)).reshape(target)


def restore_conv_filter(
    reordered: Array,
    shape: FilterShape,
    element_bytes: int,
    row: int,
    group: int = 1,
    use_3ic: int = 0,
) -> Array:
    """The inverse of `reorder_conv_filter`: gives back `[oc, ic/group, kh, kw]`.

    How a long row is split over dimension 2 does not matter. Raises TpuError when `reordered`
    is not what that function makes of such a filter.
    """
    expected = reordered_filter_shape(shape, element_bytes, row, group, use_3ic)
    if reordered.shape[:2] != expected[:2] or reordered.size != math.prod(expected):
        raise TpuError(
            f"a reordered filter of {shape} at {element_bytes} bytes an element "
            f"(group {group}, 3ic mode {use_3ic & 3}) has shape {expected}, not {reordered.shape}"
        )
    plain = (shape.oc, shape.ic, shape.kh, shape.kw)
    if is_depthwise(shape, group) or element_bytes >= 4:
        return reordered.reshape(plain)
    parallel = channels_of_row(row, element_bytes)
    channels, positions = shape.merged(use_3ic)
    grouped = reordered.reshape(shape.oc, -1, positions, parallel).transpose(0, 1, 3, 2)
    flat = grouped.reshape(shape.oc, -1, positions)[:, :channels]
    if use_3ic & 3 == MERGE_WIDTH:
        return flat.reshape(shape.oc, shape.ic, shape.kw, shape.kh).transpose(0, 1, 3, 2)
    return flat.reshape(plain)
