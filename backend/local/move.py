"""Ops that only move elements, on slices in local memory, by the index map that each has.

    place in the result's slice -> element of the result -> element of an operand -> place there

What stays in its lanes, or moves to others beside its neighbours, is copied box by box. For all
else there are up to three ways, of which the cheapest is taken: lanes and positions change places
by one command (`exchange`), channels are taken from among others (`blocks`), or everything is moved
in the lanes between two exchanges (`rearrange`).
"""

from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf, prod

from xdsl_tpu.backend.kernels.transpose import exchange
from xdsl_tpu.backend.local.blocks import is_regrouped, regroup
from xdsl_tpu.backend.local.context import LocalContext, LocalKernel
from xdsl_tpu.backend.local.dry import DryEmitter
from xdsl_tpu.backend.local.lane_shift import shift_lanes
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.backend.local.places import (
    NEIGHBOURS,
    Loops,
    address_of,
    between,
    in_order,
    wanted,
)
from xdsl_tpu.backend.local.rearrange import NO_WAY, move_elements
from xdsl_tpu.backend.local.turned_copy import copies_of, copy_in_lanes
from xdsl_tpu.backend.tensor import Layout, LocalTensor, aligned, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit
from xdsl_tpu.dialects.interfaces.movement import Moved, Moves

NONE = Digit(1, 0, 0)
"""No loop."""

MOST_COMMANDS = 1024
"""A way to move elements that takes more is none where there is another."""

_chosen: dict[Hashable, int] = {}
"""Which of the ways is the cheapest, by what it depends on."""


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
    found = [(part, box) for part in movement.parts for box in _boxes(context, part)]
    if sum(box.size for _, box in found) < prod(out.tensor.shape):
        if movement.border is None:
            raise DoesNotFit("slices of operands do not hold all of the result's")
        context.emitter.copy(out.tensor, movement.border)
    if all(Loops.of(box).stay for _, box in found):
        for part, box in found:
            _copy(context, context.operand(part.operand).tensor, box)
        return
    if len(movement.parts) != 1 or movement.border is not None:
        raise DoesNotFit(NO_WAY)
    x, boxes = context.operand(movement.parts[0].operand).tensor, tuple(box for _, box in found)
    ways = _ways(context, movement.parts[0], boxes)
    ends = tuple((one.shape, one.strides, one.dtype) for one in (out.tensor, x))
    key = context.chip, ends, boxes, context.scratch.sizes, len(ways)
    if key not in _chosen:
        _chosen[key] = _cheapest(context, ways)
    ways[_chosen[key]](context)


def _ways(context: LocalContext, part: Moved, boxes: Sequence[Box]) -> list[LocalKernel]:
    """How what leaves its lanes may be moved; the last one refuses what none of them can."""
    x, ways = context.operand(part.operand), list[LocalKernel]()
    moves = in_order(context.out, x, part.map)
    if isinstance(context.op, tpu.RearrangeOp):
        # Passes have put it here for what it takes so, beside what it takes elsewhere.
        return [lambda where: move_elements(where, moves)]
    if all(_is_exchange(context, box) for box in boxes):
        ways.append(lambda where: _exchanges(where, x.tensor, boxes, as_lines=True))
        if any(len(Loops.of(box).near) == 1 for box in boxes):
            ways.append(lambda where: _exchanges(where, x.tensor, boxes, as_lines=False))
    if is_regrouped(context, x, part.map):
        ways.append(lambda where: regroup(where, x, part.map))
    return [*ways, lambda where: move_elements(where, moves)]


def _cheapest(context: LocalContext, ways: Sequence[LocalKernel]) -> int:
    """The number of the way that takes the TIU least, in the scratch memory that there is."""
    best, least = len(ways) - 1, inf
    for number, way in enumerate(ways) if len(ways) > 1 else ():
        # No command takes less than a cycle.
        emitter = DryEmitter(context.chip, int(min(least, MOST_COMMANDS)))
        with suppress(DoesNotFit):
            way(replace(context, emitter=emitter, scratch=context.scratch.alike()))
            if emitter.tiu_cycles < least:
                best, least = number, emitter.tiu_cycles
    return best


