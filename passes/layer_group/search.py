"""Which ops become groups together.

`greedy` takes the longest groups from the end. `optimal` finds the partition with the least
traffic by dynamic programming: weights are loaded once whatever the groups are, and their loads
run ahead across groups, so what a boundary costs is the store and the load of what crosses it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.passes.layer_group.group_type import choose_type, type_problem
from xdsl_tpu.passes.layer_group.lmem_size import lane_bytes
from xdsl_tpu.passes.layer_group.model import Group, plan_group
from xdsl_tpu.passes.layer_group.sections import max_sections
from xdsl_tpu.passes.layer_group.shapes import extent
from xdsl_tpu.passes.layer_group.slicing import entering, leaving
from xdsl_tpu.passes.layer_group.values import GroupType, Refusal, Secs
from xdsl_tpu.passes.tensors import element_bytes, is_weight, size_in_bytes

Scratch = Callable[[Operation], int]

MOST_SLICES = 64
"""A group is cut into at most this many slices."""

SLICED_OPS = 16
"""Groups of several slices hold at most this many ops more than a straight group could."""

SLICE_CYCLES = 300
"""What a slice costs beside its work: short transfers and a pipeline that fills and drains."""


@dataclass(frozen=True)
class Boundary:
    """Why a group does not go on: `after` begins what follows `before`.

    `over` is by how many bytes per lane it does not fit, `cycles` by how much it is not worth it.
    """

    before: Operation
    after: Operation
    reason: str
    over: int = 0
    cycles: int = 0


@dataclass(frozen=True)
class _Best:
    """The cheapest partition of a prefix: its cost, where its last part begins, the part."""

    cost: float
    start: int
    group: Group | None


@dataclass
class Searcher:
    """Finds groups in runs of ops with local forms."""

    chip: Chip
    scratch: Scratch
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
        """The partition into groups and single global ops that moves the fewest activations."""
        best = [_Best(0.0, 0, None)]
        straight_from = 0
        refusals: dict[int, Refusal] = {}
        for end in range(1, len(ops) + 1):
            straight_from, refusal = self._earliest(ops, straight_from, end)
            if refusal is not None:
                refusals[end] = refusal
            options = [self._global(ops, end, best)]
            options += self._straight(ops, straight_from, end, best)
            options += self._sliced(ops, straight_from, end, best)
            best.append(min(options, key=lambda option: option.cost))
        return self._partition(ops, best, refusals)

    def _earliest(
        self, ops: Sequence[Operation], start: int, end: int
    ) -> tuple[int, Refusal | None]:
        """The earliest op from which a straight group reaches `end`, not before `start`."""
        refusal: Refusal | None = None
        while start < end:
            planned = self.plan(ops[start:end], Secs())
            if isinstance(planned, Group):
                break
            refusal = planned
            start += 1
        return start, refusal

    def _global(self, ops: Sequence[Operation], end: int, best: Sequence[_Best]) -> _Best:
        return _Best(best[end - 1].cost + self.traffic(ops[end - 1 : end]), end - 1, None)

    def _straight(
        self, ops: Sequence[Operation], first: int, end: int, best: Sequence[_Best]
    ) -> list[_Best]:
        """Straight groups that end at `end`; planned only once chosen."""
        starts = range(first, end - 1)
        if not starts:
            return []
        costs = {start: best[start].cost + self.traffic(ops[start:end]) for start in starts}
        start = min(costs, key=lambda key: (costs[key], key))
        planned = self.plan(ops[start:end], Secs())
        if isinstance(planned, Refusal):
            return []
        return [_Best(costs[start], start, planned)]

    def _sliced(
        self, ops: Sequence[Operation], straight_from: int, end: int, best: Sequence[_Best]
    ) -> Iterator[_Best]:
        """Groups of several slices that reach further back than a straight one."""
        for start in range(straight_from - 1, max(-1, straight_from - 1 - SLICED_OPS), -1):
            part = ops[start:end]
            if len(part) < 2:
                continue
            if self._held_bytes(part) > self.chip.local_bytes:
                return
            group = self._in_slices(part)
            if group is None:
                return
            cost = best[start].cost + self.traffic(part) + SLICE_CYCLES * group.secs.total
            yield _Best(cost, start, group)

    def _held_bytes(self, ops: Sequence[Operation]) -> int:
        """Local memory that the weights of ops need if all are held."""
        return sum(
            lane_bytes(
                extent(value, GroupType.NORMAL, self.chip),
                8 * element_bytes(value),
                False,
                self.chip,
            )
            for value in entering(ops)
            if is_weight(value)
        )

    def _partition(
        self, ops: Sequence[Operation], best: Sequence[_Best], refusals: dict[int, Refusal]
    ) -> list[Group]:
        """Walk the best choices back from the end."""
        found: list[Group] = []
        end = len(ops)
        while end:
            chosen = best[end]
            if chosen.start:
                self._explain(ops, chosen, end, refusals)
            if chosen.group is not None:
                found.append(chosen.group)
            end = chosen.start
        return found[::-1]

    def _explain(
        self, ops: Sequence[Operation], chosen: _Best, end: int, refusals: dict[int, Refusal]
    ) -> None:
        """Note why the part that ends at `end` begins where it does."""
        wider = self.plan(ops[chosen.start - 1 : end], Secs())
        if isinstance(wider, Refusal):
            self._note(ops, chosen.start, wider)
            return
        lost = self.traffic(ops[chosen.start - 1 : end]) - self.traffic(ops[chosen.start : end])
        before, after = ops[chosen.start - 1], ops[chosen.start]
        reason = "it would move more activations"
        self.boundaries.append(Boundary(before, after, reason, cycles=max(0, round(lost))))

    def _note(self, ops: Sequence[Operation], start: int, refusal: Refusal) -> None:
        self.boundaries.append(
            Boundary(ops[start - 1], ops[start], refusal.reason, max(0, refusal.over))
        )

    def traffic(self, ops: Sequence[Operation]) -> float:
        """Cycles to load what ops read from outside and to store what others need of them."""
        loaded = sum(size_in_bytes(v) for v in entering(ops) if not is_weight(v))
        stored = sum(size_in_bytes(v) for v in leaving(ops))
        return loaded / self.chip.load_bytes_per_cycle + stored / self.chip.store_bytes_per_cycle

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
