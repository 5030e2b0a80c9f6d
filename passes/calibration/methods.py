"""Which threshold to keep of a tensor, by a histogram of its magnitudes.

A threshold below the largest magnitude clips outliers to gain finer steps for the rest.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Histogram:
    """Counts of magnitudes in equal bins from 0 to `top`; `signed`: negative numbers are among
    them."""

    counts: Array
    top: float
    signed: bool

    @property
    def width(self) -> float:
        """The width of a bin."""
        return self.top / len(self.counts)

    @property
    def levels(self) -> int:
        """How many 8-bit integers there are for magnitudes."""
        return 128 if self.signed else 256


def percentile(histogram: Histogram, percent: float) -> float:
    """The magnitude that `percent` of all numbers do not exceed."""
    sums: Array = np.cumsum(histogram.counts)
    place = int(np.searchsorted(sums, float(sums[-1]) * (percent / 100)))
    return float(min(place + 1, len(sums)) * histogram.width)


def mse(histogram: Histogram, percent: float) -> float:
    """The threshold with the least mean square error.

    Inside, rounding adds step^2 / 12 to every number; outside, clipping adds the square of
    what exceeds the threshold. Sums over the bins outside come from running totals.
    """
    counts = histogram.counts.astype(np.float64)
    centres = (np.arange(len(counts)) + 0.5) * histogram.width
    thresholds = (np.arange(len(counts)) + 1) * histogram.width
    beyond = [np.sum(counts * centres**k) - np.cumsum(counts * centres**k) for k in range(3)]
    clipping = beyond[2] - 2 * thresholds * beyond[1] + thresholds**2 * beyond[0]
    step = thresholds / (histogram.levels - 1)
    rounding = np.cumsum(counts) * step**2 / 12
    return float(thresholds[np.argmin(clipping + rounding)])


_STRIDE = 8
"""Bins between the thresholds that `kl` tries."""


def kl(histogram: Histogram, percent: float) -> float:
    """The threshold whose quantised distribution diverges least from the real one.

    Kullback-Leibler divergence as in S. Migacz, "8-bit inference with TensorRT", GTC 2017:
    the reference keeps clipped numbers in its last bin, the candidate spreads what falls into one
    quantised level evenly over that level's occupied bins.
    """
    counts = histogram.counts.astype(np.float64)
    counts[0] = min(counts[0], counts[1])  # zeros are exact at any threshold
    if counts.sum() == 0:
        return histogram.top
    candidates = range(histogram.levels, len(counts) + 1, _STRIDE)
    best = min(candidates, key=lambda bins: _divergence(counts, bins, histogram.levels))
    return best * histogram.width


def _divergence(counts: Array, bins: int, levels: int) -> float:
    kept = counts[:bins]
    reference = kept.copy()
    reference[-1] += counts[bins:].sum()
    level = np.arange(bins) * levels // bins
    occupied = kept > 0
    sums = np.bincount(level, weights=kept, minlength=levels)
    sizes = np.bincount(level, weights=occupied, minlength=levels)
    spread = np.where(occupied, (sums / np.maximum(sizes, 1))[level], 0.0)
    total, kept_total = reference.sum(), spread.sum()
    if not kept_total:
        return float("inf")
    p, q = reference / total, spread / kept_total
    both = (p > 0) & (q > 0)
    lost = float(p[(p > 0) & (q == 0)].sum())
    return float(np.sum(p[both] * np.log(p[both] / q[both]))) + lost * 1e3


METHODS: Mapping[str, Callable[[Histogram, float], float]] = {
    "percentile": percentile,
    "kl": kl,
    "mse": mse,
}
"""Method -> threshold of a histogram; `max` needs none."""
