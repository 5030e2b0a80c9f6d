"""Facts about every granule of local memory, addressed by the regions of accesses."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.operands.region import Region

Marks = npt.NDArray[Any]
Addresses = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Touch:
    """The bytes of one operand; only well-placed operands become one."""

    operand: str
    local: bool
    writes: bool
    regions: tuple[Region, ...]


def common_granule(regions: Iterable[Region]) -> int:
    """The largest number of bytes that divides every start, step and run."""
    granule = 0
    for region in regions:
        granule = math.gcd(granule, region.start, region.run, *region.steps)
        if granule == 1:
            break
    return granule or 1


@dataclass(frozen=True, slots=True)
class Shadow:
    """`marks` holds one number per `granule` bytes of local memory."""

    marks: Marks
    granule: int

    def view(self, region: Region) -> Marks:
        """The numbers of a region's granules, a view: the loops, then the run."""
        width = self.marks.itemsize
        steps = [step // self.granule * width for step in region.steps]
        start = region.start // self.granule * width
        sizes = (*region.sizes, region.run // self.granule)
        return np.ndarray(sizes, self.marks.dtype, self.marks, start, (*steps, width))

    def addresses(self, region: Region, wanted: npt.NDArray[np.bool_]) -> Addresses:
        """Addresses of the granules of `view(region)` where `wanted` holds."""
        steps = np.array((*region.steps, self.granule), np.int64)
        return np.argwhere(wanted) @ steps + region.start


def describe_bytes(chip: Chip, parts: list[Addresses], granule: int) -> str:
    """Granules in words: `256 bytes of local memory in 0x1200 to 0x127f of lanes 0 to 3`."""
    where = np.unique(np.concatenate(parts))
    count = where.size * granule
    lanes, offsets = np.divmod(where, chip.local_bytes)
    end = int(offsets.max()) + granule - 1
    return (
        f"{count} bytes of local memory in {int(offsets.min()):#x} to {end:#x} "
        f"of lanes {lanes[0]} to {lanes[-1]}"
    )
