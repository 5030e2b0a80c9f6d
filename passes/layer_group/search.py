"""Which ranges of ops are groups, and the greedy search: the longest ones from the end."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.cuts import KIND
from xdsl_tpu.backend.local.forms import row_form
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps
from xdsl_tpu.passes.layer_group.model import Cut, Group, ScratchOf, cut_group, plan_group
from xdsl_tpu.passes.layer_group.overwrite import largest_over
from xdsl_tpu.passes.layer_group.sections import KnownSections, max_sections
from xdsl_tpu.passes.layer_group.slicing import KnownNeeds, leaving
from xdsl_tpu.passes.layer_group.values import AXES, Refusal, Secs
from xdsl_tpu.passes.tensors import required_name

SLICES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Into how many slices a group may be cut. Few are better: margins are computed twice, and short
runs of a lane come from few channels of DDR (docs/hardware/cycles.md#transfers)."""


@dataclass(frozen=True)
class Boundary:
    """Why a group does not go on: `after` begins what follows `before`.

    `tried` are the ops across it that could not be one group in any form, by `over` bytes per
    lane. `is_choice`: they could, but then the whole is done later by `cycles`.
    """

    before: Operation
    after: Operation
    reason: str
    over: int = 0
    cycles: int = 0
    is_choice: bool = False
    tried: tuple[Operation, ...] = ()


@dataclass
class Searcher:
    """Plans groups in runs of ops with local forms, and remembers why they end.

    `over` gives a group with results that lie over operands, if there are any
    (`overwrite.overwriting`): what fits in no other way is planned so.
    """

    chip: Chip
    scratch: ScratchOf
    cores: int = 1
    over: Callable[[Cut], Cut | None] = lambda _: None
    boundaries: list[Boundary] = field(default_factory=list[Boundary])
    known: KnownNeeds = field(default_factory=KnownNeeds, init=False)
    _known_sections: KnownSections = field(default_factory=KnownSections, init=False)
    _asked: tuple[Sequence[Operation], str | None] | None = field(default=None, init=False)
    """The range that was asked for last, and why it cannot be a group: most are asked for again in
    more slices."""

    def greedy(self, ops: Sequence[Operation]) -> list[Group]:
        """From the end, each time the longest range that is a group; the rest stay global ops."""
        found: list[Group] = []
        end = len(ops)
        while end:
            start, group, refusal = self._longest(ops, end)
            if refusal is not None and start:
                self.note(ops, start, refusal, tuple(ops[start - 1 : end]))
            if group is not None:
                found.append(group)
            end = start
        return found[::-1]

    def note(
        self,
        ops: Sequence[Operation],
        start: int,
        refusal: Refusal,
        tried: tuple[Operation, ...],
    ) -> None:
        """A boundary before op `start`, as `tried` were refused."""
        over = max(0, refusal.over)
        before, after = ops[start - 1], ops[start]
        self.boundaries.append(Boundary(before, after, refusal.reason, over, tried=tried))

    def _longest(
        self, ops: Sequence[Operation], end: int
    ) -> tuple[int, Group | None, Refusal | None]:
        """The longest group that ends before `end`: its start, itself, and why not longer."""
        best: Group | None = None
        refusal: Refusal | None = None
        start, step = end, 1
        while start > 0:
            trial = max(0, start - step)
            planned = self.fit(ops[trial:end])
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

    def fit(self, ops: Sequence[Operation]) -> Group | Refusal:
        """A range as one group, straight if it fits, otherwise in as few slices as fit.

        What is refused is refused in every form; the reason is of the form that comes nearest.
        """
        nearest = Refusal("")
        for secs in (Secs(), *self.sections(ops)):
            planned = self.plan(ops, secs)
            if isinstance(planned, Group):
                return planned
            if not nearest.reason or (0 < planned.over < (nearest.over or math.inf)):
                nearest = planned
        return nearest

    def in_slices(self, ops: Sequence[Operation], more_than: int = 1) -> Group | None:
        """A range as one group in as few slices as fit, but `more_than` that, and more than one
        for each core."""
        for secs in self.sections(ops):
            enough = secs.total > max(more_than, self.cores)
            planned = self.plan(ops, secs) if enough else None
            if isinstance(planned, Group):
                return planned
        return None

    def plan(self, ops: Sequence[Operation], secs: Secs) -> Group | Refusal:
        """A range as one group, cut into `secs`."""
        if self._asked is None or self._asked[0] is not ops:
            self._asked = ops, range_problem(ops, self.chip.lanes)
        _, problem = self._asked
        if problem is not None:
            return Refusal(problem)
        cores = self.cores if secs.total > 1 else 1
        cut = cut_group(ops, KIND, secs, self.chip, cores, self.known)
        planned = plan_group(cut, self.chip, self.scratch)
        if isinstance(planned, Group) or isinstance(cut, Refusal):
            return planned
        if not 0 < planned.over <= largest_over(cut, self.chip):
            return planned
        tighter = self.over(cut)
        return planned if tighter is None else plan_group(tighter, self.chip, self.scratch)

    def sections(self, ops: Sequence[Operation]) -> Iterator[Secs]:
        """Section counts worth trying, powers of two and half as many more: n first, then rows in
        the lanes where there are such, then h."""
        most = max_sections(ops, KIND, self.chip, self._known_sections)
        for count in SLICES:
            n = min(count, most.n)
            left = -(-count // n)
            for c in sorted({min(left, most.c), 1}, reverse=True):
                h = min(-(-left // c), most.h)
                if n * c * h >= count:
                    yield Secs(n=n, c=c, h=h)

    def shares(self, ops: Sequence[Operation]) -> Iterator[Secs]:
        """One section for each core, along each axis along which the results may be cut."""
        sizes = [of_value(value, KIND, self.chip.lanes) for value in leaving(ops)]
        for axis in AXES:
            unit = self.chip.lanes if axis == "c" else 1
            if self.cores > 1 and all(getattr(one, axis) > unit for one in sizes):
                yield Secs(**{axis: self.cores})


def range_problem(ops: Sequence[Operation], lanes: int) -> str | None:
    """Why a range of ops cannot be a group: what an op needs with filter taps as channels, or in
    every lane where it lies in one, is not loaded, or not for it alone. None when it can."""
    inside = set(ops)
    for op in ops:
        which = f"'{required_name(op)}' ({op.name})"
        if isinstance(op, MergesTaps) and not _can_merge_taps(op, inside):
            return f"{which} merges filter taps into channels, so it needs a load of its own"
        for index, value in enumerate(op.operands):
            if is_none(value) or row_form(op, index, KIND, lanes) is None:
                continue
            uses = [use for use in value.uses if use.operation in inside]
            plain = any(row_form(u.operation, u.index, KIND, lanes) is None for u in uses)
            if value.owner in inside or plain:
                return (
                    f"{which} needs its operand {index} in every lane, "
                    "so it must be loaded for it alone"
                )
    return None


def _can_merge_taps(op: MergesTaps, inside: set[Operation]) -> bool:
    """Whether an operand can be loaded with taps side by side, if it is to be.

    It enters the group, perhaps through ops that follow their reader, and nothing else there or
    behind reads it.
    """
    if not any(op.merged_taps()):
        return True
    value = op.operands[0]
    while isinstance(value.owner, LocalGen) and value.owner.follows_reader():
        if value.owner not in inside:
            break
        if len(list(value.uses)) > 1:
            return False
        value = value.owner.operands[0]
    readers = {use.operation for use in value.uses} & inside
    return value.owner not in inside and len(readers) == 1
