"""Number formats of a language model: what is computed in, what matrices are packed to."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import FORMATS as PACKED
from xdsl_tpu.dialects.packed_weights import PackedMatrix, bits_of, floats_of

FLOATS = ("F16", "BF16")
FORMATS = (*FLOATS, *PACKED)
HEADS = ("F16", "W8", "W4")
GROUPS = (32, 64, 128)

ROWS = 64
"""Packed matrices have a multiple of this many rows, one or more for each lane."""


@dataclass(frozen=True)
class WeightFormat:
    """`name` is one of FORMATS, `head` of HEADS: in what the output matrix is.

    Raises TpuError for others, and for groups other than GROUPS.
    """

    name: str = "F16"
    group: int = 64
    symmetric: bool = False
    head: str = "F16"

    def __post_init__(self) -> None:
        for value, known in ((self.name, FORMATS), (self.head, HEADS), (self.group, GROUPS)):
            if value not in known:
                raise TpuError(f"weight format {value}: known are {', '.join(map(str, known))}")

    @property
    def floats(self) -> str:
        """What is computed in."""
        return floats_of(self.name)

    @property
    def bits(self) -> int:
        """Of the matrices of layers; 0 for floats."""
        return bits_of(self.name)

    @property
    def head_bits(self) -> int:
        """Of the output matrix; 0 for floats."""
        return {"W8": 8, "W4": 4}.get(self.head, 0)

    def bits_for(self, rows: int, columns: int, bits: int) -> int:
        """What a matrix is packed to: 0 for one that packing does not suit."""
        return 0 if rows % ROWS or columns % self.group else bits


def suited(matrix: PackedMatrix | npt.NDArray[Any]) -> PackedMatrix | npt.NDArray[Any]:
    """A stored matrix as kernels take it, with the same numbers: groups larger than the largest
    are divided, and what packing does not suit becomes floats."""
    if not isinstance(matrix, PackedMatrix):
        return matrix
    group = max((one for one in GROUPS if matrix.group % one == 0), default=0)
    if not group or matrix.shape[0] % ROWS:
        return matrix.floats()
    parts = matrix.group // group
    scale, zero = (np.repeat(one, parts, axis=1) for one in (matrix.scale, matrix.zero))
    return replace(matrix, scale=scale, zero=zero, group=group)
