"""How far back straight groups reach: what fits is found by a few questions for each end."""

from collections.abc import Callable, Iterator

Fits = Callable[[int, int], bool]
"""Whether the ops between two places are a straight group; what is part of one is one."""


def reaches(low: int, high: int, fits: Fits) -> Iterator[int]:
    """For every end of ops[low:high] the earliest op from which a straight group reaches it; the
    end itself where there is none."""
    start, until = low, low
    for end in range(low + 1, high + 1):
        if end > until:
            until = _last(start, until, high, fits)
        if end > until:
            start, until = _first(start + 1, end, fits), end
        yield start


def _first(start: int, end: int, fits: Fits) -> int:
    """The earliest op, at least `start`, from which a straight group reaches `end`; `end` if
    there is none. What follows one from which none does is looked at in growing steps."""
    low, high, step = start, end, 1
    while low < high:
        trial = min(low + step - 1, (low + high) // 2)
        if fits(trial, end):
            high = trial
        else:
            low, step = trial + 1, step * 2
    return low


def _last(start: int, known: int, high: int, fits: Fits) -> int:
    """How far a straight group that begins at `start` can go, up to `high`; at least to `known`."""
    low, step = known, 4
    while low < high:
        trial = min(high, low + step)
        if fits(start, trial):
            low, step = trial, step * 2
        elif step == 1:
            break
        else:
            high, step = trial - 1, max(1, step // 4)
    return low
