"""What an op takes where it stands in a built group, over all slices."""

from typing import cast

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.dry import Places, Sizes
from xdsl_tpu.backend.local.measure import measure
from xdsl_tpu.backend.local.schedule import Sections, ginfo, sections, slice_of
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import GroupType


def cycles_in_group(op: Operation, chip: Chip) -> int:
    """TIU cycles of an op of a tpu.Group on all slices together.

    Slices are those of the ginfo of the op and of what it reads; addresses need not be assigned.
    Raises TpuError when the op stands in no group, has no ginfo, or has no kernel for its slices.
    """
    group = op.parent_op()
    if not isinstance(group, tpu.GroupOp):
        raise TpuError(f"{op.name} stands in no group")
    kind = GroupType(group.group_type.value.data)
    every = (places_in(index) for index in sections(group))
    return sum(measure(op, sizes, kind, chip, starts).cycles for sizes, starts in every)


def places_in(index: Sections) -> Places:
    """Sizes and starts of the slices of what ops of a group make."""

    def along(which: int) -> Sizes:
        return lambda value: slice_of(ginfo(cast(Operation, value.owner)), index)[which]

    return along(0), along(1)
