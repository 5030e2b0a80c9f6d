"""Local memory over time: which banks each command touches, and how many bytes are in use.

A lane stands for all: offsets within a lane, the union over the lanes of an operand. An operand
counts as the span from its first byte to its last.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.operands import accesses
from xdsl_tpu.backend.operands.region import Region, regions
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import Event, Timeline
from xdsl_tpu.dialects.errors import TpuError

GRANULE = 64
"""Bytes per lane that share one lifetime."""

Span = tuple[int, int]


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
    use = LocalUse({e: [] for e in Engine}, {e: [] for e in Engine})
    touched: list[tuple[Event, list[Span], list[Span]]] = []
    for engine in Engine:
        queue = program.queue(engine)
        for event in timeline.events[engine]:
            read, written = spans(queue[event.position], chip)
            touched.append((event, read, written))
            use.reads[engine].append(_banks(read, chip))
            use.writes[engine].append(_banks(written, chip))
    touched.sort(key=lambda item: (item[0].start, item[0].start + item[0].cycles))
    lifetimes = _Lifetimes(chip.local_bytes // GRANULE)
    for event, read, written in touched:
        for low, high in read:
            lifetimes.read(low, high, event.start + event.cycles)
        for low, high in written:
            lifetimes.write(low, high, event.start, event.start + event.cycles)
    use.times, use.bytes = lifetimes.steps()
    return use


def spans(command: Command, chip: Chip) -> tuple[list[Span], list[Span]]:
    """Bytes within a lane that a command reads, and that it writes."""
    found: tuple[list[Span], list[Span]] = ([], [])
    try:
        touched = accesses(command, chip)
    except TpuError:
        return found
    for access in touched:
        if access.local and all(access.shape):
            found[access.writes].extend(_span(region, chip) for region in regions(access, chip))
    return found


def _span(region: Region, chip: Chip) -> Span:
    low = region.start % chip.local_bytes
    inner = [
        (size - 1) * step
        for size, step in zip(region.sizes, region.steps, strict=True)
        if step % chip.local_bytes
    ]
    return low, min(low + sum(inner) + region.run, chip.local_bytes)


def _banks(found: Iterable[Span], chip: Chip) -> int:
    """A bit for each bank that the spans touch."""
    mask = 0
    for low, high in found:
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
