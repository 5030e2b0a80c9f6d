"""A function's ops in parts, groups and ops by themselves, and the clocks around them."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.layer_group.clock import Clock
from xdsl_tpu.passes.layer_group.cost import CostTable
from xdsl_tpu.passes.layer_group.model import Group


@record(frozen=True)
class Part:
    """ops[start:end] as one group, or one op that works from DDR; the clock around it."""

    start: int
    end: int
    group: Group | None
    before: Clock
    after: Clock


def spans(parts: Sequence[Part]) -> list[tuple[int, int, bool]]:
    """Which ops are together, and whether in a group."""
    return [(part.start, part.end, part.group is not None) for part in parts]


def timed(parts: Sequence[Part], costs: CostTable) -> list[Part]:
    """The same parts of one core with the clocks that the ring gives which is set now."""
    found, clock = list[Part](), Clock()
    for part in parts:
        before, clock = clock, _after(clock, part, costs)
        found.append(replace(part, before=before, after=clock))
    return found


def _after(clock: Clock, part: Part, costs: CostTable) -> Clock:
    """The clock after one more part."""
    group = part.group
    if group is None:
        return costs.after_alone(clock, part.start)
    if group.secs.total > 1:
        sliced = costs.sliced(group)
        assert sliced is not None, "it was found by its cost"
        ahead = costs.next_ahead(part.end - 1, group.plan.activations)
        return clock.after_alone(sliced.total, sliced.moved, ahead)
    straight = costs.cost(part.start, part.end)
    assert straight is not None, "it was found by its cost"
    return clock.after_straight(costs.passage(part.start, straight))
