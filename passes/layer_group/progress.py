"""When a planned group is done: what waits for memory that others still use.

The search counts with the room that each op leaves to weights; where exactly these lie, and what
lay there before, is known when a group is planned.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.passes.layer_group.clock import Cost
from xdsl_tpu.passes.layer_group.lmem_size import slice_bytes
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.tensors import is_weight

LOOK_AHEAD = 256
"""How many transfers are considered at a time."""


def done_after(group: Group, cost: Cost, chip: Chip) -> float:
    """When a straight group whose ops take so much is done, from an idle machine, as it is planned.

    A transfer runs when nothing needs any longer what lay in its place; of those that may run, the
    first one needed goes first. A result is needed in DDR when something is made in its place.
    """
    work = _Work(group, cost, chip)
    waiting = sorted([*work.transfers(), *work.stores()], key=lambda one: one.piece)
    # Entry n: when piece n - 1 of all work is done.
    done, gdma, there = [0.0], 0.0, [0.0] * (len(work.pieces) + 1)
    while (number := len(done) - 1) < len(work.pieces):
        if not waiting or waiting[0].piece > number:
            done.append(max(done[-1], there[number]) + work.pieces[number])
            continue
        near = enumerate(islice(waiting, LOOK_AHEAD))
        known = ((n, done[one.since]) for n, one in near if one.since < len(done))
        place, start = _first(known, gdma)
        one = waiting.pop(place)
        gdma = there[one.piece] = max(gdma, start) + one.cycles
    for one in waiting:
        gdma = max(gdma, done[one.since]) + one.cycles
    return max(gdma, done[-1])


def _first(known: Iterable[tuple[int, float]], gdma: float) -> tuple[int, float]:
    """The first transfer, by its place, that may run when the GDMA is free, or the one that may run
    soonest, and when."""
    soonest = -1, math.inf
    for place, start in known:
        if start <= gdma:
            return place, start
        soonest = min(soonest, (place, start), key=lambda one: one[1])
    return soonest


@dataclass(frozen=True, slots=True)
class _Transfer:
    """What piece `piece` of the work needs, which is moved when `since` pieces are done; the piece
    behind the last one is the end."""

    piece: int
    since: int
    cycles: float


class _Work:
    """The ops of a group in `pieces`, which take so many cycles: one for each part of the weights
    that an op works with one after the other."""

    def __init__(self, group: Group, cost: Cost, chip: Chip) -> None:
        self.group, self.cost, self.chip = group, cost, chip
        self.inside = set(group.ops)
        self.pieces = [step.tiu / step.parts for step in cost.steps for _ in range(step.parts)]
        self.first = list(accumulate((step.parts for step in cost.steps), initial=0))
        self.last_use = {
            value: number for number, op in enumerate(group.ops) for value in op.operands
        }

    def transfers(self) -> Iterator[_Transfer]:
        """All Loads, by when they are needed."""
        waiting, plan = set(self.group.slicing.loaded), self.group.plan
        # Bytes of a lane, and how many pieces are done when they are free.
        lying = [
            (late.start, late.end, self._until(plan.steps - 1 - late.left)) for late in plan.late
        ]
        for number, (op, step) in enumerate(zip(self.group.ops, self.cost.steps, strict=True)):
            new = [value for value in dict.fromkeys(op.operands) if value in waiting]
            waiting.difference_update(new)
            sizes = {value: self._size(value) for value in new}
            for held, cycles in ((False, step.loads), (True, step.weights)):
                values = [value for value in new if is_weight(value) == held]
                total = sum(sizes[value] for value in values)
                for value in values:
                    share = cycles * sizes[value] / total
                    if not held:
                        since = self._until(plan.load_step[value] - 1)
                        yield _Transfer(self.first[number], since, share)
                        continue
                    yield from self._weight(value, number, sizes[value], share, lying)

    def stores(self) -> Iterator[_Transfer]:
        """The Stores of all results."""
        plan, ops = self.group.plan, self.group.ops
        sizes = {value: self._size(value) for value in self.group.slicing.stored}
        places = [list(self._made(op)) for op in ops]
        total = sum(sizes.values())
        for value, size in sizes.items():
            start, step = plan.address[value], plan.store_step[value]
            over = (
                number
                for number in range(step - 1, len(ops))
                if any(low < start + size and start < high for low, high in places[number])
            )
            needed = self.first[next(over, len(ops))]
            yield _Transfer(needed, self._until(step - 1), self.cost.stores * size / total)

    def _made(self, op: Operation) -> Iterator[tuple[int, int]]:
        """Bytes of a lane that an op writes: from the first to behind the last."""
        plan = self.group.plan
        for value in op.results:
            if value in plan.address:
                yield plan.address[value], plan.address[value] + self._size(value)
        if op in plan.scratch:
            yield plan.scratch[op], plan.scratch[op] + plan.scratch_bytes[op]

    def _weight(
        self,
        value: SSAValue,
        number: int,
        size: int,
        cycles: float,
        lying: list[tuple[int, int, int]],
    ) -> Iterator[_Transfer]:
        """The Load of a weight, part by part; it lies there then."""
        parts, begin = self.cost.steps[number].parts, self.group.plan.address[value]
        last = self.last_use[value]
        ends = [begin + size * part // parts for part in range(parts + 1)]
        for part, (start, end) in enumerate(pairwise(ends)):
            since = max(
                (free for low, high, free in lying if low < end and start < high), default=0
            )
            lying[:] = [one for one in lying if not start <= one[0] < one[1] <= end]
            alike = self.cost.steps[last].parts == parts
            free = self.first[last] + part + 1 if alike else self.first[last + 1]
            lying.append((start, end, free))
            yield _Transfer(
                self.first[number] + part, min(since, self.first[number]), cycles / parts
            )

    def _size(self, value: SSAValue) -> int:
        return slice_bytes(value, self.group.slicing.of, self.inside, self.chip)

    def _until(self, step: int) -> int:
        """How many pieces are done behind a time step."""
        return self.first[min(max(step, 0), len(self.group.ops))]
