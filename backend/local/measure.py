"""What local kernels and transfers of a slice take, by running them dry.

Nothing here estimates: the commands of a kernel, a Load or a Store are generated as for a program,
and the cycle model says how long each takes.
"""

import math
from collections.abc import Hashable
from dataclasses import replace
from typing import cast

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.support import DdrValue, LocalMemory, where
from xdsl_tpu.backend.leaves import sliced_kernel
from xdsl_tpu.backend.local.dry import (
    NOWHERE,
    DryEmitter,
    Places,
    Sizes,
    context_of,
    element_of,
    merged_slice,
    operand_slice,
    taps_of,
    value_slice,
)
from xdsl_tpu.backend.local.forms import has_coefficients
from xdsl_tpu.backend.local.image import load_pack
from xdsl_tpu.backend.local.int8_conv import load_coefficients, loads_in_parts
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.local.transfer import load_merged, load_slice, parts_of_load, store_slice
from xdsl_tpu.backend.tensor import GlobalTensor
from xdsl_tpu.dialects.base import RankedTensor
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, MergesTaps, Ncdhw
from xdsl_tpu.dialects.records import record
from xdsl_tpu.dialects.top.packs import PackPlace

USUAL_SCRATCH = 16384
"""LocalMemory per lane that is offered first; kernels that can do with less take less."""


def from_the_start(value: SSAValue) -> Ncdhw:
    """Where the first slice of everything starts."""
    return NOWHERE


@record(frozen=True, slots=True)
class Measured:
    """LocalMemory bytes per lane and TIU cycles of an op on one slice."""

    scratch: int
    cycles: int


@record(frozen=True, slots=True)
class Moved:
    """GDMA cycles of a Load, and TIU cycles of what it fills itself (the pads of filter taps).

    `parts`: in so many parts of its channels it is loaded.
    """

    gdma: float
    tiu: int = 0
    parts: int = 1


def measure(
    op: Operation,
    sizes: Sizes,
    kind: GroupType,
    chip: Chip,
    starts: Sizes = from_the_start,
    merging: MergesTaps | None = None,
    offered: int = USUAL_SCRATCH,
) -> Measured:
    """Run the kernel of an op on a slice, with as little scratch memory as it can work in, from
    the bytes `offered` upwards. `merging`: the op of the group that reads with filter taps as
    channels what this one makes.

    Raises DoesNotFit when it cannot work on such a slice at all. The op is not changed and needs
    no addresses.
    """
    kernel = sliced_kernel(op)
    if kernel is None:
        raise NoKernel(f"no kernel on slices for {where(op)}")
    base = chip.local_bytes // 2
    while True:
        scratch = LocalMemory(chip, [(base, base + min(offered, chip.local_bytes))])
        emitter = DryEmitter(chip)
        context = context_of(op, (sizes, starts), kind, emitter, scratch)
        if merging is not None:
            out = merged_slice(op.results[0], merging, (sizes, starts), chip, 0)
            source = merged_slice(
                op.operands[0], merging, (sizes, starts), chip, chip.local_bytes // 4
            )
            context = replace(context, operands=(source,), out=out)
        try:
            kernel(context)
        except DoesNotFit:
            if offered >= chip.local_bytes:
                raise
            offered *= 2
            continue
        peak = max((end for _, end in scratch.taken), default=base)
        return Measured(peak - base, emitter.tiu_cycles)


def measure_load(
    user: Operation,
    index: int,
    sizes: Sizes,
    kind: GroupType,
    chip: Chip,
    starts: Sizes = from_the_start,
    merging: MergesTaps | None = None,
) -> Moved:
    """What the Load of an operand's slice takes, in the form that its user wants.

    `merging` as in `measure`, and for the input of such a convolution itself.
    """
    value = user.operands[index]
    emitter, source = DryEmitter(chip), _in_ddr(value, chip)
    if merging is not None:
        full = of_value(value, kind, chip.lanes)
        image = source.as4((full.n, full.c, full.h, full.w))
        return measure_taps(value, merging, image, (sizes, starts), chip)
    target = operand_slice(user, index, (sizes, starts), kind, chip, 0)
    if has_coefficients(user, index) and loads_in_parts(user, target, chip):
        load_coefficients(emitter, user, target, source)
    else:
        load_slice(emitter, target, source)
    size = math.prod(target.tensor.shape) * target.tensor.dtype.bytes
    parts = parts_of_load(target.tensor.shape, size, chip)
    return Moved(emitter.gdma_cycles, emitter.tiu_cycles, parts)


def measure_taps(
    value: SSAValue, merging: MergesTaps, image: GlobalTensor, places: Places, chip: Chip
) -> Moved:
    """What the Load of an image takes of which an op reads filter taps as channels."""
    emitter = DryEmitter(chip)
    target = merged_slice(value, merging, places, chip, 0)
    load_merged(emitter, target, image, taps_of(merging, places, chip))
    return Moved(emitter.gdma_cycles, emitter.tiu_cycles)


def alike_taps(value: SSAValue, merging: MergesTaps, places: Places, chip: Chip) -> Hashable:
    """The same of slices for which `measure_taps` gives the same."""
    full = of_value(value, GroupType.NORMAL, chip.lanes)
    rows, columns = taps_of(merging, places, chip)
    return places[0](merging.results[0]), rows.alike(full.h), columns.alike(full.w)


def measure_store(
    value: SSAValue,
    sizes: Sizes,
    kind: GroupType,
    chip: Chip,
    starts: Sizes = from_the_start,
) -> int:
    """GDMA cycles of the Store of a value's slice."""
    full = of_value(value, kind, chip.lanes)
    source = value_slice(value, (sizes, starts), full, chip, 0)
    emitter = DryEmitter(chip)
    scratch = LocalMemory(chip, [(chip.local_bytes // 2, chip.local_bytes)])
    store_slice(emitter, source, _in_ddr(value, chip), scratch)
    return emitter.gdma_cycles


def measure_pack(lane_bytes: int, chip: Chip) -> int:
    """GDMA cycles of a pack with so many bytes for every lane."""
    emitter = DryEmitter(chip)
    load_pack(emitter, 0, chip.ddr_base, PackPlace(0, 0, lane_bytes, lane_bytes * chip.lanes))
    return emitter.gdma_cycles


def _in_ddr(value: SSAValue, chip: Chip) -> DdrValue:
    shape = cast(RankedTensor, value.type).get_shape()
    return DdrValue(chip.ddr_base, shape, element_of(value))
