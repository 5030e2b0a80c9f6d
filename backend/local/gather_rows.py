"""Loads that fetch rows of a table by their indices: the work of an absorbed tpu.Gather.

Every channel of a slice is whole rows, one behind the other in its lane, so one command an image
brings them in (docs/hardware/instructions.md#other-gdma-forms).
"""

from math import prod

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.movement.transfers import LARGEST_SIZE
from xdsl_tpu.backend.tensor import DType, GlobalTensor, Shape4, strided
from xdsl_tpu.dialects.errors import TpuError


def load_rows(emitter: Emitter, target: LocalValue, table: DdrValue, index: DdrValue) -> None:
    """Bring in the slice of a value that has, one behind the other, the rows of `table` which
    `index`, i32 in DDR, names. Raises TpuError where a slice has no whole rows (`rows_cost`)."""
    width = prod(target.full) // index.elements
    rows = _rows(target, width)
    if rows is None or index.dtype is not DType.I32:
        raise TpuError("a slice does not consist of rows of a table; they must be gathered first")
    first, count, step = rows
    every = (1, 1, table.elements // width, width)
    source = GlobalTensor(table.address, every, (0, 0, width, 1), table.dtype)
    images, channels, *_ = target.tensor.shape
    shape: Shape4 = (1, channels, count, width)
    by_n, by_group, *_ = target.tensor.strides
    for n in range(images):
        made = strided(target.tensor.at(n), shape, (by_n, by_group, width, 1), target.dtype)
        channel = (target.start.n + n) * target.full.c + target.start.c
        start = index.address + (channel * step + first) * index.dtype.bytes
        names = GlobalTensor(start, (1, channels, count, 1), (0, step, 1, 1), index.dtype)
        emitter.gather(made, source, names)


def rows_cost(target: LocalValue, rows: int, chip: Chip) -> tuple[int, int] | None:
    """(cycles, commands) of `load_rows` for a value of so many rows; None where it cannot be."""
    if _rows(target, prod(target.full) // rows) is None:
        return None
    size = prod(target.tensor.shape) * target.dtype.bytes
    return int(size / chip.gather_bytes_per_cycle), target.tensor.shape[0]


def _rows(target: LocalValue, width: int) -> tuple[int, int, int] | None:
    """Of a channel of a slice: its first row and how many it has, and how many its channel has in
    all; None when it is not made of whole rows."""
    c, h, w = target.tensor.shape[1:]
    depth, all_h, all_w = target.full[2:]
    first = target.start.h * all_w + target.start.w
    together = w == all_w or h == all_h == 1
    dense = target.tensor.strides[2] == w or h == 1
    if depth > 1 or not together or not dense or target.tensor.strides[3] != 1:
        return None
    if any(part % width for part in (all_h * all_w, first, h * w)):
        return None
    count = h * w // width
    if max(c, count, width) > LARGEST_SIZE:
        return None
    return first // width, count, all_h * all_w // width
