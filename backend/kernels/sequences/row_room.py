"""The scratch memory of sequences on rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.mapping import Scratch
from xdsl_tpu.backend.kernels.sequences.row_set import RowSet, rests_of
from xdsl_tpu.backend.tensor import DType, LocalTensor, align, aligned, ceil_div

_STATISTICS = 4
"""Dense statistics, each of 32 bits, that may be in use."""

_FEW_STATISTICS = 8
"""Of those, how many fit the small room, when there are at most an EU width of rows per lane."""


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
        shape.scratch(DType.F32, _many(width)),
        Scratch(DType.F32, fixed=(1, 1, 1, width * _FEW_STATISTICS)),
        Scratch(DType.F16, fixed=(1, shape.length, 1, 1)),
    )


def _many(width: int) -> int:
    """Elements per row of the large room, in EU widths of `width`, for more than `width` rows.

    A statistic takes whole EU widths, which counts most for one row more than such a width.
    """
    return align(max(width, ceil_div(_STATISTICS * 2 * width, width + 1)), width)


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
        """A place for a dense statistic; `_STATISTICS` may be in use, each of 32 bits."""
        width = self.chip.eu(DType.F32.bytes)
        fits = self.rows.count <= width
        base = self._few.address if fits else self._many.address
        size = ceil_div(self.rows.count, width) * self.chip.eu_bytes
        return self.rows.statistic(self.chip, base + index * size, dtype)
