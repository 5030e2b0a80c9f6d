"""Sets of addresses as sorted intervals: what they cost grows with their pieces, not their bytes.

A region is a run of bytes repeated by nested loops, so how many of its bytes lie below an address
is a sum of quotients (`_below`). What of a region is not in a set follows from that at the ends
of the gaps between the set's intervals, without going through the region's runs.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.operands.region import Region, united

Addresses = npt.NDArray[np.int64]

MOST_RUNS = 1 << 24
"""A region of more runs enters a set from its first to its last byte."""


@dataclass(frozen=True, slots=True)
class Missing:
    """`count` bytes, the lowest at address `first`, the highest at `last`."""

    count: int
    first: int
    last: int


class Intervals:
    """A set of addresses; intervals [start, end) that neither overlap nor touch."""

    def __init__(self) -> None:
        self._starts = self._ends = np.zeros(0, np.int64)

    def add(self, region: Region) -> None:
        """All bytes of a region, and those between its runs when it has more than MOST_RUNS."""
        low = int(np.searchsorted(self._ends, region.start, "left"))
        high = int(np.searchsorted(self._starts, region.end, "right"))
        if high - low == 1 and self._starts[low] <= region.start and region.end <= self._ends[low]:
            return
        starts, ends = _runs(region)
        starts, ends = united(
            np.concatenate((self._starts[low:high], starts)),
            np.concatenate((self._ends[low:high], ends)),
        )
        self._starts = np.concatenate((self._starts[:low], starts, self._starts[high:]))
        self._ends = np.concatenate((self._ends[:low], ends, self._ends[high:]))

    def missing(self, region: Region) -> Missing | None:
        """The bytes of a region that are not in the set."""
        low = int(np.searchsorted(self._ends, region.start, "right"))
        high = int(np.searchsorted(self._starts, region.end, "left"))
        gap_starts = np.concatenate(([region.start], self._ends[low:high]))
        gap_ends = np.concatenate((self._starts[low:high], [region.end]))
        before, behind = _below(region, gap_starts), _below(region, gap_ends)
        counts = behind - before
        (holes,) = np.nonzero(counts > 0)
        if not holes.size:
            return None
        first, last = holes[0], holes[-1]
        return Missing(
            int(counts[holes].sum()),
            _byte(region, int(before[first])),
            _byte(region, int(behind[last]) - 1),
        )


def _runs(region: Region) -> tuple[Addresses, Addresses]:
    if math.prod(region.sizes) > MOST_RUNS:
        return np.array([region.start], np.int64), np.array([region.end], np.int64)
    starts = np.array([region.start], np.int64)
    for count, step in zip(region.sizes, region.steps, strict=True):
        starts = np.add.outer(starts, np.arange(count, dtype=np.int64) * step).ravel()
    return starts, starts + region.run


def _below(region: Region, addresses: Addresses) -> Addresses:
    """How many bytes of a region are at lower addresses, for each address."""
    rest = np.maximum(addresses - region.start, 0)
    found = np.zeros_like(rest)
    inner = math.prod(region.sizes) * region.run
    for count, step in zip(region.sizes, region.steps, strict=True):
        inner //= count
        turns = np.minimum(rest // step, count - 1)
        found += turns * inner
        rest -= turns * step
    return found + np.minimum(rest, region.run)


def _byte(region: Region, index: int) -> int:
    """The address of a region's byte with `index` bytes below it."""
    address = region.start
    inner = math.prod(region.sizes) * region.run
    for count, step in zip(region.sizes, region.steps, strict=True):
        inner //= count
        turns, index = divmod(index, inner)
        address += turns * step
    return address + index
