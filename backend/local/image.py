"""Packed weights: their bytes in the coefficient image, and the one transfer that loads them."""

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.tiling import cut
from xdsl_tpu.backend.local.schedule import ginfo
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import DType, GlobalTensor, align, compact
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.packs import PackPlace

WORD = DType.F32
"""Packs move as 32-bit words, so that the rows of a pack fit a matrix command."""


def write_image(
    lanes: npt.NDArray[np.uint8],
    offset: int,
    weight: SSAValue,
    data: npt.NDArray[Any],
    chip: Chip,
) -> None:
    """Write a weight's channels into the image of the lanes, one row of bytes for each lane.

    Channel c lies in lane c mod lanes; the groups of a lane follow each other at the distance
    they have in local memory, aligned or not as the weight's Load says.
    """
    load = next((u.operation for u in weight.uses if isinstance(u.operation, tpu.LoadOp)), None)
    if load is None:
        raise TpuError(f"weight '{name_of(weight)}' is packed but no group loads it")
    info = ginfo(load)
    kind = GroupType(info.group_type.value.data)
    sizes = of_value(weight, kind, len(lanes))
    rows = np.ascontiguousarray(data).view(np.uint8).reshape(sizes.c, -1)
    width = rows.shape[1]
    step = align(width, chip.eu_bytes) if bool(info.eu_align) else width
    for group, start in enumerate(range(0, sizes.c, len(lanes))):
        part = rows[start : start + len(lanes)]
        place = offset + group * step
        lanes[: len(part), place : place + width] = part


def load_pack(emitter: Emitter, address: int, base: int, pack: PackPlace) -> None:
    """Bring a whole pack from `base` in DDR to `address` in every lane.

    That is one transfer, unless the words of all lanes are more columns than it can name.
    """
    chip, width = emitter.chip, pack.lane_bytes // WORD.bytes
    for lanes in cut(pack.total_bytes // pack.lane_bytes, LIMITS.extent // width):
        place = lanes.start << chip.lane_shift | address
        target = compact(chip, place, (1, lanes.size, 1, width), WORD)
        start, words = base + lanes.start * pack.lane_bytes, lanes.size * width
        source = GlobalTensor(start, (1, 1, 1, words), (words, words, words, 1), WORD)
        emitter.load_matrix(target, source)


def packed(load: tpu.LoadOp) -> top.WeightOp | None:
    """The weight that a Load brings, when it is in a pack."""
    owner = load.input.owner
    return owner if isinstance(owner, top.WeightOp) and owner.pack is not None else None
