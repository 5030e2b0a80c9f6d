"""Index maps as strided DMA commands between DDR and local memory.

A command copies at most four loops: neighbouring channels, which lie in neighbouring lanes, one run
that is contiguous on both sides, and two more at any distances. A box with more loops takes one
command for each step of the others; which loops stay is what takes the fewest cycles.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.transfer import load_cycles
from xdsl_tpu.backend.tensor import GlobalTensor, Layout, LocalTensor
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap, gathered

CHANNEL = 1 << 40
"""The distance of two channels in the result of a map into local memory: no lane reaches so far."""

MOST_COMMANDS = 32768
"""More commands than this are not worth counting: they would move a few bytes each."""

_WITHIN = CHANNEL // 2  # no loop within channels goes so far; others may begin further down a lane
_LARGEST_SIZE = 65535  # sizes of a command are 16-bit fields
_NO_LOOP = Digit(1, 0, 0)

Piece = tuple[LocalTensor, GlobalTensor]
"""Both sides of one command."""


def slice_map(
    target: LocalTensor, depth: int, start: Sequence[int], full: Sequence[int]
) -> IndexMap:
    """Where each element of a slice in local memory is in its whole value.

    The slice begins at `start` (n, c, d, h, w) of a value whose sizes are `full`; `target` is
    (depth * n, c, h, w), d outermost. Channels are CHANNEL apart in the result.
    """
    count, c, h, w = target.shape
    by_n, _, by_h, by_w = target.strides
    at = [math.prod(full[axis + 1 :]) for axis in range(5)]
    images = count // depth
    digits = (
        Digit(depth, images * by_n, at[2]),
        Digit(images, by_n, at[0]),
        Digit(c, CHANNEL, at[1]),
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
    for lane, channels, box in _by_lanes(boxes, target, chip):
        loops = [part for digit in box.digits for part in _short(digit)]
        run = next((d.extent for d in loops if (d.to, d.at) == (1, 1)), 1)
        others = tuple(d for d in loops if (d.to, d.at) != (1, 1))
        transfer = _Transfer(lane, channels, run, target, source, chip)
        way = _cheapest(Box(box.to, box.at, others), transfer)
        if way is None or len(found) + len(way) > MOST_COMMANDS:
            return None
        found += way
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


def _short(digit: Digit) -> Iterator[Digit]:
    """A loop as loops whose sizes a command has room for."""
    if digit.extent <= _LARGEST_SIZE:
        yield digit
        return
    inner = next(n for n in range(_LARGEST_SIZE, 0, -1) if digit.extent % n == 0)
    yield from _short(Digit(digit.extent // inner, digit.to * inner, digit.at * inner))
    yield Digit(inner, digit.to, digit.at)


@dataclass(frozen=True, slots=True)
class _Transfer:
    """What commands of one box have in common."""

    lane: int
    channels: Digit
    run: int
    target: LocalTensor
    source: GlobalTensor
    chip: Chip

    def piece(self, to: int, at: int, n: Digit, h: Digit) -> Piece:
        """One command: n and h are two loops, c the channels from the lane on, w the run."""
        shape = (n.extent, self.channels.extent, h.extent, self.run)
        target, source = self.target, self.source
        address = target.address + to * target.dtype.bytes + (self.lane << self.chip.lane_shift)
        local = (n.to, target.strides[1], h.to, 1)
        start = source.address + at * source.dtype.bytes
        ddr = GlobalTensor(start, shape, (n.at, self.channels.at, h.at, 1), source.dtype)
        return LocalTensor(address, shape, local, target.dtype, Layout.FREE), ddr


def _cheapest(box: Box, transfer: _Transfer) -> list[Piece] | None:
    """The box as the commands that take the fewest cycles, then the fewest commands.

    The loops of the box are without its run.
    """
    best: tuple[int, int, tuple[Digit, Digit]] | None = None
    for kept in permutations([*box.digits, _NO_LOOP, _NO_LOOP], 2):
        count = math.prod(d.extent for d in box.digits if d not in kept)
        if count > MOST_COMMANDS or any(d.at < 0 or d.to > _WITHIN for d in kept):
            continue
        # A cycle more for each: rounding down must not make many small commands look cheaper.
        piece = transfer.piece(box.to, box.at, *kept)
        cycles = count * (load_cycles(*piece, transfer.chip) + 1)
        if best is None or (cycles, count) < best[:2]:
            best = cycles, count, kept
    if best is None:
        return None
    rest = tuple(digit for digit in box.digits if digit not in best[2])
    return [transfer.piece(to, at, *best[2]) for to, at in Box(box.to, box.at, rest).points()]
