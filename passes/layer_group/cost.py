"""What groups cost: the cycles of the commands that they will be made of.

Kernels, Loads and Stores are priced by generating their commands (see `prices`); `clock` says how
they overlap.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.measure import Moved
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import align
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps, tap_reader
from xdsl_tpu.passes.address_assign.views import view_of
from xdsl_tpu.passes.layer_group.clock import Clock, Cost, Round, SlicedCost, Transfer, span_of
from xdsl_tpu.passes.layer_group.group_type import RangeTypes
from xdsl_tpu.passes.layer_group.lmem_size import alignment, element_bits, eu_aligned, lane_bytes
from xdsl_tpu.passes.layer_group.model import Group, ring_lows
from xdsl_tpu.passes.layer_group.moves import find_moves
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
    """One op in a straight group of one type."""

    tiu: float
    operands: tuple[tuple[int, SSAValue, Moved], ...]
    results: tuple[tuple[SSAValue, float], ...]
    local_bytes: int


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
        self._tap_readers = self._find_tap_readers()
        self.moves = find_moves(ops, is_global, prices)
        self.ring_low = [0] * len(ops)
        self.whole = {kind: Part(kind, chip.lanes) for kind in GroupType}
        self._ops: dict[tuple[int, GroupType], _OpCost | None] = {}
        count = len(ops)
        self.first_use: dict[SSAValue, int] = {}
        self.last_use: dict[SSAValue, int] = {}
        for op in ops:
            for result in op.results:
                uses = [self.position.get(use.operation, count) for use in result.uses]
                self.first_use[result] = min(uses, default=count)
                self.last_use[result] = max(uses, default=count)

    def set_ring(self, groups: Sequence[Group]) -> None:
        """Let weights run ahead only as far as the ring of these groups allows."""
        low_of = {
            op: low
            for group, low in zip(groups, ring_lows(groups), strict=True)
            for op in group.ops
        }
        low = 0
        for index in reversed(range(len(self.ops))):
            low = low_of.get(self.ops[index], low)
            self.ring_low[index] = low

    def ahead(self, index: int, local_bytes: int) -> float:
        """How many cycles it takes to fill what an op or group, the last being op `index`, leaves
        of local memory."""
        used = max(local_bytes, self.ring_low[index])
        free = max(0, self.chip.local_bytes - used) * self.chip.lanes
        return free / self.chip.load_bytes_per_cycle

    def after_alone(self, clock: Clock, index: int) -> Clock:
        """The clock after an op that works from DDR, with the movement that it makes necessary."""
        op = self.ops[index]
        debts = sum(
            self.moves[value].cycles
            for value in dict.fromkeys(op.operands)
            if value in self.moves and self.moves[value].first == index
        )
        is_view = all(view_of(result) is not None for result in op.results)
        if is_view or op in self.moves.deferred:
            return clock.after_alone(debts, debts, self.ahead(index, 0)) if debts else clock
        own = self.prices.alone(op)
        ahead = self.ahead(index, own.local_bytes)
        cycles = own.cycles if self.prices.has_kernel(op) else NEVER
        return clock.after_alone(debts + cycles, debts + own.gdma, ahead)

    def after_straight(self, clock: Clock, end: int, cost: Cost) -> Clock:
        """The clock after a group of one slice that ends before `end`."""
        return clock.after_straight(cost, self.ahead(end - 1, cost.local_bytes))

    def after_sliced(self, clock: Clock, group: Group, cost: SlicedCost) -> Clock:
        """The clock after a group of several slices."""
        ahead = self.ahead(self.position[group.ops[-1]], group.plan.activations)
        return clock.after_alone(cost.total, cost.moved, ahead)

    def straight(self, end: int, first: int) -> Iterator[tuple[int, Cost]]:
        """The costs of ops[start:end] as one straight group, for start from `end` - 1 down to
        `first`; ranges with an op whose kernel cannot work on the whole are left out."""
        scan: _Scan | None = None
        for start in range(end - 1, first - 1, -1):
            kind = self.types.of(start, end)
            if scan is None or scan.kind is not kind:
                scan = _Scan(self, end, kind)
                for index in range(end - 1, start, -1):
                    scan.add(index)
            scan.add(start)
            if scan.cost is not None:
                yield start, scan.cost

    def shared(
        self, ops: Sequence[Operation], kind: GroupType, secs: Secs, slicing: Slicing
    ) -> Cost | None:
        """The cost of a group in which each core has one slice: of the core that takes longest, by
        each figure. None when a kernel cannot work on one."""
        found: list[Cost] = []
        for index in _indices(secs):
            one = self._share(ops, Part(kind, self.chip.lanes, slicing, index))
            if one is None:
                return None
            found.append(one)
        return Cost(
            max(one.tiu for one in found),
            max(one.loads for one in found),
            max(one.stores for one in found),
            max(one.weights for one in found),
            max(one.local_bytes for one in found),
            max(one.span for one in found),
        )

    def _share(self, ops: Sequence[Operation], part: Part) -> Cost | None:
        slicing = part.slicing
        assert slicing is not None
        start, end = self.position[ops[0]], self.position[ops[-1]] + 1
        user = {v: (o, i) for o in reversed(ops) for i, v in enumerate(o.operands)}
        tiu = loads = weights = 0.0
        for op in ops:
            cycles = self.kernel(self.position[op], part, end)
            if cycles is None:
                return None
            tiu += cycles
        for value in slicing.loaded:
            op, place = user[value]
            held = is_weight(value) and slicing.of[value].hold
            price = self.load(op, place, part, (start, end), held)
            tiu += price.tiu
            if is_weight(value):
                weights += price.gdma
            else:
                loads += price.gdma
        stores = sum(self.store(value, part) for value in slicing.stored)
        return Cost(tiu, loads, stores, weights, self._largest(ops, part), loads + tiu)

    def _largest(self, ops: Sequence[Operation], part: Part) -> int:
        """What the largest op needs of every lane, weights aside."""
        return max(
            sum(
                lane_bytes(part.sizes(value), element_bits(value), True, self.chip)
                for value in (*op.operands, *op.results)
                if not is_none(value) and not is_weight(value)
            )
            for op in ops
        )

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

    def op(self, index: int, kind: GroupType) -> _OpCost | None:
        """What an op adds to straight groups of a type, but for what depends on the range."""
        key = (index, kind)
        if key not in self._ops:
            self._ops[key] = self._priced(index, self.whole[kind])
        return self._ops[key]

    def _priced(self, index: int, part: Part) -> _OpCost | None:
        op = self.ops[index]
        tiu = self.kernel(index, part, 0)
        if tiu is None:
            return None
        operands = [
            (place, value, self.load(op, place, part, None, True))
            for place, value in enumerate(op.operands)
            if not is_none(value)
        ]
        results = [(r, self.store(r, part)) for r in op.results if not is_none(r)]
        sizes = {v: part.sizes(v) for v in (*op.operands, *op.results) if not is_none(v)}
        needed = sum(
            lane_bytes(size, element_bits(value), True, self.chip)
            for value, size in sizes.items()
            if not is_weight(value)
        )
        return _OpCost(tiu, tuple(operands), tuple(results), needed)

    def kernel(self, index: int, part: Part, end: int) -> float | None:
        """TIU cycles of an op in a group that ends before `end`."""
        op = self.ops[index]
        only_stored = self.first_use[op.results[0]] >= end
        return self.prices.compute(op, part, only_stored, self.merging(op, end))

    def merging(self, op: Operation, end: int) -> MergesTaps | None:
        """The op before `end` that reads with taps as channels what `op` prepares for it."""
        reader = self._tap_readers.get(op)
        return reader if reader is not None and self.position[reader] < end else None

    def looks_around(self, index: int) -> bool:
        """Whether what an op costs depends on what reads its result in the group."""
        op = self.ops[index]
        return op in self._tap_readers or (isinstance(op, LocalGen) and op.rotation() is not None)

    def _find_tap_readers(self) -> dict[Operation, MergesTaps]:
        found: dict[Operation, MergesTaps] = {}
        for op in self.ops:
            if isinstance(op, LocalGen) and op.follows_reader():
                uses = list(op.results[0].uses)
                reader = tap_reader(op.results[0], self.position.__contains__)
                if len(uses) == 1 and reader is not None:
                    found[op] = reader
        return found

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
        merging = self.merging(op, span[1]) if span is not None else None
        plain = self.prices.load(op, index, part, merging)
        move = self.moves.get(value)
        if span is None or move is None or not span[0] <= move.first:
            return plain
        if move.last < span[1]:
            if merging is None:
                return self.moves.load(move, value, part, plain)
            if self.moves.in_strides(move, value):
                return plain
        return replace(plain, gdma=plain.gdma + move.cycles)

    def store(self, value: SSAValue, part: Part) -> float:
        """GDMA cycles of a result's Store."""
        owner = value.owner
        turned = owner.rotation() if isinstance(owner, LocalGen) else None
        size = of_value(value, part.kind, self.chip.lanes).c
        return self.prices.store(value, part, (turned or 0) % size)


