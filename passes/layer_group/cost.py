"""What groups cost: the cycles of the commands that they will be made of.

Kernels, Loads and Stores are priced by generating their commands (see `prices`); `clock` says how
they overlap.
"""

from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import cast

from xdsl.ir import Operation, OpResult, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.measure import Moved
from xdsl_tpu.backend.tensor import align
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps
from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.address_assign.views import view_of
from xdsl_tpu.passes.layer_group.clock import (
    BEGIN,
    Clock,
    Cost,
    Passage,
    SlicedCost,
    Step,
    Transfers,
    sliced_cost,
)
from xdsl_tpu.passes.layer_group.lmem_size import (
    alignment,
    cycles_to_fill,
    element_bits,
    eu_aligned,
    lane_bytes,
    op_bytes,
)
from xdsl_tpu.passes.layer_group.model import Cut, Group, rings
from xdsl_tpu.passes.layer_group.moves import find_moves
from xdsl_tpu.passes.layer_group.neighbours import Neighbours
from xdsl_tpu.passes.layer_group.packable import may_pack
from xdsl_tpu.passes.layer_group.prices import Index, Part, Prices
from xdsl_tpu.passes.layer_group.slicing import Slicing
from xdsl_tpu.passes.layer_group.values import Secs
from xdsl_tpu.passes.tensors import is_weight

NEVER = 10**12
"""Cycles of an op that cannot work by itself, so that it is in a group wherever it may be in one;
what remains is refused when commands are generated."""


_UNKNOWN = object()


@record(frozen=True, slots=True)
class _OpCost:
    """One op in straight groups. Operands: groups that begin behind an op load them; is
    it a weight; what the Load takes."""

    tiu: float
    operands: tuple[tuple[int, bool, Moved], ...]
    local_bytes: int
    parts: int

    def step(self, start: int) -> Step:
        """What it takes in groups that begin with op `start`."""
        moved = ((held, price) for since, held, price in self.operands if start > since)
        return _step(self.tiu, moved, self.local_bytes, self.parts)


def _step(
    tiu: float, moved: Iterable[tuple[bool, Moved]], local_bytes: int, parts: int = 1
) -> Step:
    """What an op takes with Loads of weights and of others."""
    loads = weights = 0.0
    for is_weight_, price in moved:
        tiu += price.tiu
        if is_weight_:
            weights += price.gdma
        else:
            loads += price.gdma
    return Step(tiu, loads, weights, local_bytes, parts)


