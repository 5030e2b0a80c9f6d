"""What every `tpu` op has."""

from xdsl.irdl import opt_attr_def

from xdsl_tpu.dialects.attrs import BOOL
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.tpu.kinds import LAYER_GROUP


class TpuOp(NamedOp):
    """An op the chip (or, for a few, its host) carries out on tensors in global memory."""

    multicore = opt_attr_def(BOOL)
    """Whether several cores share the work; left out on chips with one core."""


class LocalOp(TpuOp):
    """An op that can also work inside a group, on slices in local memory."""

    ginfo = opt_attr_def(LAYER_GROUP)
    """Slices, addresses and pipeline stage of the op in its group; absent outside groups."""
