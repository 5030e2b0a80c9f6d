"""The scratch memory of sequences on rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.kernels.sequences.row_set import RowSet, rests_of
from xdsl_tpu.backend.tensor import DType, LocalTensor, align, aligned, ceil_div

_FEW_STATISTICS = 8
"""Dense statistics that fit the small room, when there are at most 16 rows per lane."""


@dataclass(frozen=True, slots=True)
class RowShape:
    """Rows as tiles have them: along the height of (n, c, length, 1), or the width of
    (n, c, rows, length)."""

    length: int
    along_width: bool = False

    def scratch(self, dtype: DType, elements: int) -> Scratch:
        """Room for `elements` per row, in EU widths where a row is a channel's height."""
        return Scratch(dtype, width=elements) if self.along_width else Scratch(dtype, elements)


def row_scratch(chip: Chip, shape: RowShape, tiles: Sequence[DType]) -> tuple[Scratch, ...]:
    """What `RowRoom` is made of: tiles of these types, the stages of a maximum, statistics."""
    eu = chip.eu(DType.F16.bytes)
    width, pitch = chip.eu(DType.F32.bytes), align(shape.length, eu)
    stages = rests_of(pitch)
    return (
        *(shape.scratch(dtype, pitch) for dtype in tiles),
        *(shape.scratch(DType.F16, rest) for rest in stages),
        shape.scratch(DType.F32, width),
        shape.scratch(DType.F32, width),
        Scratch(DType.F32, fixed=(1, 1, 1, width * _FEW_STATISTICS)),
        Scratch(DType.F16, fixed=(1, shape.length, 1, 1)),
    )


class RowRoom:
    """Scratch tensors by purpose, for a tile with these rows."""

    def __init__(self, chip: Chip, rows: RowSet, tiles: int, scratch: Sequence[LocalTensor]):
        self.chip = chip
        self.rows = rows
        self.tiles = scratch[:tiles]
        self.stages = scratch[tiles:-4]
        self.sums, self._many, self._few, ones = scratch[-4:]
        self.ones = aligned(chip, ones.address, (1, rows.length, 1, 1), rows.dtype)

    def dense(self, index: int, dtype: DType) -> LocalTensor:
        """A place for a dense statistic; up to four may be in use, each of 32 bits."""
        width = self.chip.eu(DType.F32.bytes)
        fits = self.rows.count <= width
        base = self._few.address if fits else self._many.address
        size = ceil_div(self.rows.count, width) * self.chip.eu_bytes
        return self.rows.statistic(self.chip, base + index * size, dtype)
