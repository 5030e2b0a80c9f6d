"""Dynamic storage allocation: give buffers with known lifetimes places in one arena.

The problem is NP-hard, so several cheap heuristics compete and the smallest arena wins: first fit
in several orders (`backend/first_fit.py`), each in the lowest or the tightest gap, and one more
plan that fills the time/address plane from the bottom (Sekiyama et al., "Profile-guided memory
optimization for deep neural networks", 2018). When no plan reaches the lower bound, a seeded local
search moves buffers that reach the top of the arena to an earlier place in the order.
"""

import random
from collections.abc import Sequence

from xdsl_tpu.backend.first_fit import Buffer, Order, Placement, Problem, lowest, tightest

ALIGNMENT_BYTES = 64
"""One cache line of the DMA engine; every tensor row of the chip starts at a multiple of it."""

PAGE_BYTES = 4096
"""Coefficients, separate inputs and outputs, and the arena start at multiples of this."""

SEARCH_STEPS = 2000
SEARCH_VISITS = 4_000_000
"""Limit of the search's work: steps times pairs of buffers that are live together."""

CLOSE_ENOUGH = 1.002
"""The search stops when the arena is this close to the lower bound."""


def align_up(value: int, alignment: int) -> int:
    """The smallest multiple of `alignment` that is at least `value`."""
    return -(-value // alignment) * alignment


def plan(
    buffers: Sequence[Buffer],
    alignment: int = ALIGNMENT_BYTES,
    search_steps: int = SEARCH_STEPS,
    seed: int = 0,
) -> Placement:
    """The best plan found; offsets are multiples of `alignment`.

    Deterministic: equal arguments give equal plans. No plan uses less than `peak_bytes(buffers)`.
    Raises ValueError for a lifetime that ends before it begins: a function is not a loop.
    """
    backwards = next((b for b in buffers if b.first > b.last and not b.always), None)
    if backwards is not None:
        raise ValueError(f"buffer {backwards.key}: steps {backwards.first}..{backwards.last}")
    problem = Problem.of(buffers, alignment)
    bound = problem.peak()
    best_order: Order | None = None
    best = _bottom_up(problem)
    for order in problem.orders():
        for choice in (lowest, tightest):
            candidate = problem.place(order, choice)
            if candidate.used < best.used or best_order is None:
                best_order = order
            best = min(best, candidate, key=lambda p: p.used)
            if best.used == bound:
                return best
    if best_order is None or best.used <= bound * CLOSE_ENOUGH:
        return best
    searched = _local_search(problem, best_order, bound, search_steps, random.Random(seed))
    return min(best, searched, key=lambda p: p.used)


def _bottom_up(problem: Problem) -> Placement:
    """Fill the lowest valley of the skyline with the longest-lived buffer that fits into it."""
    buffers = problem.buffers
    if not buffers:
        return Placement((), 0)
    end = max(b.last for b in buffers)
    lives = [buffer.lives(end)[0] for buffer in buffers]
    base = min(first for first, _ in lives)
    skyline = [0] * (end + 1 - base)
    offsets = [0] * len(buffers)
    waiting = sorted(
        range(len(buffers)), key=lambda i: (lives[i][0] - lives[i][1], -buffers[i].size)
    )
    while waiting:
        left, right = _lowest_valley(skyline)
        found = next((i for i in waiting if _within(lives[i], left + base, right + base)), None)
        if found is None:
            walls = (*skyline[max(left - 1, 0) : left], *skyline[right + 1 : right + 2])
            skyline[left : right + 1] = [min(walls)] * (right + 1 - left)
            continue
        waiting.remove(found)
        offsets[found] = skyline[left]
        start, stop = lives[found][0] - base, lives[found][1] + 1 - base
        skyline[start:stop] = [skyline[left] + buffers[found].size] * (stop - start)
    used = max(offset + b.size for offset, b in zip(offsets, buffers, strict=True))
    return Placement(tuple(offsets), used)


def _within(life: tuple[int, int], first: int, last: int) -> bool:
    return first <= life[0] and life[1] <= last


def _lowest_valley(skyline: Sequence[int]) -> tuple[int, int]:
    """First and last step of the leftmost run of lowest height."""
    height = min(skyline)
    left = skyline.index(height)
    right = left
    while right + 1 < len(skyline) and skyline[right + 1] == height:
        right += 1
    return left, right


def _local_search(
    problem: Problem, order: Order, bound: int, steps: int, rng: random.Random
) -> Placement:
    """Move a buffer that touches the top to an earlier place; keep what is not worse."""
    current = best = problem.place(order)
    current_order = list(order)
    visits = sum(map(len, problem.neighbours))
    for _ in range(min(steps, SEARCH_VISITS // max(visits, 1))):
        if best.used <= bound * CLOSE_ENOUGH:
            break
        highest = [
            place
            for place, i in enumerate(current_order)
            if current.offsets[i] + problem.buffers[i].size == current.used
        ]
        source = rng.choice(highest)
        if rng.random() < 0.3 or source == 0:
            source = rng.randrange(1, len(current_order))
        moved = current_order.copy()
        moved.insert(rng.randrange(source), moved.pop(source))
        candidate = problem.place(tuple(moved))
        if candidate.used <= current.used:
            current, current_order = candidate, moved
            best = min(best, current, key=lambda p: p.used)
    return best
