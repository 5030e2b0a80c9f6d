"""How close two tensors are."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Closeness:
    """Cosine of the angle between two tensors as vectors, largest absolute difference, and
    signal to quantisation noise ratio in decibels (infinite for equal tensors)."""

    cosine: float
    max_abs_error: float
    sqnr_db: float

    def as_dict(self) -> dict[str, float | None]:
        """Plain values for a report. JSON has neither infinity (the noise ratio of equal tensors)
        nor NaN: both become None."""
        return {key: value if math.isfinite(value) else None for key, value in asdict(self).items()}


def closeness(value: npt.NDArray[Any], reference: npt.NDArray[Any]) -> Closeness:
    """Compare a tensor with its reference, in f64. NaN anywhere makes all figures NaN."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return _closeness(value.astype(np.float64).ravel(), reference.astype(np.float64).ravel())


def _closeness(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> Closeness:
    difference = a - b
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    same = bool(np.array_equal(a, b))
    cosine = float(a @ b) / scale if scale else float(same)
    noise = float(difference @ difference)
    signal = float(b @ b)
    if noise == 0:
        sqnr = float("inf")
    else:
        sqnr = 10 * float(np.log10(signal / noise)) if signal else float("-inf")
    return Closeness(cosine, float(np.abs(difference).max(initial=0.0)), sqnr)
