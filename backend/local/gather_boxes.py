"""Index maps as strided DMA commands between DDR and local memory.

A command copies at most four loops: neighbouring channels, which lie in neighbouring lanes, one run
that is contiguous on both sides, and two more at any distances. A box with more loops takes one
command for each step of the others; which loops stay is what takes the fewest cycles.
"""

import math
from collections.abc import Iterator, Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.movement.transfers import MOST_COMMANDS, Lanes, transfers
from xdsl_tpu.backend.tensor import WORD_BYTES, GlobalTensor, LocalTensor
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap, gathered

CHANNEL = 1 << 40
"""The distance of two channels in the result of a map into local memory: no lane reaches so far."""

_WITHIN = CHANNEL // 2  # no loop within channels goes so far; others may begin further down a lane
_NO_LOOP = Digit(1, 0, 0)

Piece = tuple[LocalTensor, GlobalTensor]
"""Both sides of one command."""


def slice_map(
    target: LocalTensor,
    depth: int,
    start: Sequence[int],
    full: Sequence[int],
    channel: int = CHANNEL,
) -> IndexMap:
    """Where each element of a slice in local memory is in its whole value.

    The slice begins at `start` (n, c, d, h, w) of a value whose sizes are `full`; `target` is
    (depth * n, c, h, w), d outermost. Channels are `channel` apart in the result.
    """
    count, c, h, w = target.shape
    by_n, _, by_h, by_w = target.strides
    at = [math.prod(full[axis + 1 :]) for axis in range(5)]
    images = count // depth
    digits = (
        Digit(depth, images * by_n, at[2]),
        Digit(images, by_n, at[0]),
        Digit(c, channel, at[1]),
        Digit(h, by_h, at[3]),
        Digit(w, by_w, at[4]),
    )
    first = sum(i * stride for i, stride in zip(start, at, strict=True))
    return IndexMap((Box(0, first, digits).simplified(),))


def pieces(
    boxes: IndexMap, target: LocalTensor, source: GlobalTensor, chip: Chip
) -> list[Piece] | None:
    """Commands that together bring every element of a map into local memory, once.

    Results of the map are channels and elements of `target`, sources are elements of `source`.
    None when it takes more than `MOST_COMMANDS`.
    """
    found: list[Piece] = []
    dtype, group = target.dtype, target.strides[1]
    for lane, channels, box in _by_lanes(boxes, target, chip):
        lanes = Lanes(channels.extent, channels.at, group)
        # Boxes that are alike but for whole words of their places are looked up once.
        near = Box(box.to % WORD_BYTES, box.at % WORD_BYTES, box.digits)
        way = transfers(lanes, near, dtype.bytes, chip, stores=False)
        if way is None or len(found) + len(way.pairs) > MOST_COMMANDS:
            return None
        start = target.address + (lane << chip.lane_shift) + (box.to - near.to) * dtype.bytes
        first = source.address + (box.at - near.at) * dtype.bytes
        for local, ddr in way.pairs:
            address, layout = local.address + start, local.layout
            place = LocalTensor(address, local.shape, local.strides, dtype, layout)
            found.append((place, GlobalTensor(ddr.address + first, ddr.shape, ddr.strides, dtype)))
    return found


def _by_lanes(boxes: IndexMap, target: LocalTensor, chip: Chip) -> Iterator[tuple[int, Digit, Box]]:
    """Boxes of elements within lanes: the first lane, the loop over channels, the other loops."""
    alike: dict[tuple[int, Digit], list[Box]] = {}
    for box in boxes.boxes:
        unit = next((d for d in box.digits if d.to == CHANNEL and d.at >= 0), _NO_LOOP)
        far = [d for d in box.digits if d.to > _WITHIN or d.at < 0]
        far = [d for d in far if d is not unit]
        near = tuple(d for d in box.digits if d not in far and d is not unit)
        if math.prod(digit.extent for digit in far) > MOST_COMMANDS:
            far, near = [], (*far, *near)  # too many commands, which `_cheapest` finds
        for to, at in Box(box.to, box.at, tuple(far)).points():
            channel, offset = divmod(to, CHANNEL)
            for first, count in _lane_rows(channel, unit.extent, chip.lanes):
                group, lane = divmod(first, chip.lanes)
                step = Digit(count, 1, unit.at if count > 1 else 0)
                place = offset + group * target.strides[1]
                start = at + (first - channel) * unit.at
                alike.setdefault((lane, step), []).append(Box(place, start, near))
    for (lane, step), found in alike.items():
        for box in gathered(found):
            yield lane, step, box


def _lane_rows(first: int, count: int, lanes: int) -> Iterator[tuple[int, int]]:
    """Channels that one command can name: those that begin behind lane 0 end with the lanes."""
    stop = first + count
    while first < stop:
        here = min(stop - first, lanes - first % lanes) if first % lanes else stop - first
        yield first, here
        first += here
