"""Sliding windows over the trailing spatial dimensions, as views wherever numpy allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

Array = npt.NDArray[Any]
Ints = Sequence[int]


def pad_spatial(x: Array, pads: Ints, value: float) -> Array:
    """Pad the last `len(pads) // 2` dimensions; `pads` is all beginnings, then all ends.

    Negative pads crop. Returns `x` itself when nothing is to be done.
    """
    rank = len(pads) // 2
    if not any(pads):
        return x
    lead = x.ndim - rank
    crop = [slice(None)] * lead + [
        slice(max(-begin, 0), size - max(-end, 0))
        for begin, end, size in zip(pads[:rank], pads[rank:], x.shape[lead:], strict=True)
    ]
    x = x[tuple(crop)]
    grow = [(max(b, 0), max(e, 0)) for b, e in zip(pads[:rank], pads[rank:], strict=True)]
    if not any(map(any, grow)):
        return x
    shape = [*x.shape[:lead], *(n + b + e for n, (b, e) in zip(x.shape[lead:], grow, strict=True))]
    padded = np.full(shape, value, x.dtype) if value else np.zeros(shape, x.dtype)
    inner = [slice(None)] * lead
    inner += [slice(b, b + n) for n, (b, _) in zip(x.shape[lead:], grow, strict=True)]
    padded[tuple(inner)] = x
    return padded


def window_counts(sizes: Ints, kernel: Ints, strides: Ints, dilations: Ints) -> tuple[int, ...]:
    """How many windows fit in each (already padded) dimension; ValueError when none does."""
    counts = tuple(
        (size - dilation * (k - 1) - 1) // stride + 1
        for size, k, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True)
    )
    if any(count < 1 for count in counts):
        raise ValueError(f"a kernel of {tuple(kernel)} does not fit in {tuple(sizes)}")
    return counts


def windows(x: Array, kernel: Ints, strides: Ints, dilations: Ints) -> Array:
    """A view `[*lead, *kernel, *counts]` of `x` `[*lead, *sizes]`."""
    lead = x.ndim - len(kernel)
    counts = window_counts(x.shape[lead:], kernel, strides, dilations)
    steps = x.strides[lead:]
    return as_strided(
        x,
        (*x.shape[:lead], *kernel, *counts),
        (
            *x.strides[:lead],
            *(step * d for step, d in zip(steps, dilations, strict=True)),
            *(step * s for step, s in zip(steps, strides, strict=True)),
        ),
        writeable=False,
    )


def tap(x: Array, position: Ints, counts: Ints, strides: Ints, dilations: Ints) -> Array:
    """The view of `x` that kernel position `position` meets over all windows."""
    index = [
        slice(p * d, p * d + (n - 1) * s + 1, s)
        for p, n, s, d in zip(position, counts, strides, dilations, strict=True)
    ]
    return x[(..., *index)]


def same_pads(sizes: Ints, strides: Ints, reach: Ints, upper: bool) -> list[int]:
    """The pads that give `ceil(size / stride)` windows (ONNX's auto_pad SAME).

    `reach` is what a window spans; an odd one goes to the end for `upper`, else the beginning.
    """
    totals = [
        max((-(-size // stride) - 1) * stride + span - size, 0)
        for size, stride, span in zip(sizes, strides, reach, strict=True)
    ]
    small = [total // 2 for total in totals]
    large = [total - half for total, half in zip(totals, small, strict=True)]
    return small + large if upper else large + small
