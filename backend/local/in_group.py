"""What an op takes where it stands in a built group, over all slices."""

from functools import partial

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.backend.local.schedule import Sections, ginfo, sections, slice_of
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw


def cycles_in_group(op: Operation, chip: Chip) -> int:
    """TIU cycles of an op of a tpu.Group on all slices together.

    Slices are those of the ginfo of the op and of what it reads; addresses need not be assigned.
    Raises TpuError when the op stands in no group, has no ginfo, or has no kernel for its slices.
    """
    group = op.parent_op()
    if not isinstance(group, tpu.GroupOp):
        raise TpuError(f"{op.name} stands in no group")
    kind = GroupType(group.group_type.value.data)
    total = 0
    for index in sections(group):
        sizes, starts = partial(_sizes, index), partial(_starts, index)
        total += measure(op, sizes, kind, chip, starts).cycles
    return total


def _sizes(index: Sections, value: SSAValue) -> Ncdhw:
    return _slice(index, value)[0]


def _starts(index: Sections, value: SSAValue) -> Ncdhw:
    return _slice(index, value)[1]


def _slice(index: Sections, value: SSAValue) -> tuple[Ncdhw, Ncdhw]:
    """Sizes and start of the slice of a value that an op of the group makes."""
    if not isinstance(value.owner, Operation):
        raise TpuError("a value of the group comes from no op")
    return slice_of(ginfo(value.owner), index)
