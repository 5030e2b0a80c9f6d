"""max(x, 0) less a polynomial: what `tpu.SoftRamp` computes, each step as the chip does."""

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
        total = _polynomial(np.minimum(np.abs(value), half(limit)), terms)
        result = np.maximum(value, half(0)) - total
        return result if scale == 1 else result * half(scale)


def bump(
    x: Array, limit: float, terms: Sequence[float], unit: float = 1.0
) -> npt.NDArray[np.float16]:
    """p(min(|x|, limit) * unit) of signed bytes, in f16."""
    near = np.minimum(np.abs(x.astype(np.int16)), round(limit)).astype(np.float16)
    near = near * np.float16(unit)
    with np.errstate(over="ignore", invalid="ignore"):
        return _polynomial(near, terms)


def is_level(factor: float, limit: float, scale: float) -> bool:
    """Whether a ramp between signed bytes needs floats for its polynomial only: operand and result
    have the same steps, and the polynomial ends at a whole number of them."""
    return factor == scale == 1 and limit == round(limit) and 0 < limit <= MOST_BYTES


MOST_BYTES = 128
"""The largest magnitude of a signed byte."""


def _polynomial(near: npt.NDArray[np.float16], terms: Sequence[float]) -> npt.NDArray[np.float16]:
    half = np.float16
    total = np.full_like(near, half(terms[-1]))
    for term in reversed(terms[:-1]):
        total = total * near + half(term)
    return total
