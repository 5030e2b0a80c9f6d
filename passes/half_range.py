"""What f16 holds: the reach of its normal numbers."""

from typing import Any

import numpy as np
import numpy.typing as npt

LARGEST = 65504.0
"""The largest f16."""

LARGEST_OF = {"F16": LARGEST, "BF16": (2 - 2.0**-7) * 2.0**127}
"""The largest number of 16-bit formats."""

LEAST = 2.0**-14
"""The least f16 with all its digits; below it they are lost one by one."""

LEAST_SUBNORMAL = 2.0**-24
"""The least f16 above 0."""

VANISHING = LEAST_SUBNORMAL / 2
"""Up to here numbers become 0."""


def magnitude(values: npt.NDArray[Any]) -> float:
    """The largest absolute value; 0 of no values, and NaNs left out."""
    if not values.size:
        return 0.0
    most = max(abs(float(values.max())), abs(float(values.min())))
    if not np.isnan(most):
        return most
    return float(np.nan_to_num(np.abs(values), nan=0, posinf=np.inf).max(initial=0))


def holds(most: float) -> bool:
    """Whether f16 holds numbers of this magnitude with all its digits."""
    return most == 0 or LEAST <= most <= LARGEST


def may_scale(values: npt.NDArray[Any], factor: float) -> bool:
    """Whether a factor can move into weights: f16 must not hold them worse than before."""
    most = magnitude(values)
    return holds(most * abs(factor)) or not holds(most)
