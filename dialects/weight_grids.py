"""Weights that are integers times a scale already, as models in 4 or 8 bits bring them.

Which scale a group of floats was made with is found from the floats alone: the least difference
between two of them (0 is one, too) is a few steps, and all are multiples of a step. Floats that
nobody rounded are so only by a chance of no concern. What the zero point was cannot always be
seen; any around which all integers have room stands for the same numbers.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FARTHEST = 8
"""Steps that the two closest numbers of a group may lie apart."""

OFF_GRID = 0.02
"""Of a step: how far from its integer a number may be; F16 is off by 0.004 at 15 steps."""

FEWEST = 3
"""Different numbers of a group, 0 among them, that say something of a grid."""

LOOKED_AT = 64
"""About as many rows of a matrix say which groups it was made in."""

SAME = 1e-5
"""Of the span of a group: numbers that differ by less are one."""


def with_grids(
    block: Array, bits: int, step: Array, origin: Array, symmetric: bool
) -> tuple[Array, Array]:
    """Scales and zero points [..], with those of the groups [.., group] that are on a grid.

    With `symmetric`, only grids around the middle count.
    """
    groups = np.ascontiguousarray(block).reshape(-1, block.shape[-1])
    steps, origins = step.flatten(), origin.flatten()
    levels, middle = (1 << bits) - 1, 1 << (bits - 1)
    left = _likely(groups, levels, 4 * bits)
    least, span = np.zeros((2, len(groups)))
    least[left], span[left] = _differences(groups[left])
    left = left[least[left] > 0]
    for apart in range(1, FARTHEST + 1):
        left = left[span[left] * apart <= least[left] * (levels + 0.5)]
        if not left.size:
            break
        scale, numbers, is_near = _on_grid(groups[left], least[left] / apart)
        first = np.maximum(-numbers.min(-1), 0)
        last = levels - np.maximum(numbers.max(-1), 0)
        has_room = (first <= middle) & (middle <= last) if symmetric else first <= last
        kept = is_near & has_room
        steps[left[kept]] = scale[kept]
        origins[left[kept]] = np.clip(middle, first[kept], last[kept])
        left = left[~kept]
    return steps.reshape(step.shape), origins.reshape(origin.shape)


def share_on_grids(rows: Array, bits: int, group: int, symmetric: bool) -> float:
    """The share of a matrix's groups [N, K / group] that are on a grid; of some of its rows."""
    some = rows[:: max(1, len(rows) // LOOKED_AT)].astype(np.float32)
    block = some.reshape(len(some), -1, group)
    nothing = np.full(block.shape[:-1], np.nan)
    steps, _ = with_grids(block, bits, nothing, nothing, symmetric)
    return float(np.isfinite(steps).mean())


def _likely(groups: Array, levels: int, looked_at: int) -> Array:
    """The groups whose first numbers may be on a grid, which is quick to see."""
    ordered = np.sort(groups[:, :looked_at], -1)
    span = ordered[:, -1] - ordered[:, 0]
    apart = np.diff(ordered, axis=-1)
    apart[apart <= SAME * span[:, None]] = np.inf
    return np.flatnonzero(span <= apart.min(-1) * (levels + 0.5))


def _differences(groups: Array) -> tuple[Array, Array]:
    """The least difference of two numbers of each group and 0, and the largest.

    The least is 0 where there are too few numbers to say anything.
    """
    ordered = np.sort(np.pad(groups, ((0, 0), (0, 1))), -1)
    span = ordered[:, -1] - ordered[:, 0]
    apart = np.diff(ordered, axis=-1)
    differ = apart > SAME * span[:, None]
    apart[~differ] = np.inf
    least = apart.min(-1)
    least[np.count_nonzero(differ, axis=-1) < FEWEST - 1] = 0
    return least.astype(np.float64), span.astype(np.float64)


def _on_grid(groups: Array, steps: Array) -> tuple[Array, Array, Array]:
    """The scales nearest to `steps`, the integers, and whether all numbers are near to theirs."""
    numbers = np.rint(groups / steps[:, None])
    scale = (groups * numbers).sum(-1) / np.maximum((numbers * numbers).sum(-1), 1)
    off = np.abs(groups / np.maximum(scale, np.finfo(np.float32).tiny)[:, None] - numbers)
    return scale, numbers, off.max(-1) <= OFF_GRID
