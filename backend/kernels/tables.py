"""Loading small per-channel tables: biases and depthwise filters.

A channel's few bytes make a short run, and short runs cost as much as 256 bytes: 4.4 cycles per
channel even in the matrix form. Loaded in long rows and turned round by the TIU, a table costs
about its bytes (docs/hardware/cycles.md).
"""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.transfer import fetch
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    aligned,
    aligned_bytes,
    ceil_div,
    compact,
    strided,
)


def is_turned(chip: Chip, source: GlobalTensor, room: int) -> bool:
    """Whether a dense (1, c, h, w) is best loaded in long rows and turned round, for which so many
    bytes of every lane are free: turning takes a cycle for each element of a lane group."""
    _, c, h, w = source.shape
    taps, groups = h * w, ceil_div(c, chip.lanes)
    if (groups == 1 and taps > 1) or groups > chip.lanes or c * taps > LIMITS.extent:
        return False
    runs = c * max(taps * source.dtype.bytes, chip.ddr_row_bytes) / chip.load_bytes_per_cycle
    return taps * chip.lanes <= runs and _scratch_bytes(chip, taps, groups, source.dtype) <= room


def load_table(emitter: Emitter, memory: LocalMemory, address: int, source: GlobalTensor) -> None:
    """Load a dense (1, c, h, w) that `is_turned` into a compact table at `address`, which is
    EU-aligned.

    The free part of `memory` serves as scratch. A last, partly filled group of lanes gets
    arbitrary numbers behind its channels.
    """
    chip = emitter.chip
    _, c, h, w = source.shape
    taps, groups = h * w, ceil_div(c, chip.lanes)
    table = compact(chip, address, source.shape, source.dtype)
    free = memory.next
    if taps == 1:
        _turn_row(emitter, memory, table, source, groups)
    else:
        _turn_rows(emitter, memory, table, source, groups)
    memory.next = free


def _scratch_bytes(chip: Chip, taps: int, groups: int, dtype: DType) -> int:
    """What turning a table needs."""
    shapes = [(1, groups, 1, chip.lanes * taps), (1, groups, taps, chip.lanes)]
    shapes.append((1, chip.lanes, taps, groups))
    if taps == 1:
        shapes = [(1, 1, groups, chip.lanes)]
    return sum(aligned_bytes(chip, shape, dtype) for shape in shapes) + chip.eu_bytes


def _turn_row(
    emitter: Emitter, memory: LocalMemory, table: LocalTensor, source: GlobalTensor, groups: int
) -> None:
    """One element per channel: the whole row on lane 0, then one transposition.

    Element g * lanes + l of the row goes to lane l, place g: that is the table.
    """
    chip, lanes, kind = emitter.chip, emitter.chip.lanes, source.dtype
    c = source.shape[1]
    row = memory.aligned((1, 1, groups, lanes), kind)
    flat = aligned(chip, row.address, (1, 1, 1, c), kind)
    fetch(emitter, flat, source.view((1, 1, 1, c), (c, c, c, 1)))
    emitter.transpose_cw(aligned(chip, table.address, (1, lanes, groups, 1), kind), row)


def _turn_rows(
    emitter: Emitter, memory: LocalMemory, table: LocalTensor, source: GlobalTensor, groups: int
) -> None:
    """Several elements per channel: group g of the table on lane g, then turned.

    lane g: [l][tap] -> [tap][l]    lane l: [tap][g] -> [g][tap]
    """
    chip, lanes, kind = emitter.chip, emitter.chip.lanes, source.dtype
    _, c, h, w = source.shape
    taps = h * w
    width = lanes * taps
    loaded = memory.aligned((1, groups, 1, width), kind)
    emitter.load_matrix(loaded, source.view((1, 1, 1, c * taps), (0, 0, c * taps, 1)))
    by_tap = memory.aligned((1, groups, taps, lanes), kind)
    stride = loaded.strides[1]
    emitter.copy(
        by_tap,
        strided(loaded.address, by_tap.shape, (stride * groups, stride, 1, taps), kind),
    )
    turned = memory.aligned((1, lanes, taps, groups), kind)
    emitter.transpose_cw(turned, by_tap)
    size = turned.strides[1]
    by_group = strided(turned.address, (1, lanes, groups, taps), (size, size, 1, groups), kind)
    emitter.copy(aligned(chip, table.address, by_group.shape, kind), by_group)
