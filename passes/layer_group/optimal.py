"""The partition of a function into groups and global ops that is done first.

Dynamic programming over the clocks of both engines: the best way to be done with the first k ops
is the best way to be done with the first j and ops j to k as one part. What a boundary costs is
the store and the load of what crosses it, and, around parts that need much local memory, weights
that cannot be loaded ahead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.passes.layer_group.base_groups import BaseGroup
from xdsl_tpu.passes.layer_group.clock import Clock
from xdsl_tpu.passes.layer_group.cost import CostTable
from xdsl_tpu.passes.layer_group.lmem_size import element_bits, lane_bytes
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.moves import is_kept_global
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Boundary, Searcher
from xdsl_tpu.passes.layer_group.shapes import extent
from xdsl_tpu.passes.layer_group.slicing import entering
from xdsl_tpu.passes.layer_group.values import GroupType, Refusal, Secs
from xdsl_tpu.passes.tensors import is_weight

SLICED_OPS = 16
"""Groups of several slices hold at most this many ops."""


@dataclass(frozen=True)
class _Best:
    """The fastest partition of a prefix: when it is done, where its last part begins, the part.

    `group` is None for a global op and for a straight group, which is planned when it is chosen.
    """

    clock: Clock
    start: int
    is_straight: bool = False
    group: Group | None = None


@dataclass(frozen=True)
class Part:
    """ops[start:end] as one group, or one op that works from DDR; the clock around it."""

    start: int
    end: int
    group: Group | None
    before: Clock
    after: Clock


class OptimalSearch:
    """One function's ops and everything that is known about their ranges."""

    def __init__(self, searcher: Searcher, prices: Prices, bases: Sequence[BaseGroup]) -> None:
        self.searcher, self.chip = searcher, searcher.chip
        self.ops = [op for base in bases for op in base.ops]
        self.is_global = [is_kept_global(base) for base in bases for _ in base.ops]
        self.costs = CostTable(self.ops, self.is_global, self.chip, prices)
        self.low: list[int] = []
        self.reach: list[int] = []
        self.parts: list[Part] = []
        self.clocks: list[Clock] = []
        self._slices: dict[tuple[int, int], Group | None] = {}
        self._plans: dict[tuple[int, int], Group | None] = {}
        for base in bases:
            low = len(self.low)
            self.low += [low] * len(base.ops)
            alone = is_kept_global(base)
            reach = range(len(base.ops)) if alone else self._straight_from(base.ops)
            self.reach += [low + first for first in reach]

    def run(self) -> list[Group]:
        """The groups, in order; why they end is noted with the searcher.

        How far weights can run ahead is known when the groups are, so a first search finds where
        the ring lies, and a second one the groups.
        """
        self.costs.set_ring([part.group for part in self._planned() if part.group is not None])
        self.parts = self._planned()
        self._explain()
        return [part.group for part in self.parts if part.group is not None]

    def _planned(self) -> list[Part]:
        """The best partition, all groups planned.

        What fits as part of a longer group can fail by its own outputs; then it is excluded and
        the search repeated.
        """
        while True:
            best = self._best()
            parts: list[Part] = []
            end = len(self.ops)
            while end:
                chosen = best[end]
                group = chosen.group
                if chosen.is_straight:
                    group = self._planned_straight(chosen.start, end)
                    if group is None:
                        break
                parts.append(Part(chosen.start, end, group, best[chosen.start].clock, chosen.clock))
                end = chosen.start
            if not end:
                return parts[::-1]

    def _planned_straight(self, start: int, end: int) -> Group | None:
        key = (start, end)
        if key not in self._plans:
            planned = self.searcher.plan(self.ops[start:end], Secs())
            self._plans[key] = planned if isinstance(planned, Group) else None
        return self._plans[key]

    def _best(self) -> list[_Best]:
        """For every prefix the fastest partition."""
        best = [_Best(Clock(), 0)]
        for end in range(1, len(self.ops) + 1):
            clock = self.costs.after_alone(best[end - 1].clock, end - 1)
            options = [_Best(clock, end - 1)]
            if not self.is_global[end - 1]:
                options += self._straight(end, best)
                options += self._sliced(end, best)
            best.append(min(options, key=lambda o: (o.clock.end, o.clock.gdma, o.start)))
        self.clocks = [one.clock for one in best]
        return best

    def _straight(self, end: int, best: Sequence[_Best]) -> Iterator[_Best]:
        """Straight groups that end before `end`."""
        for start, cost in self.costs.straight(end, self.reach[end - 1]):
            if self._plans.get((start, end), True) is None:
                continue  # it was tried and cannot be planned
            clock = self.costs.after_straight(best[start].clock, end, cost)
            yield _Best(clock, start, is_straight=True)

    def _straight_from(self, ops: Sequence[Operation]) -> Iterator[int]:
        """For every end the earliest op from which a straight group reaches it."""
        start, until = 0, 0
        for end in range(1, len(ops) + 1):
            while end > until and start < end:
                until = self._reach(ops, start, max(until, start))
                if end > until:
                    start += 1
            yield start

    def _reach(self, ops: Sequence[Operation], start: int, known: int) -> int:
        """How far a straight group that begins at `start` can go; at least to `known`."""
        low, high = known, len(ops)
        step = 4
        while low < high:
            trial = min(high, low + step)
            if isinstance(self.searcher.plan(ops[start:trial], Secs()), Group):
                low, step = trial, step * 2
            elif step == 1:
                break
            else:
                high, step = trial - 1, max(1, step // 4)
        return low

    def _sliced(self, end: int, best: Sequence[_Best]) -> Iterator[_Best]:
        """Groups of several slices that reach further back than a straight one."""
        earliest = max(self.low[end - 1], end - SLICED_OPS)
        for start in range(self.reach[end - 1] - 1, earliest - 1, -1):
            group = self._in_slices(start, end)
            if group is None:
                return
            cost = self.costs.sliced(group)
            if cost is not None:
                clock = self.costs.after_sliced(best[start].clock, group, cost)
                yield _Best(clock, start, group=group)

    def _in_slices(self, start: int, end: int) -> Group | None:
        key = (start, end)
        if key not in self._slices:
            part = self.ops[start:end]
            fits = self._held_bytes(part) <= self.chip.local_bytes
            self._slices[key] = self.searcher.in_slices(part) if fits else None
        return self._slices[key]

    def _held_bytes(self, ops: Sequence[Operation]) -> int:
        """Local memory that the weights of ops need if all are held."""
        normal = GroupType.NORMAL
        return sum(
            lane_bytes(extent(v, normal, self.chip), element_bits(v), False, self.chip)
            for v in entering(ops)
            if is_weight(v)
        )

    def _explain(self) -> None:
        """Note why each part begins where it does, unless a base group begins there."""
        for part in self.parts:
            start, end = part.start, part.end
            if start == self.low[start]:
                continue
            wider = self.searcher.plan(self.ops[start - 1 : end], Secs())
            if isinstance(wider, Refusal):
                self.searcher.note(self.ops, start, wider)
                continue
            lost = 0
            cost = dict(self.costs.straight(end, start - 1)).get(start - 1)
            if cost is not None:
                other = self.costs.after_straight(self.clocks[start - 1], end, cost)
                lost = max(0, round(other.end - part.after.end))
            before, after = self.ops[start - 1], self.ops[start]
            boundary = Boundary(before, after, "it is not worth it", cycles=lost, is_choice=True)
            self.searcher.boundaries.append(boundary)
