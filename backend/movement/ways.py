"""Which ways a job could go through local memory, and which tiles."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.movement.job import Job, halves
from xdsl_tpu.backend.movement.tile import Extents, Way
from xdsl_tpu.backend.tensor import ceil_div

_GAPS = (1, 4, 32)
"""How much longer a run may get by elements that nobody wants."""

_SHARES = (1, 4, 16, 64)
"""Tiles fill local memory, or a part of it, so that the engines overlap."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way, the job that its division of a loop leaves over, and a bound of the cycles."""

    way: Way
    rest: Job | None
    bound: float


def candidates(job: Job, chip: Chip) -> list[Candidate]:
    """Ways for a job, the most promising first."""
    found: list[Candidate] = []
    loops = range(len(job.loops))
    for lane in loops:
        for main, rest in _divided(job, lane, chip):
            way = Way(main, lane, lane)
            found += (Candidate(way, rest, bound) for way, bound in _gaps(way, chip))
    if len(job.parts) == 1 and job.region == 1:
        for lane, after in _planes(job, chip):
            for early in (False, True):
                for late in (False, True):
                    way = Way(job, lane, after, early=early, late=late)
                    found.append(Candidate(way, None, _bound(way, chip)))
    return sorted(found, key=lambda candidate: candidate.bound)


