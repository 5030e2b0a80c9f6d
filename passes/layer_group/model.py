"""From ops of the IR to the plain values that the planner works on, and back to a group."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import accumulate
from typing import TypeGuard

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.first_fit import Span
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.records import record
from xdsl_tpu.dialects.tpu.local import LocalReshape
from xdsl_tpu.passes.layer_group.lmem_size import alignment, slice_bytes
from xdsl_tpu.passes.layer_group.packable import may_pack
from xdsl_tpu.passes.layer_group.pipeline import Times, earliest, plan_sliced
from xdsl_tpu.passes.layer_group.plan import (
    WHOLE,
    Item,
    Late,
    Plan,
    Ring,
    Role,
    Room,
    Step,
    plan_straight,
)
from xdsl_tpu.passes.layer_group.slicing import KnownNeeds, Slicing, slice_group
from xdsl_tpu.passes.layer_group.values import GroupType, Refusal, Secs, ValueSlices
from xdsl_tpu.passes.tensors import is_weight

ScratchOf = Callable[[Operation, GroupType, Slicing], int]
"""Scratch bytes per lane of an op on its slices in a group of this type."""


@record(frozen=True)
class Cut:
    """Ops of one block, in order, worked on slice by slice; `cores` share out the slices.

    `over`: results that lie where an operand did, and that operand.
    """

    ops: tuple[Operation, ...]
    kind: GroupType
    secs: Secs
    slicing: Slicing
    cores: int
    over: Mapping[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    @property
    def is_straight(self) -> bool:
        """Whether no core has more than one slice."""
        return self.secs.total <= self.cores

    @property
    def core_of(self) -> tuple[int, ...]:
        """The core of each slice: neighbours have the same."""
        return tuple(number * self.cores // self.secs.total for number in range(self.secs.total))

    @property
    def times(self) -> Times:
        """When each value were moved if everything fitted; no plan is faster."""
        items = _items(self, lambda value: 0)
        return earliest([_step(op, 0) for op in self.ops], items)


@record(frozen=True)
class Group(Cut):
    """The same with a place for everything."""

    plan: Plan = field(kw_only=True)

    @property
    def times(self) -> Times:
        """When each value is moved."""
        return Times(self.plan.load_step, self.plan.clear_step)


def cut_group(
    ops: Sequence[Operation],
    kind: GroupType,
    secs: Secs,
    chip: Chip,
    cores: int = 1,
    known: KnownNeeds | None = None,
) -> Cut | Refusal:
    """A range of ops in slices, or why there are none."""
    slicing = slice_group(ops, kind, secs, chip, known=known)
    return slicing if isinstance(slicing, Refusal) else Cut(tuple(ops), kind, secs, slicing, cores)


def plan_group(
    cut: Cut | Refusal,
    chip: Chip,
    scratch: ScratchOf,
    ring: Ring = WHOLE,
    before: Sequence[Late] = (),
    wait: int = 0,
    lazy: int = 0,
    kept: int = 0,
    taken: Sequence[Span] = (),
) -> Group | Refusal:
    """Size and place a range of ops, or say why that is impossible.

    `scratch` gives an op's scratch bytes per lane, or raises DoesNotFit when its kernel cannot work
    on such slices. With one section for each of the `cores` the group is straight
    and its weights go to the `ring`; otherwise it is a pipeline over slices. `wait`, `lazy`: see
    `plan_straight`. `kept`: so many bytes at the end of every lane are not for the group,
    and of several slices those of `taken` are not, either.
    """
    if isinstance(cut, Refusal):
        return cut
    inside = set(cut.ops)
    items = _items(
        cut,
        lambda value: slice_bytes(value, cut.slicing.of, inside, chip),
        lambda value, size: may_pack(value, size, chip),
    )
    try:
        steps = [_step(op, scratch(op, cut.kind, cut.slicing)) for op in cut.ops]
    except (DoesNotFit, NoKernel) as error:
        return Refusal(str(error))
    size = chip.local_bytes - kept
    room = Room(size, alignment(chip), chip.bank_bytes, chip.ddr_row_bytes, taken)
    if cut.is_straight:
        plan = plan_straight(steps, items, room, ring, before, wait, lazy)
    else:
        plan = plan_sliced(steps, items, room)
    if isinstance(plan, Refusal):
        return plan
    return Group(cut.ops, cut.kind, cut.secs, cut.slicing, cut.cores, cut.over, plan=plan)


def _items(
    cut: Cut,
    size_of: Callable[[SSAValue], int],
    packs: Callable[[SSAValue, int], bool] = lambda value, size: False,
) -> dict[object, Item]:
    slicing, sliced = cut.slicing, not cut.is_straight
    stored, loaded = set(slicing.stored), set(slicing.loaded)
    roots = roots_of(cut.ops, slicing, stored if sliced else set(), cut.over)
    items: dict[object, Item] = {}
    for value, slices in slicing.of.items():
        role = Role.INTERNAL
        if value in loaded:
            held = slices.hold if sliced else is_weight(value)
            role = Role.WEIGHT if held else Role.INPUT
        root = roots.get(value, value)
        size = size_of(value)
        packed = role is Role.WEIGHT and not sliced and packs(value, size)
        items[value] = Item(value, role, size, root, value in stored, packed)
    return items


def roots_of(
    ops: Sequence[Operation],
    slicing: Slicing,
    stored: Collection[SSAValue],
    over: Mapping[SSAValue, SSAValue],
) -> dict[SSAValue, SSAValue]:
    """Views, and results over operands, and the value whose memory they are.

    A view in `stored` of a value that is loaded gets memory of its own: in a pipeline the next
    slice is loaded before this one is stored. So does one that lies differently in the lanes.
    """
    roots: dict[SSAValue, SSAValue] = {}
    for op in ops:
        if (below := over.get(op.results[0])) is not None:
            roots[op.results[0]] = roots.get(below, below)
        if not isinstance(op, LocalReshape):
            continue
        source, view = op.operands[0], op.results[0]
        root = roots.get(source, source)
        if lies_as(slicing.of[view], slicing.of[source]) and (
            view not in stored or root not in slicing.loaded
        ):
            roots[view] = root
    return roots


def lies_as(view: ValueSlices, source: ValueSlices) -> bool:
    """Whether elements keep their bytes: each of the n * d rows of a lane is aligned by itself.

    Where rows are cut, the source may have more of them than the view.
    """
    both = (view.h, source.h), (view.w, source.w)
    if any(mine != other and max(len(mine), len(other)) > 1 for mine, other in both):
        return False
    new, old = view.largest(), source.largest()
    return (new.n, new.c, new.d) == (old.n, old.c, old.d) and view.eu_align == source.eu_align


def _step(op: Operation, scratch: int) -> Step:
    reads = tuple(value for value in op.operands if not is_none(value))
    return Step(op, reads, tuple(op.results), scratch)


def rings(groups: Sequence[Group]) -> Iterator[tuple[Operation, int, int]]:
    """Where the ring begins for weights that are loaded as soon as an op is done: for those of its
    group above what that still needs, for those of the next one above all that either needs; both
    above activations of the groups that are still to come."""
    for group, low, later in zip(groups, ring_lows(groups), lows_behind(groups), strict=True):
        for step, op in enumerate(group.ops, 1):
            inside = max(group.plan.lows[step + 1], later) if has_ring(group) else low
            yield op, inside, low


def ring_lows(groups: Sequence[Group]) -> list[int]:
    """Where the ring begins in each group, above the activations around it."""
    befores = [None, *groups][: len(groups)]
    return [
        max([later, *(g.plan.activations for g in (group, before) if has_ring(g))])
        for group, before, later in zip(groups, befores, lows_behind(groups), strict=True)
    ]


def lows_behind(groups: Sequence[Group]) -> list[int]:
    """Where the activations of the groups that are still to come end, for each group."""
    own = [group.plan.activations if has_ring(group) else 0 for group in groups]
    return list(accumulate(reversed([*own[1:], 0]), max))[::-1][: len(own)]


def has_ring(group: Group | None) -> TypeGuard[Group]:
    return group is not None and group.is_straight
