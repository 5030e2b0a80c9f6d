"""Dynamic storage allocation: give buffers with known lifetimes places in one arena.

The problem is NP-hard, so several cheap heuristics compete and the smallest arena wins. Each order
of the buffers gives a plan (every buffer takes the lowest, or the tightest, gap left by those
placed before it); one more plan comes from filling the time/address plane from the bottom
(Sekiyama et al., "Profile-guided memory optimization for deep neural networks", 2018). When no
plan reaches the lower bound, a seeded local search moves buffers that reach the top of the arena
to an earlier place in the order.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl_tpu.passes.address_assign.buffers import Buffer, Plan, align_up, peak_live_bytes

ALIGNMENT_BYTES = 64
"""One cache line of the DMA engine; every tensor row of the chip starts at a multiple of it."""

PAGE_BYTES = 4096
"""Coefficients, separate inputs and outputs, and the arena start at multiples of this."""

SEARCH_STEPS = 2000
SEARCH_VISITS = 4_000_000
"""Limit of the search's work: steps times pairs of buffers that are live together."""

CLOSE_ENOUGH = 1.002
"""The search stops when the arena is this close to the lower bound."""

Order = tuple[int, ...]


@dataclass(frozen=True)
class _Problem:
    """Buffers with sizes rounded up to the alignment, and who is live together with whom."""

    buffers: tuple[Buffer, ...]
    neighbours: tuple[tuple[int, ...], ...]


def plan(
    buffers: Sequence[Buffer],
    alignment: int = ALIGNMENT_BYTES,
    search_steps: int = SEARCH_STEPS,
    seed: int = 0,
) -> Plan:
    """The best plan found; offsets are multiples of `alignment`.

    Deterministic: equal arguments give equal plans. The arena is never below
    `peak_live_bytes(buffers)`.
    """
    problem = _problem(buffers, alignment)
    bound = peak_live_bytes(problem.buffers)
    best_order: Order | None = None
    best = _bottom_up(problem)
    for order in _orders(problem.buffers):
        for gap_choice in (_lowest_gap, _tightest_gap):
            candidate = _place(problem, order, gap_choice)
            if candidate.arena_bytes < best.arena_bytes or best_order is None:
                best_order = order
            best = min(best, candidate, key=lambda p: p.arena_bytes)
            if best.arena_bytes == bound:
                return best
    if best_order is None or best.arena_bytes <= bound * CLOSE_ENOUGH:
        return best
    searched = _local_search(problem, best_order, bound, search_steps, random.Random(seed))
    return min(best, searched, key=lambda p: p.arena_bytes)


def _problem(buffers: Sequence[Buffer], alignment: int) -> _Problem:
    rounded = tuple(Buffer(b.name, align_up(b.size, alignment), b.first, b.last) for b in buffers)
    neighbours: list[list[int]] = [[] for _ in rounded]
    live: list[int] = []
    for i in sorted(range(len(rounded)), key=lambda i: rounded[i].first):
        live = [j for j in live if rounded[j].last >= rounded[i].first]
        for j in live:
            neighbours[i].append(j)
            neighbours[j].append(i)
        live.append(i)
    return _Problem(rounded, tuple(map(tuple, neighbours)))


def _orders(buffers: Sequence[Buffer]) -> Iterator[Order]:
    """Placement orders worth trying; ties keep program order."""
    keys: tuple[Callable[[Buffer], tuple[int, ...]], ...] = (
        lambda b: (-b.size, b.first),
        lambda b: (-b.size * (b.last - b.first + 1), b.first),
        lambda b: (b.first - b.last, -b.size),
        lambda b: (b.first, -b.size),
        lambda b: (-b.last, -b.size),
    )
    for key in keys:
        yield tuple(sorted(range(len(buffers)), key=lambda i, key=key: key(buffers[i])))


Gap = tuple[int, int | None]
"""A free range (start, end); the last one is open: its end is None."""


def _lowest_gap(gaps: Sequence[Gap]) -> int:
    return gaps[0][0]


