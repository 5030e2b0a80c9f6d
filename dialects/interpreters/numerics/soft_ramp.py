"""max(x, 0) less a polynomial, in f16: what `tpu.SoftRamp` computes, each step as the chip does."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def soft_ramp(
    x: Array, factor: float, limit: float, terms: Sequence[float], scale: float
) -> npt.NDArray[np.float16]:
    """v = x * factor; (max(v, 0) - p(min(|v|, limit))) * scale, every step rounded to f16.

    p has the coefficients `terms`, from that of 0 on; a scale of 1 is no step.
    """
    half = np.float16
    with np.errstate(over="ignore", invalid="ignore"):
        value = x.astype(half) * half(factor)
        near = np.minimum(np.abs(value), half(limit))
        total = np.full_like(near, half(terms[-1]))
        for term in reversed(terms[:-1]):
            total = total * near + half(term)
        result = np.maximum(value, half(0)) - total
        return result if scale == 1 else result * half(scale)
