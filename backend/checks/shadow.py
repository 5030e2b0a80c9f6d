"""Facts about every granule of a memory, addressed by the regions of accesses."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.operands.region import Region

Marks = npt.NDArray[Any]
Addresses = npt.NDArray[np.int64]


def common_granule(regions: Iterable[Region]) -> int:
    """The largest number of bytes that divides every start, step and run."""
    granule = 0
    for region in regions:
        granule = math.gcd(granule, region.start, region.run, *region.steps)
        if granule == 1:
            break
    return granule or 1


class Shadow:
    """One number per granule of the bytes [base, base + size)."""

    def __init__(self, base: int, size: int, granule: int, dtype: npt.DTypeLike) -> None:
        self.base = base
        self.granule = granule
        self.marks: Marks = np.zeros(-(-size // granule), dtype)

    def view(self, region: Region) -> Marks:
        """The numbers of a region's granules, a view: the loops, then the run."""
        width = self.marks.itemsize
        steps = [step // self.granule * width for step in region.steps]
        start = (region.start - self.base) // self.granule * width
        sizes = (*region.sizes, region.run // self.granule)
        return np.ndarray(sizes, self.marks.dtype, self.marks, start, (*steps, width))

    def addresses(self, region: Region, wanted: npt.NDArray[np.bool_]) -> Addresses:
        """Sorted addresses of the granules of `view(region)` where `wanted` holds."""
        steps = np.array((*region.steps, self.granule), np.int64)
        return np.unique(np.argwhere(wanted) @ steps + region.start)
