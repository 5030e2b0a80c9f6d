"""Cutting element-wise work into local tensors.

An element-wise op sees its result and operands as the same box of elements, each with its own
DDR strides (0 where it repeats). `boxes` merges dimensions that lie one behind the other in all
of them, picks the one that goes over the lanes and yields 4-D boxes (n, c, h, w); `tiles` cuts a
box to what fits in local memory.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.tensor import Shape4, ceil_div, contiguous_strides
from xdsl_tpu.dialects.errors import DoesNotFit

MIN_RUN_BYTES = 256
"""Shorter DDR runs cost the GDMA as much as this."""

MAX_RUN_BYTES = 4096
"""One piece of a channel's interleave; longer runs gain nothing."""


@dataclass(frozen=True, slots=True)
class Box:
    """A 4-D range of elements: sizes, and per tensor the element offset and strides."""

    sizes: Shape4
    offsets: tuple[int, ...]
    strides: tuple[Shape4, ...]

    def cut(self, start: Shape4, sizes: Shape4) -> "Box":
        """The part of these sizes that begins at `start`."""
        offsets = tuple(
            offset + sum(i * s for i, s in zip(start, strides, strict=True))
            for offset, strides in zip(self.offsets, self.strides, strict=True)
        )
        return Box(sizes, offsets, self.strides)


def broadcast_strides(shape: tuple[int, ...], out: tuple[int, ...]) -> tuple[int, ...]:
    """Element strides of a row-major tensor read with the shape `out` (numpy broadcasting)."""
    padded = (1,) * (len(out) - len(shape)) + shape
    strides = contiguous_strides(padded)
    return tuple(
        0 if own == 1 and wanted != 1 else stride
        for own, wanted, stride in zip(padded, out, strides, strict=True)
    )


def merge(
    sizes: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Drop dimensions of size 1 and join neighbours that every tensor walks as one."""
    merged_sizes: list[int] = []
    merged: list[list[int]] = [[] for _ in strides]
    for axis, size in enumerate(sizes):
        if size == 1:
            continue
        steps = [s[axis] for s in strides]
        joins = bool(merged_sizes) and all(
            m[-1] == step * size for m, step in zip(merged, steps, strict=True)
        )
        if joins:
            merged_sizes[-1] *= size
            for m, step in zip(merged, steps, strict=True):
                m[-1] = step
            continue
        merged_sizes.append(size)
        for m, step in zip(merged, steps, strict=True):
            m.append(step)
    if not merged_sizes:
        return [1], [[1] for _ in strides]
    return merged_sizes, merged


def boxes(
    chip: Chip, out: tuple[int, ...], operands: Sequence[tuple[int, ...]], element_bytes: int
) -> Iterator[Box]:
    """4-D boxes that together cover `out`; tensor 0 of each box is the result.

    Row-major operands of the given shapes are broadcast to `out`.
    """
    strides = [contiguous_strides(out), *(broadcast_strides(s, out) for s in operands)]
    sizes, merged = merge(out, strides)
    if len(sizes) == 1:
        yield from _flat(chip, sizes[0], [m[0] for m in merged], element_bytes)
        return
    lane_axis = _lane_axis(chip, sizes)
    inner = [a for a in range(len(sizes)) if a != lane_axis][-3:]
    outer = [a for a in range(len(sizes)) if a != lane_axis and a not in inner]
    pads = 3 - len(inner)
    box = _four([1] * pads + [sizes[a] for a in inner], sizes[lane_axis])
    box_strides = tuple(_four([0] * pads + [m[a] for a in inner], m[lane_axis]) for m in merged)
    for index in _indices([sizes[a] for a in outer]):
        offsets = tuple(sum(i * m[a] for i, a in zip(index, outer, strict=True)) for m in merged)
        yield Box(box, offsets, box_strides)


def _four(inner: list[int], lane: int) -> Shape4:
    """(n, c, h, w) with the lane dimension at c."""
    return inner[0], lane, inner[1], inner[2]


def _indices(sizes: list[int]) -> Iterator[tuple[int, ...]]:
    for flat in range(math.prod(sizes)):
        index: list[int] = []
        for size in reversed(sizes):
            flat, i = divmod(flat, size)
            index.append(i)
        yield tuple(reversed(index))


def _lane_axis(chip: Chip, sizes: list[int]) -> int:
    """The dimension over the lanes: the one that fills them best, outer ones first; the
    innermost only when all others are 1, because its elements would be single-element runs."""

    def idle(axis: int) -> float:
        return ceil_div(sizes[axis], chip.lanes) * chip.lanes / sizes[axis]

    return min(range(len(sizes) - 1), key=lambda axis: (idle(axis), axis))


def _flat(chip: Chip, size: int, strides: list[int], element_bytes: int) -> Iterator[Box]:
    """One run of elements, spread over as many lanes as keep DDR runs long."""
    most = max(1, min(chip.lanes, size * element_bytes // MIN_RUN_BYTES))
    lanes = next((n for n in range(most, most // 2, -1) if size % n == 0), most)
    length = size // lanes
    rest = size - lanes * length
    zeros = (0,) * len(strides)
    pieces = _pieces(length, element_bytes)
    run = length // pieces
    step = tuple((s * lanes * run, s * run, 0, s) for s in strides)
    yield Box((pieces, lanes, 1, run), zeros, step)
    if rest:
        offsets = tuple(s * lanes * length for s in strides)
        yield Box((1, 1, 1, rest), offsets, tuple((0, 0, 0, s) for s in strides))


def _pieces(length: int, element_bytes: int) -> int:
    """In how many runs a lane takes `length` elements; 1 when no divisor gives runs of good length.

    The runs of all lanes lie one behind the other, so a tile of whole pieces is one stretch of DDR
    and uses all of its channels. Tiles cut from one long run per lane would be rows far apart, of
    which few start within the bytes that decide the share of the channels.
    """
    fewest = ceil_div(length * element_bytes, MAX_RUN_BYTES)
    most = length * element_bytes // MIN_RUN_BYTES
    return next((n for n in range(fewest, most + 1) if length % n == 0), 1)


def tiles(box: Box, fits: Callable[[Shape4], bool], units: Shape4) -> list[Box]:
    """Cut a box into equal parts for which `fits` holds, n first and w last.

    Parts are multiples of `units`. Raises TpuError when a part of `units` does not
    fit.
    """
    parts = list(box.sizes)
    while not fits((parts[0], parts[1], parts[2], parts[3])):
        axis = next((a for a in range(4) if parts[a] > units[a]), None)
        if axis is None:
            raise DoesNotFit(
                f"local memory is too small for the smallest part {units} of {box.sizes}; "
                "give a chip with more bytes_per_lane"
            )
        pieces = ceil_div(parts[axis], units[axis])
        parts[axis] = ceil_div(pieces, 2) * units[axis]
    cuts: list[Box] = []
    for n in range(0, box.sizes[0], parts[0]):
        for c in range(0, box.sizes[1], parts[1]):
            for h in range(0, box.sizes[2], parts[2]):
                for w in range(0, box.sizes[3], parts[3]):
                    start = (n, c, h, w)
                    left = zip(parts, box.sizes, start, strict=True)
                    a, b, d, e = (min(p, size - i) for p, size, i in left)
                    cuts.append(box.cut(start, (a, b, d, e)))
    return cuts