def _tightest_gap(gaps: Sequence[Gap]) -> int:
    closed = [(end - start, start) for start, end in gaps if end is not None]
    return min(closed)[1] if closed else gaps[-1][0]


def _place(problem: _Problem, order: Order, choose: Callable[[Sequence[Gap]], int]) -> Plan:
    """Place the buffers one after the other, each in a gap between its placed neighbours."""
    offsets = [-1] * len(order)
    top = 0
    for i in order:
        size = problem.buffers[i].size
        taken = sorted(
            (offsets[j], offsets[j] + problem.buffers[j].size)
            for j in problem.neighbours[i]
            if offsets[j] >= 0
        )
        offsets[i] = choose(_gaps(taken, size))
        top = max(top, offsets[i] + size)
    return Plan(tuple(offsets), top)


def _gaps(taken: Sequence[tuple[int, int]], size: int) -> list[Gap]:
    """Free ranges of at least `size` bytes between sorted taken ranges, lowest first."""
    gaps: list[Gap] = []
    start = 0
    for low, high in taken:
        if low - start >= size:
            gaps.append((start, low))
        start = max(start, high)
    gaps.append((start, None))
    return gaps


def _bottom_up(problem: _Problem) -> Plan:
    """Fill the lowest valley of the skyline with the longest-lived buffer that fits into it."""
    buffers = problem.buffers
    if not buffers:
        return Plan((), 0)
    skyline = [0] * (max(b.last for b in buffers) + 1 - (base := min(b.first for b in buffers)))
    offsets = [0] * len(buffers)
    waiting = sorted(
        range(len(buffers)),
        key=lambda i: (buffers[i].first - buffers[i].last, -buffers[i].size),
    )
    while waiting:
        left, right = _lowest_valley(skyline)
        found = next((i for i in waiting if _within(buffers[i], left + base, right + base)), None)
        if found is None:
            walls = (*skyline[max(left - 1, 0) : left], *skyline[right + 1 : right + 2])
            skyline[left : right + 1] = [min(walls)] * (right + 1 - left)
            continue
        buffer = buffers[found]
        waiting.remove(found)
        offsets[found] = skyline[left]
        length = buffer.last - buffer.first + 1
        start = buffer.first - base
        skyline[start : start + length] = [skyline[left] + buffer.size] * length
    return Plan(tuple(offsets), max(o + b.size for o, b in zip(offsets, buffers, strict=True)))


def _within(buffer: Buffer, first: int, last: int) -> bool:
    return first <= buffer.first and buffer.last <= last


def _lowest_valley(skyline: Sequence[int]) -> tuple[int, int]:
    """First and last step of the leftmost run of lowest height."""
    height = min(skyline)
    left = skyline.index(height)
    right = left
    while right + 1 < len(skyline) and skyline[right + 1] == height:
        right += 1
    return left, right


def _local_search(
    problem: _Problem, order: Order, bound: int, steps: int, rng: random.Random
) -> Plan:
    """Move a buffer that touches the top to an earlier place; keep what is not worse."""
    current = best = _place(problem, order, _lowest_gap)
    current_order = list(order)
    visits = sum(map(len, problem.neighbours))
    for _ in range(min(steps, SEARCH_VISITS // max(visits, 1))):
        if best.arena_bytes <= bound * CLOSE_ENOUGH:
            break
        highest = [
            place
            for place, i in enumerate(current_order)
            if current.offsets[i] + problem.buffers[i].size == current.arena_bytes
        ]
        source = rng.choice(highest)
        if rng.random() < 0.3 or source == 0:
            source = rng.randrange(1, len(current_order))
        moved = current_order.copy()
        moved.insert(rng.randrange(source), moved.pop(source))
        candidate = _place(problem, tuple(moved), _lowest_gap)
        if candidate.arena_bytes <= current.arena_bytes:
            current, current_order = candidate, moved
            best = min(best, current, key=lambda p: p.arena_bytes)
    return best
