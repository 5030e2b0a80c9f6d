"""Random masks that anyone can make again: they depend on seed, rate and shape only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def random_mask(shape: Sequence[int], seed: int, rate: float) -> npt.NDArray[Any]:
    """int8 ones and zeros; an element is 0 with probability `rate`.

    An element is 1 where a uniform number from [0, 1) is not less than `rate`, so rate 0 keeps all
    and rate 1 none. The numbers are f32 ones of numpy's Philox (Salmon et al., Parallel random
    numbers: as easy as 1, 2, 3, 2011), whose key is the seed as an unsigned 64-bit integer: the same
    in every version of numpy and on every machine.
    """
    generator = np.random.Generator(np.random.Philox(key=seed % (1 << 64)))
    uniform = generator.random(tuple(shape), np.float32)
    return (uniform >= np.float32(rate)).astype(np.int8)
