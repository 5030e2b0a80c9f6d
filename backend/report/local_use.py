"""Local memory over time: which banks each command touches, and how many bytes are in use."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report.footprints import Span, footprints, in_order
from xdsl_tpu.backend.timing import Timeline

GRANULE = 64
"""Bytes per lane that share one lifetime."""


@dataclass
class LocalUse:
    """`reads` and `writes`: for each engine and event, a bit for each bank. `times` and `bytes`:
    from each of these cycles on, so many bytes per lane hold a value that is still needed."""

    reads: dict[Engine, list[int]] = field(default_factory=dict[Engine, list[int]])
    writes: dict[Engine, list[int]] = field(default_factory=dict[Engine, list[int]])
    times: list[int] = field(default_factory=list[int])
    bytes: list[int] = field(default_factory=list[int])


def local_use(program: Program, timeline: Timeline, chip: Chip) -> LocalUse:
    """Banks and bytes of a run. Commands whose operands are not known count as using none."""
    use = LocalUse()
    run = footprints(program, timeline, chip)
    for engine, touched in run.items():
        use.reads[engine] = [_banks(one.read, chip) for one in touched]
        use.writes[engine] = [_banks(one.written, chip) for one in touched]
    lifetimes = _Lifetimes(chip.local_bytes // GRANULE)
    for one in in_order(run):
        start, end = one.event.start, one.event.start + one.event.cycles
        for low, high, _ in one.read:
            lifetimes.read(low, high, end)
        for low, high, _ in one.written:
            lifetimes.write(low, high, start, end)
    use.times, use.bytes = lifetimes.steps()
    return use


def _banks(found: Iterable[Span], chip: Chip) -> int:
    """A bit for each bank that the spans touch."""
    mask = 0
    for low, high, _ in found:
        first, last = low // chip.bank_bytes, (high - 1) // chip.bank_bytes
        mask |= (1 << (last + 1)) - (1 << first)
    return mask


class _Lifetimes:
    """For every granule since when its value exists, and until when it is known to be needed."""

    def __init__(self, granules: int) -> None:
        self._since: npt.NDArray[np.int64] = np.full(granules, -1, np.int64)
        self._until: npt.NDArray[np.int64] = np.full(granules, -1, np.int64)
        self._starts: list[npt.NDArray[np.int64]] = []
        self._ends: list[npt.NDArray[np.int64]] = []
        self._counts: list[npt.NDArray[np.int64]] = []

    def read(self, low: int, high: int, end: int) -> None:
        """Some command reads the bytes until `end`."""
        until = self._until[low // GRANULE : -(-high // GRANULE)]
        np.maximum(until, end, out=until)

    def write(self, low: int, high: int, start: int, end: int) -> None:
        """A command writes the bytes from `start` to `end`: what was there is dead."""
        part = slice(low // GRANULE, -(-high // GRANULE))
        self._close(part, start)
        self._since[part], self._until[part] = start, end

    def steps(self) -> tuple[list[int], list[int]]:
        """Cycles at which the bytes in use change, and how many they are from there on."""
        self._close(slice(None), None)
        starts, ends, counts = (
            np.concatenate([np.zeros(0, np.int64), *part])
            for part in (self._starts, self._ends, self._counts)
        )
        times, index = np.unique(np.concatenate([starts, ends]), return_inverse=True)
        change = np.zeros(times.size, np.int64)
        np.add.at(change, index, np.concatenate([counts, -counts]))
        kept = np.flatnonzero(change)
        values: Any = np.cumsum(change[kept]) * GRANULE
        return times[kept].tolist(), values.tolist()

    def _close(self, part: slice, cut: int | None) -> None:
        """Note the lifetimes that end in a part, at `cut` at the latest; equal ones as one."""
        since, until = self._since[part], self._until[part]
        if cut is not None:
            until = np.minimum(until, cut)
        changes = np.flatnonzero((since[1:] != since[:-1]) | (until[1:] != until[:-1])) + 1
        first = np.concatenate([np.zeros(1, np.int64), changes])
        counts = np.diff(np.append(first, since.size))
        real = (since[first] >= 0) & (until[first] > since[first])
        if real.any():
            self._starts.append(since[first][real])
            self._ends.append(until[first][real])
            self._counts.append(counts[real])


def byte_cycles(use: LocalUse) -> int:
    """Bytes per lane in use, times the cycles for which they are."""
    return sum(_areas(use))


def _areas(use: LocalUse) -> Iterator[int]:
    for index in range(len(use.times) - 1):
        yield (use.times[index + 1] - use.times[index]) * use.bytes[index]
