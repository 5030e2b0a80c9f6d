"""Transposing matrices that lie in local memory, rows on the lanes."""

from collections.abc import Iterator

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.tensor import LocalTensor, aligned


def transpose(emitter: Emitter, out: LocalTensor, a: LocalTensor) -> None:
    """out (1, columns, 1, rows) = a (1, rows, 1, columns), both on lane 0.

    The command works on blocks of one lane group in both directions, so that each block is
    EU-aligned whatever the strides around it are; those of `out` must be multiples of the EU
    width when it has several lane groups.
    """
    chip = emitter.chip
    for rows, columns in _blocks(a, chip):
        source = _block(a, rows, columns, chip)
        emitter.transpose_cw(_block(out, columns, rows, chip), source)


def _blocks(a: LocalTensor, chip: Chip) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """(start, size) of the rows and columns of each block."""
    lanes = chip.lanes
    for row in range(0, a.shape[1], lanes):
        for column in range(0, a.shape[3], lanes):
            yield (
                (row, min(lanes, a.shape[1] - row)),
                (column, min(lanes, a.shape[3] - column)),
            )


def _block(
    matrix: LocalTensor, rows: tuple[int, int], columns: tuple[int, int], chip: Chip
) -> LocalTensor:
    address = matrix.at(g=rows[0] // chip.lanes, w=columns[0])
    return aligned(chip, address, (1, rows[1], 1, columns[1]), matrix.dtype)
