"""What groups cost: the cycles of the commands that they will be made of.

Kernels, Loads and Stores are priced by generating their commands (see `prices`); `clock` says how
they overlap.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from xdsl.ir import Operation, OpResult, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.measure import Moved
from xdsl_tpu.backend.tensor import align
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps
from xdsl_tpu.passes.address_assign.views import view_of
from xdsl_tpu.passes.layer_group.clock import (
    BEGIN,
    Clock,
    Cost,
    Passage,
    Round,
    SlicedCost,
    Step,
    Transfer,
)
from xdsl_tpu.passes.layer_group.group_type import RangeTypes
from xdsl_tpu.passes.layer_group.lmem_size import (
    alignment,
    cycles_to_fill,
    element_bits,
    eu_aligned,
    lane_bytes,
    op_bytes,
)
from xdsl_tpu.passes.layer_group.model import Group, rings
from xdsl_tpu.passes.layer_group.moves import find_moves
from xdsl_tpu.passes.layer_group.neighbours import Neighbours
from xdsl_tpu.passes.layer_group.packs import may_pack
from xdsl_tpu.passes.layer_group.prices import Index, Part, Prices
from xdsl_tpu.passes.layer_group.slicing import Slicing
from xdsl_tpu.passes.layer_group.values import GroupType, Secs
from xdsl_tpu.passes.tensors import is_weight

NEVER = 10**12
"""Cycles of an op that cannot work by itself, so that it is in a group wherever it may be in one;
what remains is refused when commands are generated."""


@dataclass(frozen=True, slots=True)
class _OpCost:
    """One op in straight groups of one type. Operands: groups that begin behind an op load them; is
    it a weight; what the Load takes."""

    tiu: float
    operands: tuple[tuple[int, bool, Moved], ...]
    local_bytes: int
    parts: int

    def step(self, start: int) -> Step:
        """What it takes in groups that begin with op `start`."""
        tiu, loads, weights = self.tiu, 0.0, 0.0
        for since, is_weight_, price in self.operands:
            if start > since:
                tiu += price.tiu
                if is_weight_:
                    weights += price.gdma
                else:
                    loads += price.gdma
        return Step(tiu, loads, weights, self.local_bytes, self.parts)


class CostTable:
    """Costs of the ops of a function, alone and in groups.

    `is_global[i]`: op i never is in a group.
    """

    def __init__(
        self, ops: Sequence[Operation], is_global: Sequence[bool], chip: Chip, prices: Prices
    ) -> None:
        self.ops, self.chip, self.prices = ops, chip, prices
        self.types = RangeTypes(ops, chip.lanes)
        self.position = {op: index for index, op in enumerate(ops)}
        self.moves = find_moves(ops, is_global, prices)
        self.ring_low, self.next_low = [0] * len(ops), [0] * len(ops)
        self.whole = {kind: Part(kind, chip.lanes) for kind in GroupType}
        self._steps: dict[Hashable, _OpCost | None] = {}
        self._marks: dict[int, list[int]] = {}
        self._stored: dict[tuple[SSAValue, GroupType], float] = {}
        count = len(ops)
        self.last_use: dict[SSAValue, int] = {}
        for op in ops:
            for result in op.results:
                uses = [self.position.get(use.operation, count) for use in result.uses]
                self.last_use[result] = max(uses, default=count)
        self.neighbours = Neighbours(ops, self.moves)

    def set_ring(self, groups: Sequence[Group]) -> None:
        """Let weights run ahead only as far as the ring of these groups allows."""
        low_of = {op: (inside, low) for op, inside, low in rings(groups)}
        lows = 0, 0
        for index in reversed(range(len(self.ops))):
            lows = low_of.get(self.ops[index], (lows[1], lows[1]))
            self.ring_low[index], self.next_low[index] = lows

    def ahead(self, index: int, local_bytes: int) -> float:
        """How many cycles it takes to fill what op `index` leaves of local memory to weights of its
        group."""
        return cycles_to_fill(max(local_bytes, self.ring_low[index]), self.chip)

    def next_ahead(self, index: int, local_bytes: int = 0) -> float:
        """The same for weights of what follows an op or group that ends with op `index`."""
        return cycles_to_fill(max(local_bytes, self.next_low[index]), self.chip)

    def after_alone(self, clock: Clock, index: int, at_least: bool = False) -> Clock:
        """The clock after an op that works from DDR, with the movement that it makes necessary;
        `at_least`: no later than that, but found at once."""
        op = self.ops[index]
        debts = sum(
            self.moves[value].cycles
            for value in dict.fromkeys(op.operands)
            if value in self.moves and self.moves[value].first == index
        )
        is_view = all(view_of(result) is not None for result in op.results)
        if is_view or op in self.moves.deferred:
            return clock.after_alone(debts, debts, self.next_ahead(index)) if debts else clock
        if at_least:
            own = self.prices.least_alone(op)
            cycles = own.cycles
        else:
            own = self.prices.alone(op)
            cycles = own.cycles if self.prices.has_kernel(op) else NEVER
        ahead = self.next_ahead(index, own.local_bytes)
        return clock.after_alone(debts + cycles, debts + own.gdma, ahead)

    def after_sliced(
        self, clock: Clock, group: Group, cost: SlicedCost, at_least: bool = False
    ) -> Clock:
        """The clock after a group of several slices; `at_least`: where one of the GDMA and the TIU
        never waits for the other."""
        ahead = self.next_ahead(self.position[group.ops[-1]], group.plan.activations)
        total = cost.least if at_least else cost.total
        return clock.after_alone(total, cost.moved, ahead)

    def cost(self, start: int, end: int) -> Cost | None:
        """What ops[start:end] take as one straight group; None when a kernel cannot work on the
        whole."""
        kind = self.types.of(start, end)
        steps = [self._step(index, start, end, kind) for index in range(start, end)]
        found = tuple(step for step in steps if step is not None)
        made = (value for op in self.ops[start:end] for value in op.results if not is_none(value))
        stores = sum(self.stored(value, kind) for value in made if self.last_use[value] >= end)
        return Cost(found, stores) if len(found) == len(steps) else None

    def passage(self, start: int, cost: Cost) -> Passage:
        """The same for how clocks go on, of a group that begins with op `start`."""
        course = BEGIN
        for index, step in enumerate(cost.steps, start):
            course = course.after(step, self.ahead(index, step.local_bytes))
        return course.stored(cost.stores, self.next_ahead(start + len(cost.steps) - 1))

    def steps(
        self, index: int, first: int, last: int, end: int, kind: GroupType
    ) -> Iterator[tuple[int, int, Step | None]]:
        """What an op takes in groups ops[start:end]: for start from a number up to another, from
        `first` to `last`. Most that begin far before it take the same."""
        if index not in self._marks:
            self._marks[index] = sorted(self._breaks(index))
        marks = [first, *(mark for mark in self._marks[index] if first < mark < last), last]
        for low, high in pairwise(marks):
            yield low, high, self._step(index, low, end, kind)

    def _breaks(self, index: int) -> set[int]:
        """The beginnings of groups from which on an op takes something else than from before."""
        found: set[int] = set()
        for place, value in enumerate(self.ops[index].operands):
            found.add(self._since(index, place, value) + 1)
            move = self.moves.get(value)
            if move is not None:
                found.add(move.first + 1)
        return found

    def _step(self, index: int, start: int, end: int, kind: GroupType) -> Step | None:
        """What an op of ops[start:end] takes there."""
        key = (index, kind, self.neighbours.of(index, start, end))
        if key not in self._steps:
            self._steps[key] = self._priced(index, start, end, kind)
        own = self._steps[key]
        return None if own is None else own.step(start)

    def stored(self, value: SSAValue, kind: GroupType) -> float:
        """What the Store of a whole value takes."""
        key = value, kind
        if key not in self._stored:
            self._stored[key] = self.store(value, self.whole[kind])
        return self._stored[key]

    def shared(
        self, ops: Sequence[Operation], kind: GroupType, secs: Secs, slicing: Slicing
    ) -> list[Cost] | None:
        """The costs of a group in which each core has one slice. None when a kernel cannot work on
        one."""
        parts = (Part(kind, self.chip.lanes, slicing, index) for index in _indices(secs))
        costs = [self._share(ops, part, slicing) for part in parts]
        found = [cost for cost in costs if cost is not None]
        return found if len(found) == len(costs) else None

    def _share(self, ops: Sequence[Operation], part: Part, slicing: Slicing) -> Cost | None:
        start, end = self.position[ops[0]], self.position[ops[-1]] + 1
        waiting, steps = set(slicing.loaded), list[Step]()
        for op in ops:
            tiu = self.kernel(self.position[op], part, end)
            if tiu is None:
                return None
            loads = weights = 0.0
            for place, value in enumerate(op.operands):
                if value not in waiting:
                    continue
                waiting.remove(value)
                held = is_weight(value) and slicing.of[value].hold
                price = self.load(op, place, part, (start, end), held)
                tiu += price.tiu
                if is_weight(value):
                    weights += price.gdma
                else:
                    loads += price.gdma
            steps.append(Step(tiu, loads, weights, op_bytes(op, part.sizes, self.chip)))
        return Cost(tuple(steps), sum(self.store(value, part) for value in slicing.stored))

    def sliced(self, group: Group) -> SlicedCost | None:
        """The cost of a group of several slices, of the core that takes longest; None when a
        kernel cannot work on one."""
        indices = list(_indices(group.secs))
        found: list[SlicedCost] = []
        for core in range(group.cores):
            mine = [index for index, one in zip(indices, group.core_of, strict=True) if one == core]
            cost = self._sliced(group, mine)
            if cost is None:
                return None
            found.append(cost)
        return max(found, key=lambda cost: cost.total)

    def _sliced(self, group: Group, indices: Sequence[Index]) -> SlicedCost | None:
        start, end = self.position[group.ops[0]], self.position[group.ops[-1]] + 1
        rounds: list[Round] = []
        weights = 0.0
        user = {v: (o, i) for o in reversed(group.ops) for i, v in enumerate(o.operands)}
        for number, index in enumerate(indices):
            part = Part(group.kind, self.chip.lanes, group.slicing, index)
            ops: list[float] = []
            for op in group.ops:
                cycles = self.kernel(self.position[op], part, end)
                if cycles is None:
                    return None
                ops.append(cycles)
            loads: list[Transfer] = []
            for value in group.slicing.loaded:
                held = group.slicing.of[value].hold
                if held and number:
                    continue
                op, place = user[value]
                price = self.load(op, place, part, (start, end), held)
                first = group.plan.op_step[op]
                ops[first - 1] += price.tiu
                if held:
                    weights += price.gdma
                else:
                    loads.append(Transfer(price.gdma, group.plan.load_step[value], first))
            loads.sort(key=lambda load: load.after)
            stores = (self._sliced_store(value, part, group) for value in group.slicing.stored)
            rounds.append(Round(tuple(ops), tuple(loads), tuple(stores)))
        return SlicedCost(tuple(rounds), weights)

    def _sliced_store(self, value: SSAValue, part: Part, group: Group) -> Transfer:
        steps, owner = group.plan.op_step, value.owner
        assert isinstance(owner, Operation)
        return Transfer(self.store(value, part), steps[owner] + 1, group.plan.clear_step[value])

    def _priced(self, index: int, start: int, end: int, kind: GroupType) -> _OpCost | None:
        op, part = self.ops[index], self.whole[kind]
        tiu = self.kernel(index, part, end)
        if tiu is None:
            return None
        assert isinstance(op, LocalGen)
        by_channel, parts = op.channel_weights(), 1
        operands: list[tuple[int, bool, Moved]] = []
        for place, value in enumerate(op.operands):
            if is_none(value):
                continue
            held = is_weight(value)
            price = self.load(op, place, part, None if held else (start, end), True)
            operands.append((self._since(index, place, value), held, price))
            if held and place in by_channel:
                parts = max(parts, price.parts)
        return _OpCost(tiu, tuple(operands), op_bytes(op, part.sizes, self.chip), parts)

    def _since(self, index: int, place: int, value: SSAValue) -> int:
        """The last op before an operand that makes or reads the same value; -1 if none does."""
        uses = ((self.position.get(use.operation, len(self.ops)), use.index) for use in value.uses)
        before = [at for at, other in uses if (at, other) < (index, place)]
        if isinstance(value, OpResult):
            before.append(self.position.get(value.op, -1))
        return max(before, default=-1)

    def kernel(self, index: int, part: Part, end: int) -> float | None:
        """TIU cycles of an op in a group that ends before `end`."""
        op, merging = self.ops[index], self.neighbours.merging(self.ops[index], end)
        return self.prices.compute(op, part, merging)

    def load(
        self,
        op: Operation,
        index: int,
        part: Part,
        span: tuple[int, int] | None,
        held: bool,
    ) -> Moved:
        """An operand's Load in the group `span`, absorbed movement included."""
        value = op.operands[index]
        size = lane_bytes(part.sizes(value), element_bits(value), eu_aligned(op, index), self.chip)
        if held and may_pack(value, part.kind, size, self.chip):
            return Moved(self.prices.packed(align(size, alignment(self.chip))))
        merging = self.neighbours.merging(op, span[1]) if span is not None else None
        plain = self.prices.load(op, index, part, merging)
        move = self.moves.get(value)
        if span is None or move is None or not span[0] <= move.first:
            return plain
        if move.last < span[1]:
            taps = isinstance(op, MergesTaps) and index == 0 and any(op.merged_taps())
            if merging is None and not taps:
                return self.moves.load(move, value, part, plain)
            if self.moves.in_strides(move, value):
                return plain
        return replace(plain, gdma=plain.gdma + move.cycles)

    def store(self, value: SSAValue, part: Part) -> float:
        """GDMA cycles of a result's Store."""
        return self.prices.store(value, part)


def _indices(secs: Secs) -> Iterator[Index]:
    """The sections of every slice, in order of work."""
    for n, d, h, w, c in product(*(range(getattr(secs, axis)) for axis in "ndhwc")):
        yield n, c, d, h, w