class CostTable:
    """Costs of the ops of a function, alone and in groups.

    `is_global[i]`: op i never is in a group.
    """

    def __init__(
        self, ops: Sequence[Operation], is_global: Sequence[bool], chip: Chip, prices: Prices
    ) -> None:
        self.ops, self.chip, self.prices = ops, chip, prices
        self.position = {op: index for index, op in enumerate(ops)}
        self.moves = find_moves(ops, is_global, prices)
        self.ring_low, self.next_low = [0] * len(ops), [0] * len(ops)
        self.whole = Part(chip.lanes)
        self._steps: dict[Hashable, _OpCost | None] = {}
        self._marks: dict[int, list[int]] = {}
        self._stored: dict[SSAValue, float] = {}
        self._sliced: dict[Hashable, object] = {}
        self._uses_of: dict[SSAValue, list[tuple[int, int]]] = {}
        self._values_of: dict[Operation, tuple[SSAValue, ...]] = {}
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

    def cost(self, start: int, end: int) -> Cost | None:
        """What ops[start:end] take as one straight group; None when a kernel cannot work on the
        whole."""
        steps = [self._step(index, start, end) for index in range(start, end)]
        found = tuple(step for step in steps if step is not None)
        made = (value for op in self.ops[start:end] for value in op.results if not is_none(value))
        stores = sum(self.stored(value) for value in made if self.last_use[value] >= end)
        return Cost(found, stores) if len(found) == len(steps) else None

    def passage(self, start: int, cost: Cost) -> Passage:
        """The same for how clocks go on, of a group that begins with op `start`."""
        course = BEGIN
        for index, step in enumerate(cost.steps, start):
            course = course.after(step, self.ahead(index, step.local_bytes))
        return course.stored(cost.stores, self.next_ahead(start + len(cost.steps) - 1))

    def steps(
        self, index: int, first: int, last: int, end: int
    ) -> Iterator[tuple[int, int, Step | None]]:
        """What an op takes in groups ops[start:end]: for start from a number up to another, from
        `first` to `last`. Most that begin far before it take the same."""
        if index not in self._marks:
            self._marks[index] = sorted(self._breaks(index))
        marks = [first, *(mark for mark in self._marks[index] if first < mark < last), last]
        for low, high in pairwise(marks):
            yield low, high, self._step(index, low, end)

    def _breaks(self, index: int) -> set[int]:
        """The beginnings of groups from which on an op takes something else than from before."""
        found: set[int] = set()
        for place, value in enumerate(self.ops[index].operands):
            found.add(self._since(index, place, value) + 1)
            move = self.moves.get(value)
            if move is not None:
                found.add(move.first + 1)
        return found

    def _step(self, index: int, start: int, end: int) -> Step | None:
        """What an op of ops[start:end] takes there."""
        key = (index, self.neighbours.of(index, start, end))
        if key not in self._steps:
            self._steps[key] = self._priced(index, start, end)
        own = self._steps[key]
        return None if own is None else own.step(start)

    def stored(self, value: SSAValue) -> float:
        """What the Store of a whole value takes."""
        if value not in self._stored:
            self._stored[value] = self.prices.store(value, self.whole)
        return self._stored[value]

    def shared(self, cut: Cut) -> list[Cost] | None:
        """The costs of a group in which each core has one slice. None when a kernel cannot work on
        one."""
        costs = [self._share(cut.ops, part, cut.slicing) for part in self._parts(cut)]
        found = [cost for cost in costs if cost is not None]
        return found if len(found) == len(costs) else None

    def _parts(self, cut: Cut) -> list[Part]:
        return [Part(self.chip.lanes, cut.slicing, i) for i in _indices(cut.secs)]

    def _share(self, ops: Sequence[Operation], part: Part, slicing: Slicing) -> Cost | None:
        start, end = self.position[ops[0]], self.position[ops[-1]] + 1
        waiting, steps = set(slicing.loaded), list[Step]()
        for op in ops:
            tiu = self.kernel(self.position[op], part, end)
            if tiu is None:
                return None
            moved: list[tuple[bool, Moved]] = []
            for place, value in enumerate(op.operands):
                if value in waiting:
                    waiting.remove(value)
                    hold, held = slicing.of[value].hold, is_weight(value)
                    price = self.load(op, place, part, (start, end), held and hold)
                    moved.append((held, price))
            steps.append(_step(tiu, moved, op_bytes(op, part.sizes, self.chip)))
        return Cost(tuple(steps), sum(self.prices.store(value, part) for value in slicing.stored))

    def sliced(self, cut: Cut, kept: Collection[SSAValue] = ()) -> SlicedCost | None:
        """The cost of a group of several slices, of the core that takes longest; None when a
        kernel cannot work on one. The GDMA does not move what is `kept`."""
        start, end = self.position[cut.ops[0]], self.position[cut.ops[-1]] + 1
        parts, times = self._parts(cut), cut.times
        computed: list[Sequence[float]] = []
        for op in cut.ops:
            cycles = self._computed(op, cut, parts, end)
            if cycles is None:
                return None
            computed.append(cycles)
        user = {v: (o, i) for o in reversed(cut.ops) for i, v in enumerate(o.operands)}
        loads: list[Transfers] = []
        held: list[Transfers] = []
        for value in cut.slicing.loaded:
            op, place = user[value]
            hold = cut.slicing.of[value].hold
            prices = self._loaded(op, place, cut, parts, (start, end), hold)
            after = 0 if hold else times.load[value]
            gdma = [0.0 if value in kept else one.gdma for one in prices]
            tiu = [one.tiu for one in prices]
            one = Transfers(gdma, after, self.position[op] - start + 1, tiu)
            (held if hold else loads).append(one)
        stores: list[Transfers] = []
        for value in cut.slicing.stored:
            cycles, made = (
                self._stores(value, cut, parts),
                self.position[cast(Operation, value.owner)],
            )
            cycles = [0.0] * len(cycles) if value in kept else cycles
            stores.append(Transfers(cycles, made - start + 2, times.clear[value]))
        slices = [
            [number for number, one in enumerate(cut.core_of) if one == core]
            for core in range(cut.cores)
        ]
        found = (sliced_cost(mine, computed, held, loads, stores) for mine in slices)
        return max(found, key=lambda cost: cost.total)

    def _computed(
        self, op: Operation, cut: Cut, parts: Sequence[Part], end: int
    ) -> Sequence[float] | None:
        """TIU cycles of an op on each slice; None when its kernel cannot work on one."""
        index = self.position[op]
        merging = self.neighbours.merging(op, end)
        values = self._values(op) if merging is None else self._values(op) + self._values(merging)
        key = ("op", op, merging, cut.secs, *map(cut.slicing.of.get, values))
        found = self._sliced.get(key, _UNKNOWN)
        if found is _UNKNOWN:
            cycles: list[float] = []
            for part in parts:
                one = self.kernel(index, part, end)
                if one is None:
                    break
                cycles.append(one)
            found = self._sliced[key] = cycles if len(cycles) == len(parts) else None
        return cast("Sequence[float] | None", found)

    def _loaded(
        self,
        op: Operation,
        place: int,
        cut: Cut,
        parts: Sequence[Part],
        span: tuple[int, int],
        held: bool,
    ) -> Sequence[Moved]:
        """What the Load of an operand takes for each slice, or, of what is held, for the first."""
        value, move = op.operands[place], self.moves.get(op.operands[place])
        moved = None if move is None else (span[0] <= move.first, move.last < span[1])
        merging = self.neighbours.merging(op, span[1])
        out = op.results[0] if merging is None else merging.results[0]
        of = cut.slicing.of
        key = ("load", op, place, merging, cut.secs, held, of[value], of[out], moved)
        found = self._sliced.get(key)
        if found is None:
            wanted = parts[:1] if held else parts
            found = [self.load(op, place, part, span, held) for part in wanted]
            self._sliced[key] = found
        return cast("Sequence[Moved]", found)

    def _stores(self, value: SSAValue, cut: Cut, parts: Sequence[Part]) -> Sequence[float]:
        """What the Store of a value takes for each slice."""
        key = ("store", value, cut.secs, cut.slicing.of[value])
        found = self._sliced.get(key)
        if found is None:
            found = self._sliced[key] = [self.prices.store(value, part) for part in parts]
        return cast("Sequence[float]", found)

    def _values(self, op: Operation) -> tuple[SSAValue, ...]:
        """What an op reads and makes."""
        found = self._values_of.get(op)
        if found is None:
            found = tuple(v for v in (*op.operands, *op.results) if not is_none(v))
            self._values_of[op] = found
        return found

    def _priced(self, index: int, start: int, end: int) -> _OpCost | None:
        op, part = self.ops[index], self.whole
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
        uses = self._uses_of.get(value)
        if uses is None:
            found = ((self.position.get(use.operation), use.index) for use in value.uses)
            uses = self._uses_of[value] = sorted((at, n) for at, n in found if at is not None)
        made = self.position.get(value.op, -1) if isinstance(value, OpResult) else -1
        number = bisect_left(uses, (index, place))
        return max(made, uses[number - 1][0]) if number else made

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
        if held and may_pack(value, size, self.chip):
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


def _indices(secs: Secs) -> Iterator[Index]:
    """The sections of every slice, in order of work."""
    for n, d, h, w, c in product(*(range(getattr(secs, axis)) for axis in "ndhwc")):
        yield n, c, d, h, w
