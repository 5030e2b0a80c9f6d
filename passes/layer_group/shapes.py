"""How values lie in local memory in a group of a given type."""

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.interfaces.local_shapes import ncdhw
from xdsl_tpu.passes.tensors import shape_of

__all__ = ["extent", "ncdhw"]


def extent(value: SSAValue, kind: GroupType, chip: Chip) -> Ncdhw:
    """The whole of a value along the five axes."""
    return ncdhw(shape_of(value), kind, chip.lanes)
