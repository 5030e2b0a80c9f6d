"""Which keys the rows of a constant mask leave, so that the others need not be computed."""

from typing import Any

import numpy as np
import numpy.typing as npt

ROWS = 64
"""Rows of queries that share a range (`tpu.FAttention`)."""

TAKEN_AWAY = -5000.0
"""Masks below this leave nothing of a score: f16 scores that far apart are not those of a network
that learnt anything."""


def key_ranges(mask: npt.NDArray[Any]) -> tuple[int, ...] | None:
    """Four numbers for each 64 rows of a mask (.., rows, keys): the first key that one of them
    sees, the end, and where the mask begins and ends to be other than 0 in between.

    None when that leaves nothing out. Rows that see nothing see all keys, which then count alike.
    """
    rows, keys = mask.shape[-2:]
    flat = mask.reshape(-1, rows, keys)
    left = flat > TAKEN_AWAY
    blind = np.logical_not(np.all(np.any(left, axis=-1), axis=0))
    seen = np.logical_or(np.any(left, axis=0), blind[:, None])
    changed = np.any(flat != 0, axis=0)
    numbers: list[int] = []
    for start in range(0, rows, ROWS):
        block = slice(start, start + ROWS)
        first, end = _span(np.any(seen[block], axis=0))
        masked, last = _span(np.any(changed[block, first:end], axis=0))
        numbers += [first, end, first + masked, first + last]
    nothing = [0, keys, 0, keys] * (len(numbers) // 4)
    return None if numbers == nothing else tuple(numbers)


def _span(flags: npt.NDArray[np.bool_]) -> tuple[int, int]:
    """The first place that is set, and the end of the last; (0, 0) when none is."""
    places = np.flatnonzero(flags)
    return (int(places[0]), int(places[-1]) + 1) if places.size else (0, 0)
