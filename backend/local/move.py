"""Ops that only move elements, on slices in local memory, by the index map that each has.

    place in the result's slice -> element of the result -> element of an operand -> place there

A place is a lane and a position in it. What stays in its lanes, or moves along with its neighbours,
is copied box by box; what changes lanes in any other way `rearrange` exchanges.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.gather_boxes import CHANNEL, slice_map
from xdsl_tpu.backend.local.lane_shift import shift_lanes
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.backend.local.rearrange import NO_WAY, move_elements
from xdsl_tpu.backend.local.turned_copy import Copy, copies_of, copy_in_lanes
from xdsl_tpu.backend.tensor import Layout, LocalTensor, aligned, contiguous_strides
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap
from xdsl_tpu.dialects.interfaces.movement import Moved, Moves


def move(context: LocalContext) -> None:
    """Make a slice of the result of an op of the interface `Moves`; what lies in its place already
    stays there.

    Raises DoesNotFit for slices of operands that do not hold what the result needs, and where
    elements leave their lanes in no way that has a kernel.
    """
    op, out = context.op, context.out
    assert isinstance(op, Moves)
    movement = op.movement()
    if movement is None or op.clamps():
        raise DoesNotFit("it does more than move elements, or decides when it runs")
    found = [(part, _between(context, part, CHANNEL)) for part in movement.parts]
    given = sum(box.size for _, boxes in found for box in boxes.boxes)
    if given < prod(out.tensor.shape):
        if movement.border is None:
            raise DoesNotFit("slices of operands do not hold all of the result's")
        context.emitter.copy(out.tensor, movement.border)
    if any(_crosses(box) for _, boxes in found for box in boxes.boxes):
        if len(found) > 1 or movement.border is not None:
            raise DoesNotFit(NO_WAY)
        move_elements(context, _between(context, movement.parts[0], None))
        return
    for part, boxes in found:
        for box in boxes.boxes:
            for one in _copies(context, context.operand(part.operand).tensor, box):
                _carry_out(context, one)


def _between(context: LocalContext, part: Moved, channel: int | None) -> IndexMap:
    """Where in the slice of an operand elements of the result's are, where channels are so far
    apart; None: both are counted row-major.

    Raises DoesNotFit when the operand's slice does not hold all that is read.
    """
    x = context.operand(part.operand)
    read = _places(context.out, channel).after(part.map)
    found = read.after(_places(x, channel).inverse())
    if sum(box.size for box in found.boxes) < sum(box.size for box in read.boxes):
        raise DoesNotFit(f"the operand's slice, from {x.start} on, does not hold what is read")
    return found


def _places(value: LocalValue, channel: int | None) -> IndexMap:
    """Which element of the whole value is at each place of its slice."""
    tensor = value.tensor
    if channel is None:
        tensor = replace(tensor, strides=contiguous_strides(tensor.shape))
        channel = tensor.strides[1]
    return slice_map(tensor, value.depth, value.start, value.full, channel)


def _is_unit(digit: Digit) -> bool:
    """Whether a loop is that over neighbouring lanes."""
    return digit.to == digit.at == CHANNEL


def _crosses(box: Box) -> bool:
    """Whether elements of one lane come to several, or from several, or lanes do not stay
    neighbours."""
    others = [digit for digit in box.digits if not _is_unit(digit)]
    far = any(max(digit.to, abs(digit.at)) >= CHANNEL // 2 for digit in others)
    return far or len(others) < len(box.digits) - 1


def _copies(context: LocalContext, x: LocalTensor, box: Box) -> Iterator[Copy]:
    """The commands of a box, but for one that is in its place."""
    ends: list[int] = []
    for tensor, start in ((context.out.tensor, box.to), (x, box.at)):
        channel, place = divmod(start, CHANNEL)
        group, lane = divmod(channel, context.chip.lanes)
        ends.append(tensor.at(g=group, w=place) | lane << context.chip.lane_shift)
    lanes = next((digit.extent for digit in box.digits if _is_unit(digit)), 1)
    digits = tuple(digit for digit in box.digits if not _is_unit(digit))
    if ends[0] != ends[1] or any(digit.to != digit.at for digit in digits):
        groups = context.out.tensor.strides[1], x.strides[1]
        yield from copies_of(digits, lanes, (ends[0], ends[1]), groups, x.dtype.bytes)


def _carry_out(context: LocalContext, one: Copy) -> None:
    dtype, shift = context.out.dtype, context.chip.lane_shift
    if one.to >> shift == one.at >> shift:
        copy_in_lanes(context, one, dtype)
    else:
        copy_channels(context, *one.ends(dtype, context.chip))


def copy_channels(context: LocalContext, out: LocalTensor, x: LocalTensor) -> None:
    """Copy between tensors that may begin on different lanes, with any strides."""
    emitter, chip = context.emitter, context.chip
    lanes = [tensor.address >> chip.lane_shift for tensor in (x, out)]
    source, target = settled(x, chip), settled(out, chip)
    if lanes[0] == lanes[1]:
        emitter.copy(target, source)
        return
    with context.scratch.temporary():
        if source.layout is not Layout.ALIGNED:
            source = _room(context, x, lanes[0])
            emitter.copy(source, x)
        landing = target
        if target.layout is not Layout.ALIGNED:
            landing = _room(context, x, lanes[1])
        if lanes[0] and source.address != x.address:  # nothing lies in the lanes before it
            emitter.lane_copy(landing, source)
        else:
            shift_lanes(emitter, context.scratch, landing, source)
        if landing is not target:
            emitter.copy(target, landing)


def _room(context: LocalContext, like: LocalTensor, lane: int) -> LocalTensor:
    """Scratch for an EU-aligned tensor from a lane on."""
    chip = context.chip
    low, high = aligned(chip, lane << chip.lane_shift, like.shape, like.dtype).span(chip)
    address = context.scratch.take(high - low)
    return aligned(chip, lane << chip.lane_shift | address, like.shape, like.dtype)