def _divided(job: Job, lane: int, chip: Chip) -> Iterator[tuple[Job, Job | None]]:
    """The job with all rounds of a loop over the lanes, or each lane with some in a row."""
    yield job, None
    loop, full = job.loops[lane], chip.ddr_row_bytes
    wanted = {ceil_div(loop.extent, chip.lanes), ceil_div(loop.extent, 2 * chip.lanes)}
    for step in (loop.to, *map(abs, loop.at)):
        size = step * job.width
        if size and size < 8 * full:
            wanted |= {ceil_div(full // 2, size), ceil_div(full, size), ceil_div(8 * full, size)}
    sizes = {_divisor(loop.extent, size) for size in wanted if 1 < size < loop.extent}
    for size in sorted(sizes):
        yield halves(job, lane, size)


def _divisor(extent: int, size: int) -> int:
    """A divisor of extent, at least `size` and less than twice as large, if there is one."""
    return next((n for n in range(size, min(2 * size, extent)) if extent % n == 0), size)


def _planes(job: Job, chip: Chip) -> Iterator[tuple[int, int]]:
    """Loops that are inner ones of the result, and of the source."""
    within = chip.ddr_row_bytes // job.width
    ends = [k for k, loop in enumerate(job.loops) if loop.to < within and loop.at[0] > 0]
    begins = [k for k, loop in enumerate(job.loops) if 0 < loop.at[0] < within]
    for lane in ends:
        for after in begins:
            if lane != after:
                yield lane, after


def _gaps(way: Way, chip: Chip) -> Iterator[tuple[Way, float]]:
    """The way with all gaps that make a difference."""
    yield way, _bound(way, chip)
    job = way.job
    steps = [abs(loop.at[p]) for loop in job.loops for p in range(len(job.parts))]
    steps += [abs(digit.at) for part in job.parts for digit in part.digits]
    if 1 in steps and len(job.parts) == 1:
        return
    for gap in _GAPS[1:]:
        wide = Way(job, way.lane, way.after, gap)
        yield wide, _bound(wide, chip)


def _bound(way: Way, chip: Chip) -> float:
    """Cycles that both transfers take at least, were all loops in the lanes."""
    job = way.job
    stored = _run(_but(job, way.after, [loop.to for loop in job.loops]), job.region)
    share = min(1.0, stored * job.stored_width / chip.ddr_row_bytes)
    total = job.elements * job.stored_width / chip.store_bytes_per_cycle / share
    for number, part in enumerate(job.parts):
        digits = _but(job, way.lane, [abs(loop.at[number]) for loop in job.loops])
        digits += [(digit.extent, abs(digit.at)) for digit in part.digits]
        rounds = prod(loop.extent for loop in job.loops if loop.at[number])
        share = min(1.0, _run(digits, 1, way.gap) * job.width / chip.ddr_row_bytes)
        total += rounds * part.size * job.width / chip.load_bytes_per_cycle / share
    return total


def transferred(job: Job, chip: Chip) -> float:
    """Cycles in which both transfers move what they must at their full rate."""
    total = job.elements * job.stored_width / chip.store_bytes_per_cycle
    for number, part in enumerate(job.parts):
        rounds = prod(loop.extent for loop in job.loops if loop.at[number])
        size = prod(digit.extent for digit in part.digits if digit.at)
        total += rounds * size * job.width / chip.load_bytes_per_cycle
    return total


def _but(job: Job, lane: int, steps: Sequence[int]) -> list[tuple[int, int]]:
    """Extents and steps of all loops but that over the lanes."""
    pairs = zip(job.loops, steps, strict=True)
    return [(loop.extent, step) for k, (loop, step) in enumerate(pairs) if k != lane]


def _run(digits: Iterable[tuple[int, int]], unit: int, gap: int = 1) -> int:
    """Elements that lie one behind the other."""
    for extent, step in sorted(digits, key=lambda d: d[1]):
        if step and step <= gap * unit:
            unit += (extent - 1) * step
    return unit


def tiles(way: Way, chip: Chip) -> Iterator[Extents]:
    """Sizes of tiles worth trying: loops with short steps first, as far as there is room."""
    tried: set[Extents] = set()
    for share in _SHARES:
        extents = _grown(way, chip.local_bytes // share, chip)
        if extents is not None and extents not in tried:
            tried.add(extents)
            yield extents


def _grown(way: Way, most: int, chip: Chip) -> Extents | None:
    """The largest tile of so many bytes per lane: full runs first, then longer ones, then all."""
    loops = way.job.loops
    extents = [1] * len(loops)
    extents[way.lane] = min(loops[way.lane].extent, chip.lanes)
    if _bytes(way, extents, chip) > most:
        return None
    order = _inner_first(way)
    for reach in (1, 4, 16, None):
        for k, step in order:
            full = loops[k].extent
            if reach is not None:
                full = min(full, ceil_div(reach * chip.ddr_row_bytes, step * way.job.width))
            for size in _sizes(loops[k].extent, full, extents[k]):
                if _bytes(way, [*extents[:k], size, *extents[k + 1 :]], chip) <= most:
                    extents[k] = size
                    break
    return tuple(extents)


def _sizes(extent: int, most: int, start: int) -> list[int]:
    """Extents of a loop in equal pieces, the largest first, up to `most` and above `start`."""
    least = ceil_div(extent, max(most, 1))
    counts = {ceil_div(least * n, 4) for n in (4, 5, 6, 8, 12, 16, 24, 32, 48, 64)}
    sizes = {ceil_div(extent, count) for count in counts}
    return sorted((size for size in sizes if start < size), reverse=True)


def _inner_first(way: Way) -> list[tuple[int, int]]:
    """Loops and the shorter of their steps, in that order; that over the lanes is the last one,
    unless lanes and columns change places."""
    job = way.job
    found: list[tuple[bool, int, int]] = []
    for k, loop in enumerate(job.loops):
        far = [abs(at) for at in loop.at if at]
        found.append((k == way.lane == way.after, min([loop.to, *far]), k))
    return [(k, step) for _, step, k in sorted(found)]


def _bytes(way: Way, sizes: Sequence[int], chip: Chip) -> int:
    """Bytes per lane of all buffers, two of those at the ends, for a tile."""
    job, total = way.job, prod(sizes)
    groups, after = (ceil_div(sizes[k], chip.lanes) for k in (way.lane, way.after))
    parts = sum(part.size for part in job.parts)
    before = groups * (total // sizes[way.lane]) * parts * way.gap
    behind = after * (total // sizes[way.after]) * job.region
    between = before * way.early + behind * way.late
    cast = 2 * behind * job.stored_width + (behind * job.width if job.cast else 0)
    return (2 * before + between) * job.width + cast + chip.eu_bytes * (groups + after)
