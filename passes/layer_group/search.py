"""Which ops become groups together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.passes.layer_group.group_type import choose_type, type_problem
from xdsl_tpu.passes.layer_group.model import Group, plan_group
from xdsl_tpu.passes.layer_group.sections import max_sections
from xdsl_tpu.passes.layer_group.values import GroupType, Refusal, Secs

Scratch = Callable[[Operation], int]

MOST_SECTIONS = 64
"""A group is cut into at most this many slices."""


@dataclass
class Boundary:
    """Why a group does not go on to the op before it."""

    before: Operation
    after: Operation
    reason: str
    over: int = 0


@dataclass
class Searcher:
    """Finds groups in runs of ops with local forms."""

    chip: Chip
    scratch: Scratch
    boundaries: list[Boundary] = field(default_factory=list[Boundary])

    def greedy(self, ops: Sequence[Operation]) -> list[Group | Operation]:
        """From the end, each time the longest range that is a group; the rest stay global ops."""
        found: list[Group | Operation] = []
        end = len(ops)
        while end:
            start, group, refusal = self._longest(ops, end)
            if refusal is not None and start:
                self.boundaries.append(
                    Boundary(ops[start - 1], ops[start], refusal.reason, refusal.over)
                )
            found.append(group if group is not None else ops[end - 1])
            end = start
        return found[::-1]

    def _longest(
        self, ops: Sequence[Operation], end: int
    ) -> tuple[int, Group | None, Refusal | None]:
        """The longest group that ends before `end`: its start, itself, and why not longer."""
        best: Group | None = None
        refusal: Refusal | None = None
        start = end
        step = 1
        while start > 0:
            trial = max(0, start - step)
            planned = self.plan(ops[trial:end])
            if isinstance(planned, Group):
                best, start = planned, trial
                step *= 2
                continue
            refusal = planned
            if step == 1:
                break
            step = max(1, step // 4)
        if best is None:
            return end - 1, None, refusal
        return start, best, refusal

    def plan(self, ops: Sequence[Operation]) -> Group | Refusal:
        """A range of ops as one group, straight if it fits, otherwise in as few slices as fit."""
        choice = choose_type(ops, self.chip.lanes)
        kind = choice.kind
        problem = type_problem(ops, kind)
        if problem is not None:
            return Refusal(problem)
        straight = plan_group(ops, kind, Secs(), self.chip, self.scratch)
        if isinstance(straight, Group):
            return straight
        for secs in self._sections(ops, kind):
            planned = plan_group(ops, kind, secs, self.chip, self.scratch)
            if isinstance(planned, Group):
                return planned
        return straight

    def _sections(self, ops: Sequence[Operation], kind: GroupType) -> Iterator[Secs]:
        """Section counts worth trying: n first, then h, in powers of two."""
        most = max_sections(ops, kind, self.chip)
        count = 2
        while count <= MOST_SECTIONS:
            n = min(count, most.n)
            h = min(-(-count // n), most.h)
            if n * h >= count:
                yield Secs(n=n, h=h)
            count *= 2
