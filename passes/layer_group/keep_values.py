"""Values that stay in local memory between groups, because those that come between leave room.

A group in slices copies each slice of such a result to its place in the whole, which lies at the
end of the lanes, and a group that reads it copies from there: the TIU takes a few cycles where the
store and the load take thousands. The groups that the value outlives are planned in less room, in
more slices where they must be; whether that pays is asked of the same prices as the groups are.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, count, islice, takewhile

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.first_fit import Buffer, Span, first_fit
from xdsl_tpu.backend.local.cuts import KIND
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import align
from xdsl_tpu.dialects.interfaces.local_gen import tap_reader
from xdsl_tpu.dialects.records import record
from xdsl_tpu.passes.layer_group.build import Keeping
from xdsl_tpu.passes.layer_group.lmem_size import (
    alignment,
    element_bits,
    lane_bytes,
    slice_bytes,
    value_bytes,
)
from xdsl_tpu.passes.layer_group.model import Group, cut_group, has_ring, plan_group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.values import Refusal, Secs
from xdsl_tpu.passes.tensors import is_weight

WORTH = 0.01
"""By what share of the time of the groups that it concerns keeping a value must be faster if they
then have more slices: as far as what is expected of groups is right."""

FITTING = 3
"""Of how many numbers of slices that fit the fastest is taken."""


@record(frozen=True)
class _Kept:
    """A value that lies in local memory, in `size` bytes of every lane, from part `first`, which
    makes it, to part `last`; `readers` copy it. `only`: nothing else reads it. `in_place`: it lies
    where its reader, a straight group, wants it, so that nothing is copied."""

    value: SSAValue
    first: int
    last: int
    readers: tuple[int, ...]
    size: int
    only: bool
    in_place: bool = False

    @property
    def until(self) -> int:
        """The last part that must leave it alone."""
        return self.last - 1 if self.in_place else self.last


@record(frozen=True)
class _State:
    """What is kept, from which byte on, and the groups as they are then."""

    kept: tuple[_Kept, ...]
    places: Mapping[SSAValue, int]
    groups: tuple[Group | None, ...]


def keep_values(
    search: OptimalSearch, groups: Sequence[Group]
) -> tuple[list[Group], list[Keeping]]:
    """Groups that leave values to each other where that is faster, and which; the same groups and
    nothing where cores share them."""
    keeper = _Keeper(search, groups)
    state = keeper.run() if search.searcher.cores == 1 else keeper.start
    numbers = [number for number, group in enumerate(state.groups) if group is not None]
    found = [group for group in state.groups if group is not None]
    return found, [keeper.keeping(state, number) for number in numbers]


class _Keeper:
    def __init__(self, search: OptimalSearch, groups: Sequence[Group]) -> None:
        self.search, self.costs, self.chip = search, search.costs, search.chip
        waiting = iter(groups)
        parts = [None if part.group is None else next(waiting) for part in search.parts]
        self.start = _State((), {}, tuple(parts))
        self.part_of: dict[Operation, int] = {
            op: number
            for number, part in enumerate(search.parts)
            for op in search.ops[part.start : part.end]
        }

    def run(self) -> _State:
        """Keep one value after the other, first those that most bytes are moved of."""
        state = self.start
        for ways in sorted(self._candidates(), key=lambda ways: -ways[0].size):
            for way in ways:
                if (found := self._with(state, way)) is not None:
                    state = found
                    break
        return state

    def _candidates(self) -> Iterator[list[_Kept]]:
        """For each value that a group could leave to others the ways to do so: to as many of its
        readers as there are groups only between, or to fewer."""
        for number, group in enumerate(self.start.groups):
            if group is None:
                continue
            reach = takewhile(lambda n: n < len(self.start.groups), count(number + 1))
            behind = list(takewhile(lambda n: self.start.groups[n] is not None, reach))
            for value in group.slicing.stored:
                if behind and self._may_leave(group, value):
                    ways = list(self._ways(number, value, behind[-1]))
                    if ways:
                        yield ways

    def _ways(self, number: int, value: SSAValue, reach: int) -> Iterator[_Kept]:
        users = {self.part_of.get(use.operation, -1) for use in value.uses} - {number}
        readers = sorted(
            user
            for user in users
            if number < user <= reach and self._may_copy(self.start.groups[user], value)
        )
        sizes = of_value(value, KIND, self.chip.lanes)
        size = lane_bytes(sizes, element_bits(value), True, self.chip)
        ways = [
            _Kept(value, number, mine[-1], mine, size, users == set(mine))
            for most in range(len(readers), 0, -1)
            for mine in [tuple(readers[:most])]
        ]
        if number + 1 in readers and self._may_take_over(number + 1, value):
            nearest = replace(ways[-1], in_place=True)
            ways.insert(0 if nearest.only else len(ways), nearest)
        yield from ways

    def _may_take_over(self, number: int, value: SSAValue) -> bool:
        """Whether a group has nothing else before where it loads a value."""
        group = self.start.groups[number]
        return has_ring(group) and group.plan.load_step.get(value) == 0

    def _may_leave(self, group: Group, value: SSAValue) -> bool:
        """Whether a result of a group can be put together from its slices."""
        return value not in group.slicing.loaded and self._is_plain(group, value)

    def _may_copy(self, group: Group | None, value: SSAValue) -> bool:
        """Whether a group can take its slices of a value from the whole."""
        if group is None or value not in group.slicing.loaded:
            return False
        reader = tap_reader(value, set(group.ops).__contains__)
        return reader is None and self._is_plain(group, value)

    def _is_plain(self, group: Group, value: SSAValue) -> bool:
        slices = group.slicing.of[value]
        is_flat = of_value(value, KIND, self.chip.lanes).d == 1
        return slices.eu_align and len(slices.c) == len(slices.d) == 1 and is_flat

    def _with(self, state: _State, more: _Kept) -> _State | None:
        """With one value more, if that is faster."""
        kept = (*state.kept, more)
        places = self._places(kept, state.groups)
        if places is None:
            return None
        new = replace(state, kept=kept, places=places)
        groups, before, after, more_slices = list(state.groups), 0.0, 0.0, False
        for number, group in enumerate(state.groups):
            concerned = number in more.readers or self._around(new, number) != self._around(
                state, number
            )
            if group is None or not concerned:
                continue
            before += self._cycles(state, number, group)
            found = min(
                islice(self._planned(new, number, group), FITTING),
                key=lambda one: one[0],
                default=None,
            )
            if found is None:
                return None
            after, groups[number] = after + found[0], found[1]
            more_slices |= found[1].secs != group.secs
        moved = self._places(kept, groups) != places
        if moved or after >= (1 - WORTH * more_slices) * before:
            return None
        return replace(new, groups=tuple(groups))

    def _places(
        self, kept: Sequence[_Kept], groups: Sequence[Group | None]
    ) -> dict[SSAValue, int] | None:
        """Where they begin, at the end of the lanes or where their reader wants them; None when
        they do not fit."""
        unit, end = alignment(self.chip), self.chip.local_bytes
        buffers = [
            Buffer(one.value, align(one.size, unit), one.first, one.last)
            for one in kept
            if not one.in_place
        ]
        placed = first_fit(buffers, unit)
        offsets = placed.of(buffers)
        places = {
            one.value: end - offsets[one.value] - align(one.size, unit)
            for one in kept
            if not one.in_place
        }
        for one in kept:
            if one.in_place and (group := groups[one.last]) is not None:
                places[one.value] = group.plan.address[one.value]
        clash = any(
            a.first <= b.until and b.first <= a.until and _meet(a, b, places)
            for a, b in combinations(kept, 2)
        )
        return None if clash or placed.used > end else places

    def _around(self, state: _State, number: int) -> tuple[int, list[int]]:
        """What of local memory is not for a group, and where it leaves something."""
        made = [state.places[one.value] for one in state.kept if one.first == number]
        return self._taken(state, number), made

    def _taken(self, state: _State, number: int) -> int:
        """How many bytes at the end of a lane are not for a group; what a straight one leaves
        comes there when it is done."""
        group = self.start.groups[number]
        since = 1 if group is not None and group.is_straight else 0
        starts = [
            state.places[one.value]
            for one in state.kept
            if one.first + since <= number <= one.last and not one.in_place
        ]
        end = self.chip.local_bytes
        return end - min(starts, default=end)

    def _planned(self, state: _State, number: int, group: Group) -> Iterator[tuple[float, Group]]:
        """A group in less room, and what it takes, in as few slices as fit and in more."""
        scratch, taken = self.search.searcher.scratch, self._taken(state, number)
        if group.is_straight:
            lies = group
            if taken:
                found = plan_group(group, self.chip, scratch, kept=taken)
                if isinstance(found, Refusal) or self._bytes(found) > self.chip.local_bytes - taken:
                    return
                lies = found
            if self._has_room(state, number, lies):
                yield self._cycles(state, number, lies), lies
            return
        left = [
            (state.places[one.value], state.places[one.value] + one.size)
            for one in state.kept
            if one.in_place and one.first == number
        ]
        more = (s for s in self.search.searcher.sections(group.ops) if s.total > group.secs.total)
        for secs in (group.secs, *more):
            way = self._cut(group, secs, taken, left)
            if way is not None and self._has_room(state, number, way):
                yield self._cycles(state, number, way), way

    def _cut(
        self, group: Group, secs: Secs, taken: int, left_in_place: Sequence[Span]
    ) -> Group | None:
        """A group in so many slices, in less room, beside what it leaves in its place."""
        cut = cut_group(group.ops, KIND, secs, self.chip, known=self.search.searcher.known)
        found = plan_group(
            cut, self.chip, self.search.searcher.scratch, kept=taken, taken=left_in_place
        )
        if isinstance(found, Refusal) or self.costs.sliced(found) is None:
            return None
        return found

    def _bytes(self, group: Group) -> int:
        """What a straight group needs if all its weights are there at once."""
        of, unit = group.slicing.of, alignment(self.chip)
        weights = (v for v in group.slicing.loaded if is_weight(v))
        held = sum(align(value_bytes(v, of[v], self.chip), unit) for v in weights)
        return group.plan.activations + held

    def _has_room(self, state: _State, number: int, group: Group) -> bool:
        """Whether a group needs nothing of where it leaves values; a straight one may until it has
        stored them."""
        last, of, inside = _last_steps(group), group.slicing.of, set(group.ops)
        needed = [
            (value, since, start, start + slice_bytes(value, of, inside, self.chip))
            for value, since in last.items()
            if (start := group.plan.address.get(value)) is not None
        ]
        steps, sizes = group.plan.op_step, group.plan.scratch_bytes
        needed += [(op, steps[op], at, at + sizes[op]) for op, at in group.plan.scratch.items()]
        return not any(
            until >= group.plan.store_step[one.value] and low < at + one.size and at < high
            for one in state.kept
            if one.first == number
            for at in [state.places[one.value]]
            for key, until, low, high in needed
            if not (group.is_straight and (key, low) == (one.value, at))
        )

    def _cycles(self, state: _State, number: int, group: Group) -> float:
        """What a group takes, with copies for what it leaves and what was left to it; of a straight
        one only what it moves: it computes the same."""
        read = [one for one in state.kept if number in one.readers]
        made = [one for one in state.kept if one.first == number]
        copies = sum(one.size / self.chip.eu_bytes for one in (*read, *made))
        still = {one.value for one in read} | {one.value for one in made if one.only}
        if not group.is_straight:
            cost = self.costs.sliced(group, still)
            assert cost is not None
            return copies + cost.total
        start = self.costs.position[group.ops[0]]
        cost = self.costs.cost(start, start + len(group.ops))
        assert cost is not None
        stores = sum(self.costs.stored(v) for v in group.slicing.stored if v not in still)
        loads = cost.loads * (1 - self._share(group, still))
        return copies + stores + loads

    def _share(self, group: Group, still: Collection[SSAValue]) -> float:
        """The share of its inputs that a straight group need not load."""
        of = group.slicing.of
        sizes = {
            v: value_bytes(v, of[v], self.chip) for v in group.slicing.loaded if not is_weight(v)
        }
        return sum(sizes[v] for v in sizes if v in still) / max(1, sum(sizes.values()))

    def keeping(self, state: _State, number: int) -> Keeping:
        """What a group leaves and what is left to it."""
        at = state.places
        made = {one.value: at[one.value] for one in state.kept if one.first == number}
        others = [one for one in state.kept if one.first < number <= one.last]
        return Keeping(
            read={one.value: at[one.value] for one in others if number in one.readers},
            made=made,
            only=[one.value for one in state.kept if one.only and one.value in made],
            others=sorted((at[one.value], at[one.value] + one.size) for one in others),
        )


def _meet(one: _Kept, other: _Kept, places: Mapping[SSAValue, int]) -> bool:
    """Whether two share bytes."""
    start, low = places[one.value], places[other.value]
    return start < low + other.size and low < start + one.size


def _last_steps(group: Group) -> dict[SSAValue, int]:
    """The last step of a group that reads, makes or stores each value."""
    last: dict[SSAValue, int] = {}
    for op in group.ops:
        for value in (*op.operands, *op.results):
            last[value] = group.plan.op_step[op]
    for value in group.slicing.stored:
        last[value] = max(last[value], group.plan.store_step[value])
    return last
