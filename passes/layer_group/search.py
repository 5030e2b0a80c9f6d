"""Which ops become groups together.

`greedy` takes the longest groups from the end. `optimal` finds the partition that is done first
by dynamic programming over the two engines' clocks: what a boundary costs is the store and the
load of what crosses it, and, around groups that have local memory to themselves, weights that
cannot be loaded ahead.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.passes.layer_group.cost import Clock, CostTable
from xdsl_tpu.passes.layer_group.group_type import choose_type, type_problem
from xdsl_tpu.passes.layer_group.lmem_size import element_bits, lane_bytes
from xdsl_tpu.passes.layer_group.model import Group, ScratchOf, plan_group
from xdsl_tpu.passes.layer_group.sections import max_sections
from xdsl_tpu.passes.layer_group.shapes import extent
from xdsl_tpu.passes.layer_group.slicing import entering
from xdsl_tpu.passes.layer_group.values import GroupType, Refusal, Secs
from xdsl_tpu.passes.tensors import is_weight

MOST_SLICES = 64
"""A group is cut into at most this many slices."""

SLICED_OPS = 16
"""Groups of several slices hold at most this many ops."""

SLICE_CYCLES = 300
"""What a slice costs beside its work: short transfers and a pipeline that fills and drains."""


@dataclass(frozen=True)
class Boundary:
    """Why a group does not go on: `after` begins what follows `before`.

    `over` is by how many bytes per lane it does not fit. `is_choice`: it would fit, but is
    slower by `cycles`.
    """

    before: Operation
    after: Operation
    reason: str
    over: int = 0
    cycles: int = 0
    is_choice: bool = False


@dataclass(frozen=True)
class _Best:
    """The fastest partition of a prefix: when it is done, where its last part begins, its slices.

    `secs` is None for a global op.
    """

    clock: Clock
    start: int
    secs: Secs | None


@dataclass
class Searcher:
    """Finds groups in runs of ops with local forms."""

    chip: Chip
    scratch: ScratchOf
    boundaries: list[Boundary] = field(default_factory=list[Boundary])

    def greedy(self, ops: Sequence[Operation]) -> list[Group]:
        """From the end, each time the longest range that is a group; the rest stay global ops."""
        found: list[Group] = []
        end = len(ops)
        while end:
            start, group, refusal = self._longest(ops, end)
            if refusal is not None and start:
                self._note(ops, start, refusal)
            if group is not None:
                found.append(group)
            end = start
        return found[::-1]

    def optimal(self, ops: Sequence[Operation]) -> list[Group]:
        """The partition into groups and single global ops that is done first."""
        costs = CostTable(ops, self.chip)
        best = [_Best(Clock(), 0, None)]
        for end, first in enumerate(self._straight_from(ops), start=1):
            alone = best[end - 1].clock.after_alone(costs.of(end - 1, end))
            options = [_Best(alone, end - 1, None)]
            for start, cost in costs.ending_at(end, first).items():
                if end - start > 1:
                    clock = best[start].clock.after_straight(cost)
                    options.append(_Best(clock, start, Secs()))
            options += self._sliced(ops, costs, first, end, best)
            best.append(min(options, key=lambda o: (o.clock.end, o.clock.gdma, o.start)))
        return list(self._partition(ops, costs, best))[::-1]

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
            if isinstance(self.plan(ops[start:trial], Secs()), Group):
                low, step = trial, step * 2
            elif step == 1:
                break
            else:
                high, step = trial - 1, max(1, step // 4)
        return low

    def _sliced(
        self,
        ops: Sequence[Operation],
        costs: CostTable,
        straight_from: int,
        end: int,
        best: Sequence[_Best],
    ) -> Iterator[_Best]:
        """Groups of several slices that reach further back than a straight one."""
        for start in range(straight_from - 1, max(-1, end - 1 - SLICED_OPS), -1):
            part = ops[start:end]
            if len(part) < 2:
                continue
            if self._held_bytes(part) > self.chip.local_bytes:
                return
            group = self._in_slices(part)
            if group is None:
                return
            cost = costs.of(start, end)
            cost = replace(cost, tiu=cost.tiu + SLICE_CYCLES * group.secs.total)
            yield _Best(best[start].clock.after_alone(cost), start, group.secs)

    def _held_bytes(self, ops: Sequence[Operation]) -> int:
        """Local memory that the weights of ops need if all are held."""
        normal = GroupType.NORMAL
        return sum(
            lane_bytes(extent(v, normal, self.chip), element_bits(v), False, self.chip)
            for v in entering(ops)
            if is_weight(v)
        )

    def _partition(
        self, ops: Sequence[Operation], costs: CostTable, best: Sequence[_Best]
    ) -> Iterator[Group]:
        """Walk the best choices back from the end."""
        end = len(ops)
        while end:
            chosen = best[end]
            if chosen.start:
                self._explain(ops, costs, chosen, end, best)
            if chosen.secs is not None:
                planned = self.plan(ops[chosen.start : end], chosen.secs)
                if isinstance(planned, Group):
                    yield planned
                else:  # what fits as part of a longer group can fail by its own outputs
                    yield from reversed(self.greedy(ops[chosen.start : end]))
            end = chosen.start

    def _explain(
        self,
        ops: Sequence[Operation],
        costs: CostTable,
        chosen: _Best,
        end: int,
        best: Sequence[_Best],
    ) -> None:
        """Note why the part that ends at `end` begins where it does."""
        wider = self.plan(ops[chosen.start - 1 : end], Secs())
        if isinstance(wider, Refusal):
            self._note(ops, chosen.start, wider)
            return
        before, after = ops[chosen.start - 1], ops[chosen.start]
        other = best[chosen.start - 1].clock.after_straight(costs.of(chosen.start - 1, end))
        lost = max(0, round(other.end - chosen.clock.end))
        self.boundaries.append(
            Boundary(before, after, "it is not worth it", cycles=lost, is_choice=True)
        )

    def _note(self, ops: Sequence[Operation], start: int, refusal: Refusal) -> None:
        self.boundaries.append(
            Boundary(ops[start - 1], ops[start], refusal.reason, max(0, refusal.over))
        )

    def _longest(
        self, ops: Sequence[Operation], end: int
    ) -> tuple[int, Group | None, Refusal | None]:
        """The longest group that ends before `end`: its start, itself, and why not longer."""
        best: Group | None = None
        refusal: Refusal | None = None
        start, step = end, 1
        while start > 0:
            trial = max(0, start - step)
            planned = self._any(ops[trial:end])
            if isinstance(planned, Group):
                best, start = planned, trial
                step *= 2
                continue
            refusal = planned
            if step == 1:
                break
            step = max(1, step // 4)
        if best is None or len(best.ops) == 1:
            return end - 1, None, refusal
        return start, best, refusal

    def _any(self, ops: Sequence[Operation]) -> Group | Refusal:
        """A range as one group, straight if it fits, otherwise in as few slices as fit."""
        straight = self.plan(ops, Secs())
        if isinstance(straight, Group):
            return straight
        return self._in_slices(ops) or straight

    def _in_slices(self, ops: Sequence[Operation]) -> Group | None:
        for secs in self._sections(ops):
            planned = self.plan(ops, secs)
            if isinstance(planned, Group):
                return planned
        return None

    def plan(self, ops: Sequence[Operation], secs: Secs) -> Group | Refusal:
        """A range as one group of the type that suits it, cut into `secs`."""
        kind = choose_type(ops, self.chip.lanes).kind
        problem = type_problem(ops, kind)
        if problem is not None:
            return Refusal(problem)
        return plan_group(ops, kind, secs, self.chip, self.scratch)

    def _sections(self, ops: Sequence[Operation]) -> Iterator[Secs]:
        """Section counts worth trying: n first, then h, in powers of two."""
        most = max_sections(ops, choose_type(ops, self.chip.lanes).kind, self.chip)
        count = 2
        while count <= MOST_SLICES:
            n = min(count, most.n)
            h = min(-(-count // n), most.h)
            if n * h >= count:
                yield Secs(n=n, h=h)
            count *= 2
