"""Loads that fetch rows of a table by their indices: the work of an absorbed tpu.Gather.

Every channel of a slice is whole rows, one behind the other in its lane, so one command an image
brings them in (docs/hardware/instructions.md#other-gdma-forms).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.movement.transfers import LARGEST_SIZE
from xdsl_tpu.backend.tensor import DType, GlobalTensor, LocalTensor
from xdsl_tpu.dialects.errors import TpuError


@dataclass(frozen=True, slots=True)
class RowPiece:
    """One command: rows (1, c, count, width) of local memory, and which of all rows these are."""

    target: LocalTensor
    first: int
    step: int
    """Rows from a channel to the next."""


def load_rows(emitter: Emitter, target: LocalValue, table: DdrValue, index: DdrValue) -> None:
    """Bring in the slice of a value that has, one behind the other, the rows of `table` which
    `index`, i32 in DDR, names. Raises TpuError where a slice has no whole rows (`rows_cost`)."""
    width = prod(target.full) // index.elements
    pieces = _pieces(target, width, emitter.chip)
    if pieces is None or index.dtype is not DType.I32:
        raise TpuError("a slice does not consist of rows of a table; they must be gathered first")
    shape = (1, 1, table.elements // width, width)
    source = GlobalTensor(table.address, shape, (0, 0, width, 1), table.dtype)
    for piece in pieces:
        _, channels, rows, _ = piece.target.shape
        start = index.address + piece.first * index.dtype.bytes
        names = GlobalTensor(start, (1, channels, rows, 1), (0, piece.step, 1, 1), index.dtype)
        emitter.gather(piece.target, source, names)


def rows_cost(target: LocalValue, rows: int, chip: Chip) -> tuple[int, int] | None:
    """(cycles, commands) of `load_rows` for a value of so many rows; None where it cannot be."""
    pieces = _pieces(target, prod(target.full) // rows, chip)
    if pieces is None:
        return None
    size = prod(target.tensor.shape) * target.dtype.bytes
    return int(size / chip.gather_bytes_per_cycle), len(pieces)


def _pieces(target: LocalValue, width: int, chip: Chip) -> list[RowPiece] | None:
    """The commands of a slice; None when one of its channels is not made of whole rows."""
    c, h, w = target.tensor.shape[1:]
    depth, all_h, all_w = target.full[2:]
    first = target.start.h * all_w + target.start.w
    together = w == all_w or h == all_h == 1
    dense = target.tensor.strides[2] == w or h == 1
    if depth > 1 or not together or not dense or target.tensor.strides[3] != 1:
        return None
    if any(part % width for part in (all_h * all_w, first, h * w)):
        return None
    count, step = h * w // width, all_h * all_w // width
    if max(c, count, width) > LARGEST_SIZE:
        return None
    return list(_of_images(target, (c, count, width), first // width, step, chip))


def _of_images(
    target: LocalValue, size: tuple[int, int, int], first: int, step: int, chip: Chip
) -> Iterator[RowPiece]:
    images, width = target.tensor.shape[0], size[2]
    channels = target.full[1]
    by_n, by_group, _, _ = target.tensor.strides
    for n in range(images):
        image = target.tensor.window((n, 0, 0, 0), (1, *target.tensor.shape[1:]), chip)
        rows = LocalTensor(
            image.address, (1, *size), (by_n, by_group, width, 1), image.dtype, image.layout
        )
        channel = (target.start.n + n) * channels + target.start.c
        yield RowPiece(rows, channel * step + first, step)
