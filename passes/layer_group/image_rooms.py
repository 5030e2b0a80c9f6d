"""How much of DDR a value takes that lies there as in the lanes."""

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.lane_image import lane_sizes, rounds_of, store_of
from xdsl_tpu.passes.tensors import element_bytes, size_in_bytes


def room_in_ddr(value: SSAValue, chip: Chip) -> int:
    """Bytes of a tensor; of one that a group stores lane by lane, with the gaps between rows."""
    store = store_of(value)
    if store is None or store.indexing_map_l2s is None:
        return size_in_bytes(value)
    sizes, width = lane_sizes(store, chip), element_bytes(value)
    assert sizes is not None, "keep-lanes has seen that it lies in the lanes"
    return sizes.n * sizes.c * rounds_of(sizes, width, chip).run * width