def _indices(secs: Secs) -> Iterator[Index]:
    """The sections of every slice, in order of work."""
    for n, d, h, w, c in product(*(range(getattr(secs, axis)) for axis in "ndhwc")):
        yield n, c, d, h, w


_NOTHING = Moved(0)


class _Scan:
    """A range that grows at its front."""

    def __init__(self, table: CostTable, end: int, kind: GroupType) -> None:
        self.table, self.end, self.kind = table, end, kind
        self.part = table.whole[kind]
        self.needed: dict[SSAValue, Moved] = {}
        self.waiting: dict[SSAValue, float] = {}
        self.tiu = self.loads = self.stores = self.weights = 0.0
        self.local_bytes = 0
        self.is_possible = True

    @property
    def cost(self) -> Cost | None:
        """The cost so far; None when an op cannot be in the group."""
        if not self.is_possible:
            return None
        waiting = sorted(self.waiting.items(), key=lambda entry: -entry[1])
        loads = [(self.needed[value].gdma, rest) for value, rest in waiting]
        span = span_of(self.tiu, loads)
        return Cost(self.tiu, self.loads, self.stores, self.weights, self.local_bytes, span)

    def add(self, index: int) -> None:
        """Put one more op in front."""
        table = self.table
        own = table.op(index, self.kind) if self.is_possible else None
        if own is None:
            self.is_possible = False
            return
        op, end = table.ops[index], self.end
        self.local_bytes = max(self.local_bytes, own.local_bytes)
        looks_around = table.looks_around(index)
        if looks_around:
            self.tiu += table.kernel(index, self.part, end) or 0.0
        else:
            self.tiu += own.tiu
        for result, price in own.results:
            if result in self.needed:
                before = self.needed.pop(result)
                self.waiting.pop(result)
                self.loads -= before.gdma
                self.tiu -= before.tiu
            if table.last_use[result] >= end:
                self.stores += price
        for place, value, price in own.operands:
            before = self.needed.get(value, _NOTHING)
            if is_weight(value):
                self.weights += price.gdma - before.gdma
            else:
                if value in table.moves or looks_around:
                    price = table.load(op, place, self.part, (index, end), False)
                self.loads += price.gdma - before.gdma
            self.tiu += price.tiu - before.tiu
            self.needed[value] = price
            if not is_weight(value):
                self.waiting[value] = self.tiu
