"""Which weights may be loaded side by side (`packs`)."""

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.cuts import KIND
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.passes.layer_group.lmem_size import element_bits
from xdsl_tpu.passes.tensors import is_weight

PACK_BYTES = 4032
"""Most bytes per lane in a pack of several ops: what one matrix transfer of 32-bit columns brings
to 64 lanes.

More lanes, or the weights of one op, take several transfers, each to some lanes.
"""

_WORTH_IT = 0.75
"""How much of the time of its channels the image of a larger weight may take."""


def may_pack(value: SSAValue, size: int, chip: Chip) -> bool:
    """Whether a value is a weight of one use that lies over the lanes, and brought well by them.

    A channel by itself takes no less than a row of DDR. Where the weight's `size` in a lane is
    small, its image may take a row of each lane longer, which whatever joins it in a pack saves,
    unless it may be loaded slice by slice instead; otherwise it must take less.
    """
    if not is_weight(value):
        return False
    uses = list(value.uses)
    user = uses[0].operation
    if len(uses) != 1 or not isinstance(user, LocalGen) or uses[0].index not in user.lane_weights():
        return False
    sizes = of_value(value, KIND, chip.lanes)
    if sizes.n != 1 or sizes.d != 1 or sizes.c <= 1:
        return False
    image, rows = chip.lanes * size, channel_bytes(value, chip)
    if size <= PACK_BYTES // 2:
        alone = uses[0].index in user.split_weights()
        return image <= rows + (0 if alone else chip.lanes * chip.ddr_row_bytes)
    return image <= rows * _WORTH_IT


def channel_bytes(value: SSAValue, chip: Chip) -> int:
    """Bytes that a weight's channels take the time of, each by itself."""
    sizes = of_value(value, KIND, chip.lanes)
    return sizes.c * max(sizes.h * sizes.w * element_bits(value) // 8, chip.ddr_row_bytes)
