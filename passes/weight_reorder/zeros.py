"""How many of the weights that an op multiplies by are zero.

Filters that take columns, rows, blocks or groups of channels together to fill the array have zeros
where these do not meet, and the array multiplies them like all others.
"""

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.dialects.zeros import note_zeros
from xdsl_tpu.passes.tensors import is_weight, required_name

LEAST = 0.05
"""A smaller part is what rounding leaves, in 8 bits about a hundredth. Filters of nothing but
zeros are those of graphs without their weights."""


def count_zeros(op: tpu.Conv2DOp | tpu.MatMulOp, weights: Weights) -> None:
    """Note on an op what part of its weights is zero, where that is not by chance."""
    places = (op.filter,) if isinstance(op, tpu.Conv2DOp) else (op.right, op.input)
    data = next((weights[required_name(value)] for value in places if is_weight(value)), None)
    if data is None or not data.size:
        return
    share = 1 - np.count_nonzero(_magnitudes(data)) / data.size
    if LEAST <= share < 1:
        note_zeros(op, share)


def _magnitudes(data: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Floats as their bits but for the sign, which are counted in a tenth of the time."""
    if data.dtype.kind != "f":
        return data
    bits = data.view(f"u{data.itemsize}")
    return bits & bits.dtype.type((1 << 8 * data.itemsize - 1) - 1)
