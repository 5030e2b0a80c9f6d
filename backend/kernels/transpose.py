"""Transposing matrices that lie in local memory, rows on the lanes."""

from collections.abc import Iterator

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.tensor import LocalTensor, aligned
from xdsl_tpu.dialects.errors import NoKernel


def transpose(emitter: Emitter, out: LocalTensor, a: LocalTensor) -> None:
    """out (1, columns, 1, rows) = a (1, rows, 1, columns), both on lane 0.

    The command works on blocks of one lane group in both directions, so that each block is
    EU-aligned whatever the strides around it are; those of `out` must be multiples of the EU
    width when it has several lane groups. Raises TpuError on chips where a lane group is shorter
    than the EU width, when more than one block is needed.
    """
    chip = emitter.chip
    for rows, columns in _blocks(a, chip):
        source = _block(a, rows, columns, chip)
        emitter.transpose_cw(_block(out, columns, rows, chip), source)


def _blocks(a: LocalTensor, chip: Chip) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """(start, size) of the rows and columns of each block."""
    _, rows, _, columns = a.shape
    eu = chip.eu(a.dtype.bytes)
    # A block's first column is an address in `a`, its first row one in the result. Its first row
    # is a lane group of `a` as well, its first column one of the result.
    if chip.lanes % eu and max(rows, columns) > chip.lanes:
        raise NoKernel(
            f"a {rows} x {columns} matrix of {a.dtype.label} cannot be transposed on {chip.name}: "
            f"its {chip.lanes} lanes are no multiple of the {eu} elements of the EU width"
        )
    for row in range(0, rows, chip.lanes):
        for column in range(0, columns, chip.lanes):
            yield (
                (row, min(chip.lanes, rows - row)),
                (column, min(chip.lanes, columns - column)),
            )


def _block(
    matrix: LocalTensor, rows: tuple[int, int], columns: tuple[int, int], chip: Chip
) -> LocalTensor:
    address = matrix.at(g=rows[0] // chip.lanes, w=columns[0])
    return aligned(chip, address, (1, rows[1], 1, columns[1]), matrix.dtype)
