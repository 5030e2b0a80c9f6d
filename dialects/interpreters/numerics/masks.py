"""Random masks that anyone can make again: they depend on seed, rate and shape only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def random_mask(shape: Sequence[int], seed: int, rate: float) -> npt.NDArray[Any]:
    """int8 ones and zeros; an element is 0 with probability `rate`.

    An element is 1 where a number from [0, 1) is not less than `rate`, so rate 0 keeps all and rate
    1 none. The numbers are the upper 24 bits, as fractions, of the words of Philox-4x64 (Salmon et
    al., Parallel random numbers: as easy as 1, 2, 3, 2011) under the seed as a 64-bit key; numpy
    promises its words to stay what they are.
    """
    words = np.random.Philox(key=seed % (1 << 64)).random_raw(math.prod(shape))
    uniform = (words >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
    return (uniform >= np.float32(rate)).astype(np.int8).reshape(tuple(shape))
