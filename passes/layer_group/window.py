"""What some neighbouring ops of a function cost when they are grouped as well as can be.

Passes that choose between forms of an op ask here, before groups are made: the answer is the
search's own, for these ops alone.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.passes.address_assign.views import view_of
from xdsl_tpu.passes.layer_group.base_groups import base_groups, why_not_local
from xdsl_tpu.passes.layer_group.clock import BEGIN, Clock, Step
from xdsl_tpu.passes.layer_group.cost import CostTable
from xdsl_tpu.passes.layer_group.lmem_size import cycles_to_fill, op_bytes
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.moves import is_kept_global
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.overwrite import overwriting
from xdsl_tpu.passes.layer_group.parts import Part as Planned
from xdsl_tpu.passes.layer_group.prices import Part, Prices
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.slicing import leaving
from xdsl_tpu.passes.layer_group.values import Secs
from xdsl_tpu.passes.tensors import is_weight, size_in_bytes


@dataclass(frozen=True)
class Taken:
    """What some ops take from an idle machine: until all is stored, in how many of these cycles the
    GDMA is busy, and for how many it could have loaded weights of what follows meanwhile."""

    cycles: float
    moved: float
    ahead: float


IMPOSSIBLE = Taken(math.inf, math.inf, 0)
"""There are no such commands."""


class WindowCosts:
    """Costs of windows of ops, with everything that was measured for the ones before.

    `over`: groups may have results over operands, as `layer-group` plans what fits in no other way.
    """

    def __init__(self, chip: Chip, module: ModuleOp | None = None, *, over: bool = False) -> None:
        self.chip = chip
        self.prices = Prices(chip, module)
        self._over = over

    def window(self, ops: Sequence[Operation]) -> Taken:
        """What ops that follow each other take until others have loaded what they read of it.

        What comes from a group of one slice needs no load, as that group may go on behind the
        window. Weights must be laid out for the kernels already.
        """
        if not all(self._has_commands(op) for op in ops):
            return IMPOSSIBLE
        bases = base_groups(ops, why_not_local)
        searcher = Searcher(self.chip, self.prices.scratch)
        if self._over:
            searcher.over = partial(overwriting, self.prices)
        search = OptimalSearch(searcher, self.prices, bases)
        parts, moved = search.planned(), 0.0
        for part in parts:
            inside = search.ops[part.start : part.end]
            if part.group is None:
                moved += sum(self.prices.alone(op).gdma for op in inside)
            elif part.group.is_straight:
                cost = search.costs.cost(part.start, part.end)
                moved += cost.moved if cost is not None else 0
            else:
                sliced = search.costs.sliced(part.group)
                moved += sliced.moved if sliced is not None else 0
        loads = sum(self._loads(value) for value in _stored(search.ops, parts))
        end = parts[-1].after
        return Taken(end.end + loads, moved + loads, end.end - end.gdma)

    def straight(self, ops: Sequence[Operation], limit: float = math.inf) -> Taken:
        """What ops that follow each other take as one group of one slice, what other ops read of
        them stored. Loads do what movement in front of the ops does.

        IMPOSSIBLE, too, if that is no less than `limit` cycles: then nobody looks for places."""
        bases = base_groups(ops, why_not_local)
        is_global = [is_kept_global(base) for base in bases for _ in base.ops]
        first = next((place for place, alone in enumerate(is_global) if not alone), len(ops))
        if any(is_global[first:]) or first == len(ops):
            return IMPOSSIBLE
        if limit == math.inf and not self._has_room(ops[first:]):
            return IMPOSSIBLE
        table = CostTable(ops, is_global, self.chip, self.prices)
        cost = table.cost(first, len(ops))
        if cost is None:
            return IMPOSSIBLE
        end = Clock().after_straight(table.passage(first, cost))
        if end.end >= limit or (limit < math.inf and not self._has_room(ops[first:])):
            return IMPOSSIBLE
        return Taken(end.end, cost.moved, end.end - end.gdma)

    def _has_room(self, ops: Sequence[Operation]) -> bool:
        """Whether ops can be one group of one slice."""
        searcher = Searcher(self.chip, self.prices.scratch)
        return isinstance(searcher.plan(ops, Secs()), Group)

    def first_alone(self, ops: Sequence[Operation]) -> Taken:
        """What ops that follow each other take if the first of them works from DDR: a Cast does so
        with all lanes, and what it makes is half as much for those that read it in few."""
        if len(ops) == 1:
            return self.window(ops)
        first, rest = self.prices.alone(ops[0]), self.window(ops[1:])
        return Taken(first.cycles + rest.cycles, first.gdma + rest.moved, rest.ahead)

    def computed(self, ops: Sequence[Operation]) -> float:
        """TIU cycles of ops, wherever their values lie."""
        whole = Part(self.chip.lanes)
        local = (op for op in ops if why_not_local(op) is None)
        return sum(self.prices.compute(op, whole) or self.prices.alone(op).cycles for op in local)

    def network(
        self,
        ops: Sequence[Operation],
        window: Sequence[Operation],
        taken: Taken,
    ) -> float:
        """When all ops of a network are done if those of a window, in one place, take so much.

        All others count by what they compute and the weights that they load, as if their values
        never left local memory.
        """
        clock, inside = Clock(), set(window)
        whole, seen = Part(self.chip.lanes), set[SSAValue]()
        for op in ops:
            if op is window[0]:
                clock = clock.after_alone(taken.cycles, taken.moved, taken.ahead)
            if op in inside or why_not_local(op) is not None:
                continue
            weights = {value for value in op.operands if is_weight(value)} - seen
            seen |= weights
            loads = sum(map(size_in_bytes, weights)) / self.chip.load_bytes_per_cycle
            used = op_bytes(op, whole.sizes, self.chip)
            tiu = self.prices.compute(op, whole)
            if tiu is None:
                tiu = self.prices.alone(op).cycles
            ahead = cycles_to_fill(used, self.chip)
            course = BEGIN.after(Step(tiu, 0, loads, used), ahead)
            clock = clock.after_straight(course.stored(0, math.inf))
        return clock.end

    def _loads(self, value: SSAValue) -> float:
        """The Load of a value for the first op with a local form that reads it, if there is any."""
        users = ((use.operation, use.index) for use in value.uses)
        user = next((user for user in users if why_not_local(user[0]) is None), None)
        if user is None:
            return 0
        return self.prices.load(*user, Part(self.chip.lanes)).gdma

    def _has_commands(self, op: Operation) -> bool:
        is_view = all(view_of(result) is not None for result in op.results)
        return is_view or self.prices.has_kernel(op)


def loading(ops: Sequence[Operation], chip: Chip) -> float:
    """Cycles in which all weights of some ops are loaded."""
    weights = {value for op in ops for value in op.operands if is_weight(value)}
    return sum(map(size_in_bytes, weights)) / chip.load_bytes_per_cycle


def _stored(ops: Sequence[Operation], parts: Sequence[Planned]) -> Iterator[SSAValue]:
    """What leaves a window from ops that work from DDR and from groups of several slices."""
    away = set(leaving(ops))
    for part in parts:
        if part.group is None or part.group.secs.total > 1:
            for op in ops[part.start : part.end]:
                yield from (result for result in op.results if result in away)
