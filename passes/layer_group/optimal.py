"""The partition of a function into groups and global ops that is done first.

Dynamic programming over the clocks of both engines: the best way to be done with the first k ops
is the best way to be done with the first j and ops j to k as one part. What a boundary costs is
the store and the load of what crosses it, and, around parts that need much local memory, weights
that cannot be loaded ahead.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import inf

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.local.cuts import KIND
from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.layer_group.alike import Alikeness
from xdsl_tpu.passes.layer_group.base_groups import BaseGroup
from xdsl_tpu.passes.layer_group.clock import Clock, Cost, Passage
from xdsl_tpu.passes.layer_group.cost import CostTable
from xdsl_tpu.passes.layer_group.model import Group, cut_group
from xdsl_tpu.passes.layer_group.moves import is_kept_global
from xdsl_tpu.passes.layer_group.overwrite import over_cycles
from xdsl_tpu.passes.layer_group.parts import Part, spans, timed
from xdsl_tpu.passes.layer_group.passages import Passages
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.reaches import reaches
from xdsl_tpu.passes.layer_group.search import Boundary, Searcher
from xdsl_tpu.passes.layer_group.slices import Sliced, Slices
from xdsl_tpu.passes.layer_group.values import Refusal, Secs
from xdsl_tpu.passes.tensors import required_name

BUSY = 0.1
"""How much of the GDMA's time counts beside when all is done, where several cores share DDR: their
transfers wait for each other, and weights of what follows for both."""

DOUBT = 0.08
"""How much longer groups may take that fit with results over operands only: they leave weights no
room to run ahead in, which their estimate does not know."""

SHARED_OPS = 24
"""Straight groups that cores share hold at most this many ops."""

SOONER = 0.985
"""Groups are clearly done earlier when they take so much of the time of others: with less between
them the estimate of how far weights run ahead may err more than they differ."""

SLICED_OPS = 48
"""Groups of several slices hold at most this many ops."""

_NEVER = (inf, inf, 0)
"""The order of what takes longer than anything."""


@record(frozen=True)
class _Best:
    """The fastest partition of a prefix: when it is done, where its last part begins, the part.

    `secs`: into how many slices it is cut, or how cores share it; None for a global op. A group is
    planned when it is chosen.
    """

    clock: Clock
    start: int
    secs: Secs | None = None


class OptimalSearch:
    """One function's ops and everything that is known about their ranges."""

    def __init__(self, searcher: Searcher, prices: Prices, bases: Sequence[BaseGroup]) -> None:
        self.searcher, self.chip = searcher, searcher.chip
        self.ops = [op for base in bases for op in base.ops]
        self.is_global = [is_kept_global(base) for base in bases for _ in base.ops]
        self.costs = CostTable(self.ops, self.is_global, self.chip, prices)
        self.low: list[int] = []
        self.reach: list[int] = []
        self.farthest: list[int] = []
        self.parts: list[Part] = []
        self._prefixes: list[_Best | None] = []
        self._plans: dict[tuple[int, int, Secs], Group | None] = {}
        self._shares: dict[Hashable, list[Cost] | None] = {}
        self._fitting: dict[Hashable, bool | None] = {}
        self._alike = Alikeness(self.ops, self.costs.moves, prices.signature)
        self.slices = Slices(self.ops, searcher, self.costs, self._alike)
        self._passages = Passages(self.costs)
        for base in bases:
            low = len(self.low)
            self.low += [low] * len(base.ops)
            alone = is_kept_global(base)
            until = low + len(base.ops)
            for found, over in ((self.reach, False), (self.farthest, True)):
                fits = partial(self._fits, over=over)
                found += range(low, until) if alone else reaches(low, until, fits)

    def run(self) -> list[Group]:
        """The groups, in order.

        How far weights can run ahead is known when the groups are, so a first search finds where
        the ring lies, and a second one the groups. With them the ring lies elsewhere, so they are
        taken where they are clearly done earlier than those of the first, each with its own ring.
        """
        first = self.planned()
        self._set_ring(first)
        self._passages = Passages(self.costs)
        self.parts = self.planned()
        if self.searcher.cores == 1 and spans(first) != spans(self.parts):
            first = timed(first, self.costs)
            self._set_ring(self.parts)
            second = timed(self.parts, self.costs)
            self._set_ring(first)
            if second[-1].after.end > SOONER * first[-1].after.end:
                self.parts = first
        return [part.group for part in self.parts if part.group is not None]

    def _set_ring(self, parts: Sequence[Part]) -> None:
        self.costs.set_ring([part.group for part in parts if part.group is not None])

    def end(self) -> Clock:
        """When all ops are done in the groups that were found."""
        return self.parts[-1].after if self.parts else Clock()

    def cost_of(self, group: Group) -> Cost | None:
        """What the ops of a straight group take where cores share none; None of any other."""
        if not group.is_straight or group.secs.total > 1:
            return None
        start = self.costs.position[group.ops[0]]
        cost = self.costs.cost(start, start + len(group.ops))
        if cost is None or not group.over:
            return cost
        steps = list(cost.steps)
        for number, op in enumerate(group.ops):
            if (operand := group.over.get(op.results[0])) is not None:
                own = self.costs.kernel(start + number, self.costs.whole, start + len(group.ops))
                more = (over_cycles(self.costs.prices, group, op, operand) or 0) - (own or 0)
                steps[number] = steps[number]._replace(tiu=steps[number].tiu + more)
        return replace(cost, steps=tuple(steps))

    def planned(self) -> list[Part]:
        """The best partition, all groups planned; weights run ahead as far as the ring allows, or,
        as long as that is not set, as far as local memory has room.

        What fits as part of a longer group can fail by its own outputs; then it is excluded and
        the search repeated from where it ended.
        """
        best: list[_Best | None] = [_Best(Clock(), 0)]
        while True:
            self._extend(best, len(self.ops))
            self._prefixes = best
            parts: list[Part] = []
            end = len(self.ops)
            while end:
                chosen = _known(best[end])
                group = None
                if chosen.secs is not None:
                    group = self._planned(chosen.start, end, chosen.secs)
                    if group is None:
                        del best[end:]
                        break
                before = _known(best[chosen.start]).clock
                parts.append(Part(chosen.start, end, group, before, chosen.clock))
                end = chosen.start
            if not end:
                return parts[::-1]

    def _planned(self, start: int, end: int, secs: Secs) -> Group | None:
        key = (start, end, secs)
        if key not in self._plans:
            planned = self.searcher.plan(self.ops[start:end], secs)
            self._plans[key] = planned if isinstance(planned, Group) else None
        return self._plans[key]

    def _extend(self, best: list[_Best | None], until: int) -> None:
        """For prefixes of up to `until` ops the fastest partition, given those of shorter ones.

        None is a prefix that no partition may have.
        """
        clocks = np.full((2, until), np.inf)
        for end in range(1, until + 1):
            before = best[end - 1]
            if before is not None:
                clocks[:, end - 1] = before.clock.chain, before.clock.gdma
            if end < len(best):
                continue
            options: list[_Best] = []
            if not self.is_global[end - 1]:
                options += self._straight(end, clocks)
                options += self._sliced(end, best, options)
                options += self._shared(end, best)
            found = min(options, key=lambda one: self._order(one.clock, one.start), default=None)
            best.append(self._or_alone(found, before, end - 1))

    def _or_alone(self, found: _Best | None, before: _Best | None, index: int) -> _Best | None:
        """The best way to be done with op `index`, given the best in which it is part of a group.

        Ways to move values take long to find, and a group mostly beats what a movement by itself
        takes at least, so that one is priced only where it does not.
        """
        if before is None:
            return found
        if found is not None:
            least = self.costs.after_alone(before.clock, index, at_least=True)
            if self._order(found.clock, found.start) < self._order(least, index):
                return found
        clock = self.costs.after_alone(before.clock, index)
        options = [_Best(clock, index)] if found is None else [_Best(clock, index), found]
        return min(options, key=lambda one: self._order(one.clock, one.start))

    def _order(self, clock: Clock, start: int) -> tuple[float, float, int]:
        """The fastest first."""
        busy = BUSY * clock.gdma if self.searcher.cores > 1 else 0.0
        return clock.end + busy, clock.gdma, start

    def _straight(self, end: int, clocks: npt.NDArray[np.float64]) -> Iterator[_Best]:
        """The best straight group that ends before `end`, if there is any, and before it the best
        of those that fit with results over operands only. `clocks`: those of all prefixes."""
        first = self.farthest[end - 1]
        plain = self.reach[end - 1] - first
        chain, gdma = self._passages.to(end, first).after(*clocks[:, first:end])
        done = np.maximum(chain, gdma)
        if self.searcher.cores > 1:
            done += BUSY * gdma
        while (least := done.min(initial=np.inf)) < np.inf:
            ties = np.flatnonzero(done == least)
            at = int(ties[np.argmin(gdma[ties])])
            if self._plans.get((first + at, end, Secs()), True) is not None:
                more = 0.0
                if at < plain:
                    more = self._more_over(
                        first + at, end, float(chain[at] - clocks[0, first + at])
                    )
                yield _Best(Clock(float(chain[at]) + more, float(gdma[at])), first + at, Secs())
                if at >= plain:
                    return
                done[:plain] = np.inf
            done[at] = np.inf  # it was tried and cannot be planned

    def _more_over(self, start: int, end: int, cycles: float) -> float:
        """What to add to the estimate of `cycles` where results lie over operands."""
        group = self._planned(start, end, Secs())
        cost, plain = group and self.cost_of(group), self.costs.cost(start, end)
        return DOUBT * cycles + (cost.tiu - plain.tiu if cost and plain else 0.0)

    def _fits(self, start: int, end: int, *, over: bool) -> bool:
        """Whether ops[start:end] are a straight group, if need be with results `over` operands;
        found once for ranges that are alike."""
        key = self._alike.of(start, end)
        if key not in self._fitting:
            planned = self.searcher.plan(self.ops[start:end], Secs())
            self._fitting[key] = bool(planned.over) if isinstance(planned, Group) else None
        needs_over = self._fitting[key]
        return needs_over is not None and over >= needs_over

    def _sliced(
        self, end: int, best: Sequence[_Best | None], others: Sequence[_Best]
    ) -> list[_Best]:
        """Groups of several slices that reach further back than a straight one, each in more slices
        where these could be faster than the best group there is by then, of these and `others`;
        first those that could be fastest."""
        earliest, found = max(self.low[end - 1], end - SLICED_OPS), dict[int, _Best]()
        least = min((self._order(one.clock, one.start) for one in others), default=_NEVER)
        promising: list[tuple[tuple[float, float, int], Sliced]] = []
        for start in range(self.reach[end - 1] - 1, earliest - 1, -1):
            one, before = self.slices.of(start, end), best[start]
            if one is None:
                break
            if before is None or one.cost is None:
                continue
            found[start] = self._after_sliced(before.clock, start, end, one)
            least = min(least, self._order(found[start].clock, start))
            promising.append((self._promise(before.clock, start, end, one), one))
        heapify(promising)
        while promising and promising[0][0] < least:
            (*_, start), one = heappop(promising)
            if one.may_be_faster:
                one.try_more()
                before = _known(best[start]).clock
                found[start] = self._after_sliced(before, start, end, one)
                least = min(least, self._order(found[start].clock, start))
                heappush(promising, (self._promise(before, start, end, one), one))
        return list(found.values())

    def _after_sliced(self, before: Clock, start: int, end: int, one: Sliced) -> _Best:
        """The clock after ops[start:end] in slices."""
        assert one.cost is not None
        ahead = self.costs.next_ahead(end - 1, one.local_bytes)
        return _Best(before.after_alone(one.cost.total, one.cost.moved, ahead), start, one.secs)

    def _promise(
        self, before: Clock, start: int, end: int, one: Sliced
    ) -> tuple[float, float, int]:
        """The order of what more slices could be."""
        ahead = self.costs.next_ahead(end - 1, one.local_bytes)
        return self._order(before.after_alone(one.least, one.moved, ahead), start)

    def _shared(self, end: int, best: Sequence[_Best | None]) -> Iterator[_Best]:
        """Straight groups of which each core has a part."""
        for secs in self.searcher.shares(self.ops[end - 1 : end]):
            earliest = max(self.low[end - 1], end - SHARED_OPS)
            for start in range(end - 1, earliest - 1, -1):
                costs, before = self._known_share(start, end, secs), best[start]
                if costs is None:
                    break
                if before is not None and self._plans.get((start, end, secs), True) is not None:
                    passages = [self.costs.passage(start, cost) for cost in costs]
                    slowest = Passage(*map(max, zip(*passages, strict=True)))
                    yield _Best(before.clock.after_straight(slowest), start, secs)

    def _known_share(self, start: int, end: int, secs: Secs) -> list[Cost] | None:
        """The same, found once for ranges that are alike and as long beside straight groups."""
        key = (self._alike.of(start, end), secs, start < self.reach[end - 1])
        if key not in self._shares:
            self._shares[key] = self._share(start, end, secs)
        return self._shares[key]

    def _share(self, start: int, end: int, secs: Secs) -> list[Cost] | None:
        """What each core takes when it has one section of a range; None when it cannot."""
        cut = cut_group(self.ops[start:end], KIND, secs, self.chip)
        if isinstance(cut, Refusal):
            return None
        if start < self.reach[end - 1] and self._planned(start, end, secs) is None:
            return None
        return self.costs.shared(cut)

    def note_boundaries(self) -> None:
        """Note with the searcher why a group begins or ends, but for where a base group does."""
        for before, after in pairwise(self.parts):
            is_near = before.group is not None or after.group is not None
            if is_near and after.start != self.low[after.start]:
                self._note(after)

    def _note(self, part: Part) -> None:
        """Why `part` begins where it does: what the network costs with a group over that place,
        or that not even the two ops there fit into one group."""
        before, after = self.ops[part.start - 1], self.ops[part.start]
        best = self._over(part.start, part.end)
        if not best:
            refused = self.searcher.fit((before, after))
            if isinstance(refused, Group):
                refused = Refusal("a kernel cannot work on the slices that fit")
            self.searcher.note(self.ops, part.start, refused, (before, after))
            return
        end, over = part.end, _known(best[part.end])
        cycles = max(0, round(over.clock.end - part.after.end))
        while over.start > part.start:
            end, over = over.start, _known(best[over.start])
        slices = 1 if over.secs is None else over.secs.total
        first, last = (required_name(self.ops[index]) for index in (over.start, end - 1))
        form = f"in {slices} slices" if slices > 1 else "straight"
        reason = f"the best group over it, '{first}' .. '{last}' {form}, gives that away"
        self.searcher.boundaries.append(
            Boundary(before, after, reason, cycles=cycles, is_choice=True)
        )

    def _over(self, start: int, end: int) -> list[_Best | None]:
        """The fastest partitions of prefixes, up to `end`, without a boundary at `start`; empty
        when no group goes over it."""
        best = [*self._prefixes[:start], None]
        self._extend(best, end)
        return best if best[end] is not None else []


def _known(best: _Best | None) -> _Best:
    assert best is not None, "no partition of this prefix"
    return best