def _boxes(context: LocalContext, part: Moved) -> tuple[Box, ...]:
    """What comes from where of an operand, by places; DoesNotFit when its slice does not hold all
    that is read."""
    x = context.operand(part.operand)
    found = between(context.out, x, part.map).boxes
    if sum(box.size for box in found) < wanted(context.out, part.map):
        raise DoesNotFit(f"the operand's slice, from {x.start} on, does not hold what is read")
    return found


def _copy(context: LocalContext, x: LocalTensor, box: Box) -> None:
    """The commands of a box of lanes that stay beside each other, unless it is in its place."""
    loops, chip, out = Loops.of(box), context.chip, context.out.tensor
    to, at = address_of(out, box.to, chip), address_of(x, box.at, chip)
    groups = out.strides[1], x.strides[1]
    alike = groups[0] == groups[1] or (to >> chip.lane_shift) + loops.lanes <= chip.lanes
    if to == at and alike and all(digit.to == digit.at for digit in loops.near):
        return
    for one in copies_of(loops.near, loops.lanes, (to, at), groups, x.dtype.bytes):
        if one.to >> chip.lane_shift == one.at >> chip.lane_shift:
            copy_in_lanes(context, one, x.dtype)
        else:
            copy_channels(context, *one.ends(x.dtype, chip))


def _is_exchange(context: LocalContext, box: Box) -> bool:
    """Whether lanes of the operand become positions, and positions lanes, each once, in their order
    and from the first lane on."""
    both, given, made, near = Loops.of(box)
    strides = {digit.at for digit in given} | {digit.to for digit in made}
    begins = all(start // NEIGHBOURS[0] % context.chip.lanes == 0 for start in (box.to, box.at))
    few = max(len(given), len(made)) == 1 and len(near) <= 2
    once = all(digit.at > 0 for digit in box.digits)
    return begins and few and once and not both and strides == {NEIGHBOURS[0]}


def _exchanges(context: LocalContext, x: LocalTensor, boxes: Sequence[Box], as_lines: bool) -> None:
    """The commands of such boxes; a loop besides those is one of lines, or of images."""
    chip, out = context.chip, context.out.tensor
    if chip.lanes % chip.eu(x.dtype.bytes):
        raise DoesNotFit(f"{chip.lanes} lanes are no multiple of the elements in an EU width")
    for box in boxes:
        _, given, made, near = Loops.of(box)
        (lanes,), (columns,) = given or (NONE,), made or (NONE,)
        n, h = (NONE, NONE, *near)[-2:] if as_lines else (*near, NONE, NONE)[:2]
        source = strided(
            address_of(x, box.at, chip),
            (n.extent, lanes.extent, h.extent, columns.extent),
            (n.at, x.strides[1], h.at, columns.at or 1),
            x.dtype,
        )
        target = strided(
            address_of(out, box.to, chip),
            (n.extent, columns.extent, h.extent, lanes.extent),
            (n.to, out.strides[1], h.to, lanes.to or 1),
            x.dtype,
        )
        exchange(context.emitter, context.scratch, source, target)


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
            source = _from_lane_0(context, x, lanes[0])
        landing = target
        if target.layout is not Layout.ALIGNED:
            landing = _room(context, x, lanes[1])
        shift_lanes(emitter, context.scratch, landing, source)
        if landing is not target:
            emitter.copy(target, landing)


def _from_lane_0(context: LocalContext, x: LocalTensor, lane: int) -> LocalTensor:
    """An EU-aligned copy of channels that begin on a lane, and beside it of those that the lanes
    before it hold: these are read with it when it is turned."""
    chip, (n, c, h, w) = context.chip, x.shape
    whole = strided(x.address & (chip.local_bytes - 1), (n, lane + c, h, w), x.strides, x.dtype)
    copy = _room(context, whole, 0)
    context.emitter.copy(copy, settled(whole, chip))
    return aligned(chip, lane << chip.lane_shift | copy.address, x.shape, x.dtype)


def _room(context: LocalContext, like: LocalTensor, lane: int) -> LocalTensor:
    """Scratch for an EU-aligned tensor from a lane on."""
    chip = context.chip
    low, high = aligned(chip, lane << chip.lane_shift, like.shape, like.dtype).span(chip)
    address = context.scratch.take(high - low)
    return aligned(chip, lane << chip.lane_shift | address, like.shape, like.dtype)
