"""Loading rows of one number for each channel: biases.

A channel's few bytes make a short run, and short runs cost as much as 256 bytes: 4.4 cycles per
channel even in the matrix form. Loaded as one long row and turned round by the TIU, they cost about
their bytes (docs/hardware/cycles.md).
"""

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.transfer import fetch
from xdsl_tpu.backend.tensor import GlobalTensor, aligned, aligned_bytes, ceil_div


def is_turned(chip: Chip, source: GlobalTensor, room: int) -> bool:
    """Whether a dense (1, c, 1, 1) is best loaded as a row and turned round, for which so many
    bytes of every lane are free: turning takes a cycle for each lane."""
    _, c, h, w = source.shape
    groups = ceil_div(c, chip.lanes)
    if h * w > 1 or groups > chip.lanes or c > LIMITS.extent:
        return False
    size = aligned_bytes(chip, (1, 1, groups, chip.lanes), source.dtype) + chip.eu_bytes
    return chip.lanes <= c * chip.ddr_row_bytes / chip.load_bytes_per_cycle and size <= room


def load_table(emitter: Emitter, memory: LocalMemory, address: int, source: GlobalTensor) -> None:
    """Load a dense (1, c, 1, 1) that `is_turned` into a compact table at `address`, which is
    EU-aligned: the whole row on lane 0, whose element g * lanes + l goes to lane l, place g.

    The free part of `memory` serves as scratch. A last, partly filled group of lanes gets
    arbitrary numbers behind its channels.
    """
    chip, (_, c, _, _), kind = emitter.chip, source.shape, source.dtype
    groups = ceil_div(c, chip.lanes)
    with memory.temporary():
        row = memory.aligned((1, 1, groups, chip.lanes), kind)
        flat = aligned(chip, row.address, (1, 1, 1, c), kind)
        fetch(emitter, flat, source.view((1, 1, 1, c), (c, c, c, 1)))
        emitter.transpose_cw(aligned(chip, address, (1, chip.lanes, groups, 1), kind), row)
