"""One ring of weights through all straight groups: these are planned again, knowing each other."""

from collections.abc import Callable, Iterator, Sequence

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.schedule import STORING
from xdsl_tpu.passes.layer_group.clock import Cost
from xdsl_tpu.passes.layer_group.model import (
    Cut,
    Group,
    ScratchOf,
    has_ring,
    lows_behind,
    plan_group,
)
from xdsl_tpu.passes.layer_group.plan import Late, Ring
from xdsl_tpu.passes.layer_group.progress import done_after
from xdsl_tpu.passes.tensors import is_weight

WAITS = (STORING, 16, 8, 4, 2, 1)
"""For how many steps more than one a store may go on before something needs its memory."""

SHARED_WAITS = (1,)
"""The same in groups that cores share: these are short, and the next one begins beside them."""

LAZIEST = 2
"""How many of the ways to load inputs early may be left out."""

CROWD = 1 / 16
"""The share of local memory that inputs must free by being loaded later, for that to be tried."""

SURE = 0.01
"""By what share of its time a group must be done earlier for its inputs to be loaded later: as far
as what is expected of a group is right."""

CostOf = Callable[[Group], Cost | None]
"""What the ops of a straight group take; None where that is not known."""

OverOf = Callable[[Cut], Cut | None]
"""A group with results over operands; None where there are none."""


def rechained(
    groups: Sequence[Group],
    chip: Chip,
    scratch: ScratchOf,
    cost_of: CostOf | None = None,
    over: OverOf = lambda cut: None,
) -> list[Group]:
    """Plan the straight groups again so that one ring of weights goes through all of them.

    The ring begins above the activations of the largest group that is still to come, and of the
    one before, so that the next group's weights lie where nothing of the current group does and
    can be loaded while it still computes. Where activations shrink the ring grows. Groups for
    which that leaves too little keep their own ring. Inputs lie beside what the group before still
    needs if several cores share that: the TIU waits for what another core has made.

    Inputs that are all loaded first take room from weights, and so do results beside operands that
    nothing reads afterwards. They are loaded later, and results lie there (`over`), where the group
    is done earlier by that, as far as its cost is known.
    """
    head: int | None = None
    chained: list[Group] = []
    for group, later in zip(groups, lows_behind(groups), strict=True):
        before = chained[-1] if chained else None
        if not has_ring(group):
            chained.append(group)
            continue
        above = max(later, before.plan.activations if has_ring(before) else 0)
        late = before.plan.late if before is not None else ()
        cost = None if cost_of is None else cost_of(group)
        ways: list[Group] = []
        for lazy, way in _lazier(group, chip, scratch, 0 if cost is None else LAZIEST, over):
            ring = Ring(max(above, way.plan.activations), later, head)
            again = list(_patient(way, chip, scratch, ring, late, lazy))
            ways += again[: None if cost is not None else 1] or ([] if lazy else [way])
        best = ways[0] if cost_of is None or cost is None else _earliest(ways, cost_of, chip)
        chained.append(best)
        head = best.plan.head if best is not group else head
    return chained


def _earliest(ways: Sequence[Group], cost_of: CostOf, chip: Chip) -> Group:
    """With which way to plan a group it is done first; where they hardly differ the first one."""
    if len(ways) == 1:
        return ways[0]
    costs = [cost_of(way) for way in ways]
    ends = [done_after(w, c, chip) for w, c in zip(ways, costs, strict=True) if c is not None]
    return next(way for way, end in zip(ways, ends, strict=True) if end <= (1 + SURE) * min(ends))


def _lazier(
    group: Group, chip: Chip, scratch: ScratchOf, most: int, over: OverOf
) -> Iterator[tuple[int, Group]]:
    """A group as it is, and with results over operands, and with inputs loaded later, where that
    leaves clearly more to weights."""
    yield 0, group
    least = group.plan.activations
    inputs = [value for value in group.slicing.loaded if not is_weight(value)]
    for cut in (group, over(group) if most else None):
        for lazy in range(1 if cut is group else 0, most + 1 if len(inputs) > 1 else 1):
            way = plan_group(cut, chip, scratch, lazy=lazy) if cut is not None else None
            if not isinstance(way, Group):
                break
            crowd = CROWD * chip.local_bytes if lazy else 0
            if way.plan.activations < least - crowd:
                least = way.plan.activations
                yield lazy, way


def _patient(
    group: Group, chip: Chip, scratch: ScratchOf, ring: Ring, before: Sequence[Late], lazy: int
) -> Iterator[Group]:
    """A straight group planned again, so that computing waits for its stores as little as may be
    in no more memory than it needs anyway, and with as much of the group before left alone; then
    with more memory for that. Nothing when that does not work."""

    def planned(wait: int) -> Group | None:
        found = plan_group(group, chip, scratch, ring, before, wait, lazy)
        return found if isinstance(found, Group) else None

    plain = planned(0)
    if plain is None or all(step > len(group.ops) for step in plain.plan.store_step.values()):
        yield from () if plain is None else (plain,)
        return
    mine = plain.plan
    more: list[Group] = []
    for found in map(planned, WAITS if group.cores == 1 else SHARED_WAITS):
        if found is None or found.plan.beside < mine.beside:
            continue
        if found.plan.activations <= mine.activations:
            plain = found
            break
        more.append(found)
    yield plain
    yield from sorted(more, key=lambda one: one.plan.activations)
