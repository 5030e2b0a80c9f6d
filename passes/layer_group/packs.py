"""Small weights that lie side by side in local memory become one transfer.

A transfer of a bias moves four bytes per lane and row and costs as much as 256. A *pack* is a run
of weights that follow each other in the ring: in DDR they are stored as the image of the lanes,

    lane 0: filter | bias | filter | ...     (lane_bytes)
    lane 1: ...

so that one transfer with long rows brings all of them to their places. The weights keep their
own Loads; an attribute `pack` on each says where in the image it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.tensor import align
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY
from xdsl_tpu.passes.layer_group.lmem_size import alignment, value_bytes
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.packable import PACK_BYTES, channel_bytes, may_pack

_ROWS = 4
"""Rows of DDR in each lane behind which no other op's weights join a run."""


def pack_weights(group: Group, chip: Chip, first: int) -> tuple[Group, int]:
    """Mark the packs of a planned group, numbered from `first`, and align their loads.

    Returns the group with its load steps changed, and the next free number.
    """
    steps = dict(group.plan.load_step)
    number = first
    for pack in _packs(group, chip):
        base, last = group.plan.address[pack[0]], pack[-1]
        end = group.plan.address[last] + _size(group, last, chip)
        lane_bytes = align(end - base, alignment(chip))
        load = max(group.plan.load_step[weight] for weight in pack)
        for weight in pack:
            steps[weight] = load
            offset = group.plan.address[weight] - base
            place = [number, offset, lane_bytes, lane_bytes * chip.lanes]
            assert isinstance(weight.owner, top.WeightOp)
            weight.owner.pack = I64_ARRAY.encode(place)
        number += 1
    return replace(group, plan=replace(group.plan, load_step=steps)), number


def _packs(group: Group, chip: Chip) -> Iterator[list[SSAValue]]:
    """Runs of weights that can be loaded together, in the order of their addresses."""
    runs: list[list[SSAValue]] = []
    for weight in sorted(_candidates(group, chip), key=lambda w: _order(group, w)):
        if runs and _joins(group, runs[-1], weight, chip):
            runs[-1].append(weight)
        else:
            runs.append([weight])
    for run in runs:
        image = chip.lanes * _size(group, run[0], chip)
        if len(run) > 1 or image <= channel_bytes(run[0], chip):
            yield run


def _order(group: Group, weight: SSAValue) -> tuple[int, int, int]:
    first = _first_use(group, weight)
    return group.plan.load_step[weight], first, group.plan.address[weight]


def _joins(group: Group, run: list[SSAValue], weight: SSAValue, chip: Chip) -> bool:
    """Whether a weight follows the run in memory and may be loaded with it in time.

    Once a run fills some rows of DDR in each lane, weights of further ops gain little by it, but
    the first of its ops would wait for them.
    """
    address = group.plan.address
    end = address[run[-1]] + align(_size(group, run[-1], chip), alignment(chip))
    if address[weight] != end:
        return False
    first = _first_use(group, run[0])
    taken = end - address[run[0]]
    if _first_use(group, weight) != first and (
        taken >= _ROWS * chip.ddr_row_bytes or taken + _size(group, weight, chip) > PACK_BYTES
    ):
        return False
    return group.plan.load_step[weight] < first


def _first_use(group: Group, weight: SSAValue) -> int:
    steps: Mapping[object, int] = group.plan.op_step
    return min(steps[use.operation] for use in weight.uses if use.operation in steps)


def _size(group: Group, weight: SSAValue, chip: Chip) -> int:
    return value_bytes(weight, group.slicing.of[weight], chip)


def _candidates(group: Group, chip: Chip) -> Iterator[SSAValue]:
    for value in group.slicing.loaded:
        held = group.slicing.of[value].hold or group.secs.total == 1
        if held and may_pack(value, _size(group, value, chip), chip):
            yield value
