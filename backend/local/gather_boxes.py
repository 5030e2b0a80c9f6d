"""Reading a tensor in any order by few strided DMA commands.

`gather_boxes` is given, for every element of a tensor in local memory, where in the source it
comes from, and finds boxes that a DMA can copy: at most four sizes, any strides on both sides.
Elements next to each other on both sides make runs, runs in neighbouring lanes make rows, and
rows at equal distances on both sides make boxes of two more levels.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.tensor import Shape4

MOST_RUNS = 32768
"""More runs than this are not worth looking at: commands would move a few bytes each."""


@dataclass(frozen=True, slots=True)
class GatherBox:
    """A box of `shape` (n, c, h, w), channel c in lane `lane` + c.

    `offset` (within the lane) and `base` (within the source) are in elements; so are the
    strides, `local` for n, channel group, h, w and `source` for n, c, h, w.
    """

    lane: int
    offset: int
    base: int
    shape: Shape4
    local: Shape4
    source: Shape4


@dataclass(frozen=True, slots=True)
class _Row:
    """`lanes` runs in neighbouring lanes, `step` apart in the source."""

    lane: int
    lanes: int
    step: int
    offset: int
    base: int


def gather_boxes(
    order: npt.NDArray[Any], strides: Shape4, lanes: int
) -> tuple[GatherBox, ...] | None:
    """Boxes that together bring source[order[n, c, h, w]] to (n, c, h, w), every element once.

    Channel c of the target lies in lane c mod `lanes`, group c div `lanes`; `strides` are its
    element strides for n, group, h, w. None when it takes more than `MOST_RUNS` runs.
    """
    n, c, h, w = order.shape
    _, group_step, h_step, _ = strides
    joined = h_step == w
    lines = order.reshape(n, c, 1, h * w) if joined else order
    run = _run_length(lines)
    starts = lines[..., ::run]
    if starts.size > MOST_RUNS:
        return None
    rows: dict[tuple[int, int, int], list[_Row]] = {}
    for i, j, k in np.ndindex(n, *starts.shape[2:]):
        place = i * strides[0] + j * h_step + k * run
        for row in _rows(starts[i, :, j, k].tolist(), place, group_step, lanes):
            rows.setdefault((row.lane, row.lanes, row.step), []).append(row)
    return tuple(box for alike in rows.values() for box in _boxes(alike, run, group_step))


def _run_length(lines: npt.NDArray[Any]) -> int:
    """The longest run that divides the innermost axis and is contiguous everywhere."""
    breaks = np.flatnonzero((np.diff(lines, axis=3) != 1).any(axis=(0, 1, 2)))
    return math.gcd(lines.shape[3], *(int(place) + 1 for place in breaks))


def _rows(values: Sequence[int], place: int, group_step: int, lanes: int) -> Iterator[_Row]:
    """One column of runs, by lanes; a row that begins behind lane 0 ends with the lanes."""
    for first, count, step in _progressions([(value,) for value in values]):
        stop = first + count
        while first < stop:
            group, lane = divmod(first, lanes)
            here = min(stop - first, lanes - lane) if lane else stop - first
            offset = place + group * group_step
            yield _Row(lane, here, step[0] if here > 1 else 0, offset, values[first])
            first += here


def _boxes(rows: Sequence[_Row], run: int, group_step: int) -> Iterator[GatherBox]:
    """Rows that differ in their places only, joined wherever the places are a lattice."""
    rows = sorted(rows, key=lambda row: row.offset)
    inner = _progressions([(row.offset, row.base) for row in rows])
    alike: dict[tuple[int, tuple[int, ...]], list[_Row]] = {}
    for first, count, step in inner:
        alike.setdefault((count, step), []).append(rows[first])
    for (count, step), starts in alike.items():
        for first, times, outer in _progressions([(row.offset, row.base) for row in starts]):
            row = starts[first]
            yield GatherBox(
                row.lane,
                row.offset,
                row.base,
                (times, row.lanes, count, run),
                (outer[0], group_step, step[0], 1),
                (outer[1], row.step, step[1], 1),
            )


def _progressions(
    points: Sequence[tuple[int, ...]],
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Cut a sequence into arithmetic progressions: (first index, count, step).

    No step is negative: strides are unsigned fields of a command.
    """
    steps = [tuple(b - a for a, b in zip(p, q, strict=True)) for p, q in pairwise(points)]
    first = 0
    while first < len(points):
        last = first
        while last < len(steps) and steps[last] == steps[first] and min(steps[last]) >= 0:
            last += 1
        # Two points are always a progression; better leave the second one to a longer one.
        if last == first + 1 and last + 1 < len(steps) and steps[last] == steps[last + 1]:
            last = first
        count = last - first + 1
        yield first, count, steps[first] if count > 1 else (0,) * len(points[first])
        first = last + 1
