"""What the tensors of a network hold on sample inputs: extremes first, then histograms."""

import math
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.calibration.methods import METHODS, Histogram
from xdsl_tpu.passes.calibration.table import LARGEST, CalibrationTable, Threshold

Array = npt.NDArray[Any]

BINS = 2048
"""Bins of a histogram of magnitudes."""

LEAST = 1e-5
"""The threshold of tensors that are always zero."""

FEWEST, ENOUGH = 16, 4096
"""Numbers of a tensor: of fewer nothing can be said, so many show how far it reaches."""


def headroom(count: int) -> float:
    """How much farther `ENOUGH` numbers of a tensor are expected to reach than `count` of them.

    The largest of n numbers of a bell curve is about sqrt(2 ln n) times its width: a dozen logits
    of eight samples leave it to the next input to be a third larger than any of them.
    """
    return math.sqrt(math.log(ENOUGH) / math.log(min(max(count, FEWEST), ENOUGH)))


@dataclass
class Extremes:
    """The smallest and largest number seen of every tensor, in the order they came in, and how many
    numbers that were.

    In tensors of `bounded` an infinity is a number as good as the largest f16: those that only
    functions read which have no use for large ones, as a Softmax does scores with a mask.
    """

    bounded: Set[str] = frozenset()
    low: dict[str, float] = field(default_factory=dict[str, float])
    high: dict[str, float] = field(default_factory=dict[str, float])
    count: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, name: str, values: Array) -> None:
        """Take one tensor of one sample; TpuError when a number is infinite or none at all."""
        if not values.size or values.dtype.kind != "f":
            return
        low, high = float(values.min()), float(values.max())
        if name in self.bounded:
            low, high = _finite(low), _finite(high)
        if not (math.isfinite(low) and math.isfinite(high)):
            raise TpuError(
                f"tensor '{name}' holds NaN or infinity on this input: it cannot be calibrated"
            )
        self.low[name] = min(low, self.low.get(name, low))
        self.high[name] = max(high, self.high.get(name, high))
        self.count[name] = values.size + self.count.get(name, 0)

    def magnitude(self, name: str) -> float:
        """The largest magnitude seen."""
        return max(abs(self.low[name]), abs(self.high[name]))

    def headroom(self, name: str) -> float:
        """How much farther a tensor may reach than was seen; no farther where it is bounded."""
        return 1.0 if name in self.bounded else headroom(self.count[name])


@dataclass
class Histograms:
    """Counts of magnitudes between 0 and the largest of each tensor, in `BINS` bins."""

    extremes: Extremes
    counts: dict[str, Array] = field(default_factory=dict[str, Array])

    def add(self, name: str, values: Array) -> None:
        """Take one tensor of one sample, seen before by `extremes`."""
        if name not in self.extremes.low:
            return
        top = self.extremes.magnitude(name)
        # In float32: half the memory traffic, and a bin is wider than its rounding.
        sizes = np.minimum(np.abs(values).ravel(), np.float32(top))
        places = sizes * np.float32(BINS / (top or LEAST))
        counted = np.bincount(np.minimum(places.astype(np.int32), BINS - 1), minlength=BINS)
        self.counts[name] = self.counts.get(name, np.zeros(BINS, np.int64)) + counted

    def of(self, name: str) -> Histogram:
        """The histogram of one tensor."""
        top = self.extremes.magnitude(name) or LEAST
        return Histogram(self.counts[name], top, self.extremes.low[name] < 0)


Run = Callable[[Callable[[str, Array], None]], None]
"""Runs the network on all samples and shows every named tensor of each to a callback."""


@dataclass
class Observation:
    """What the tensors of a network hold on all samples; its histograms are made when needed."""

    run: Run
    extremes: Extremes
    histograms: Histograms | None = None

    @classmethod
    def of(cls, run: Run, bounded: Set[str] = frozenset()) -> "Observation":
        """The extremes of a network that `run` runs; `bounded` as `Extremes` has it."""
        extremes = Extremes(bounded)
        run(extremes.add)
        return cls(run, extremes)

    def table(
        self, method: str, percentile: float = 99.99, roomy: bool = False
    ) -> CalibrationTable:
        """The thresholds of a method; the first other than `max` runs the network once more.

        `percentile` is the part of the numbers, in percent, that method percentile keeps. `roomy`
        leaves tensors of which few numbers were seen the `headroom` that these ask for.
        """
        names, magnitude = self.extremes.low, self.extremes.magnitude
        if method == "max":
            thresholds = {name: magnitude(name) for name in names}
        else:
            if self.histograms is None:
                self.histograms = Histograms(self.extremes)
                self.run(self.histograms.add)
            seen, choose = self.histograms, METHODS[method]
            thresholds = {name: choose(seen.of(name), percentile) for name in names}
        if roomy:
            thresholds = {
                name: value * self.extremes.headroom(name) for name, value in thresholds.items()
            }
        return CalibrationTable(
            {name: _entry(self.extremes, name, value) for name, value in thresholds.items()}
        )


def calibrate(run: Run, method: str, percentile: float = 99.99) -> CalibrationTable:
    """The table of a network that `run` runs, as `Observation.table` gives it."""
    return Observation.of(run).table(method, percentile)


def _finite(number: float) -> float:
    return math.copysign(LARGEST, number) if math.isinf(number) else number


def _entry(extremes: Extremes, name: str, threshold: float) -> Threshold:
    low, high = extremes.low[name], extremes.high[name]
    if not extremes.magnitude(name):
        return Threshold(LEAST, low, LEAST)
    return Threshold(threshold, low, high)
