"""A result in parts along n, c, h and w, and what each slice of it needs of the operands."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, product

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import cut
from xdsl_tpu.backend.local.dry import NOWHERE, Sizes
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import align, ceil_div
from xdsl_tpu.dialects.interfaces.local_gen import (
    Axis,
    GroupType,
    LocalGen,
    Loop,
    Ncdhw,
    Part,
    Range,
)
from xdsl_tpu.dialects.records import record

KIND = GroupType.NORMAL
CUT: tuple[Axis, ...] = ("n", "c", "h", "w")
"""The axes along which a result is cut; rows stay whole where that fits, and so do weights."""

LOOPS: tuple[Loop, ...] = (*CUT, "k")
"""A slice has a part of the result along each axis, and a part of its sums, innermost."""

Order = tuple[Loop, ...]
"""Loops over slices, from the outermost on."""

Place = tuple[int, ...]
"""Numbers, or sizes, of the parts along `LOOPS`."""


@record(frozen=True, slots=True)
class Way:
    """How an op is cut: sizes along `LOOPS`, whether weights are cut, too, the order of the loops,
    and among how many cores the outermost one that is cut is shared first."""

    sizes: Place
    by_channel: bool = False
    order: Order = LOOPS
    cores: int = 1


@record(frozen=True)
class Cut:
    """Which parts of every value there are along n, c, h and w, and of the sum; sizes along all
    axes.

    `loops` says whose part is needed along each axis. `by_channel`: operands of which slices have
    the coefficients of their own channels. `goes_on`: along what slices go on from each other.
    """

    result: SSAValue
    parts: Mapping[SSAValue, tuple[tuple[Range, ...], ...]]
    loops: Mapping[SSAValue, Order]
    sums: tuple[Range, ...]
    whole: Mapping[SSAValue, Ncdhw]
    by_channel: tuple[int, ...]
    order: Order = LOOPS
    goes_on: Axis | None = None

    @property
    def together(self) -> int:
        """How many slices in turn belong together: parts of a sum, or all that go on from each
        other."""
        along = 1 if self.goes_on is None else self.counts[LOOPS.index(self.goes_on)]
        return along * len(self.sums)

    def follows(self, place: Place) -> bool:
        """Whether a slice goes on from the one before."""
        return self.goes_on is not None and place[LOOPS.index(self.goes_on)] > 0

    @property
    def counts(self) -> Place:
        """How many parts there are along each loop."""
        return (*map(len, self.parts[self.result]), len(self.sums))

    @property
    def places(self) -> list[Place]:
        """All slices in order."""
        counts = dict(zip(LOOPS, self.counts, strict=True))
        found = product(*(range(counts[loop]) for loop in self.order))
        at = [self.order.index(loop) for loop in LOOPS]
        return [tuple(numbers[i] for i in at) for numbers in found]

    @property
    def inner(self) -> Place:
        """A slice of the largest, with neighbours where there are any."""
        return tuple(int(count > 2) for count in self.counts)

    def sizes(self, place: Place) -> tuple[int, ...]:
        """How much of the result a slice is along n, c, h and w, and of the sum."""
        along = (*self.parts[self.result], self.sums)
        return tuple(ranges[k][1] for ranges, k in zip(along, place, strict=True))

    def room(self, value: SSAValue) -> Ncdhw:
        """The most that any slice needs of a value along each axis."""
        return self._with(value, (max(r[1] for r in along) for along in self.parts[value]))

    def in_every_lane(self, value: SSAValue, op: LocalGen) -> bool:
        """Whether a value has one channel, which an op stretches over all lanes."""
        channels = self.whole[self.result].c
        return op.stretches_channels() and self.whole[value].c == 1 < channels

    def stays(self, value: SSAValue) -> bool:
        """Whether all slices need the same of a value."""
        return all(len(set(ranges)) == 1 for ranges in self.parts[value])

    def turns(self, value: SSAValue) -> list[int]:
        """How often something else is needed of a value before and with each slice."""
        return list(accumulate((a != b for a, b in pairwise(self._needed(value))), initial=0))

    def comes_once(self, value: SSAValue) -> bool:
        """Whether nothing of a value is needed again after something else was."""
        return len(set(self._needed(value))) == self.turns(value)[-1] + 1

    def _needed(self, value: SSAValue) -> list[tuple[Range, ...]]:
        """What each slice needs of a value."""
        return [tuple(self._chosen(value, place)) for place in self.places]

    def at(self, place: Place) -> tuple[Sizes, Sizes]:
        """The sizes and the starts of what a slice needs."""

        def along(which: int) -> Sizes:
            def of(value: SSAValue) -> Ncdhw:
                return self._with(value, (r[which] for r in self._chosen(value, place)), which)

            return of

        return along(1), along(0)

    def _chosen(self, value: SSAValue, place: Place) -> Iterator[Range]:
        """What a slice needs of a value along n, c, h and w."""
        for ranges, loop in zip(self.parts[value], self.loops[value], strict=True):
            yield ranges[place[LOOPS.index(loop)]]

    def _with(self, value: SSAValue, along: Iterable[int], which: int = 1) -> Ncdhw:
        n, c, h, w = along
        rest = self.whole[value] if which else NOWHERE
        return rest._replace(n=n, c=c, h=h, w=w)


def cut_into(op: LocalGen, way: Way, chip: Chip) -> Cut | None:
    """The parts of result and sum, and what each needs; None when it cannot be cut so."""
    result: SSAValue = op.results[0]
    given = [v for v in (*op.operands, result) if isinstance(v.type, TensorType)]
    whole = {value: of_value(value, KIND, chip.lanes) for value in given}
    sizes = dict(zip(LOOPS, way.sizes, strict=True))
    goes_on = op.goes_on_along()
    free: Order = tuple(loop for loop in way.order if loop != goes_on)
    order: Order = way.order if goes_on is None else (*free[:-1], goes_on, free[-1])
    shared = next((a for a in free if sizes[a] < getattr(whole[result], a, 0)), None)
    along = [
        _parts(axis, whole[result], sizes[axis], way.cores if axis == shared else 1, chip)
        for axis in CUT
    ]
    sums = tuple((piece.start, piece.size) for piece in cut(op.summed(), sizes["k"]))
    own = tuple(tuple((p.start, p.length) for p in ps) for ps in along)
    parts: dict[SSAValue, tuple[tuple[Range, ...], ...]] = {result: own}
    loops: dict[SSAValue, Order] = {result: CUT}
    others = dict(zip(LOOPS, (*own, sums), strict=True))
    cut_weights = _cut_weights(op, whole) if way.by_channel and len(along[1]) > 1 else ()
    for index, operand in enumerate(op.operands):
        if operand not in whole:
            continue
        loops[operand] = op.loops(index)
        parameter = index in _parameters(op)
        needed = tuple(
            _of_sums(op, sums, getattr(whole[operand], ps[0].axis))
            if loop == "k"
            else _needed(op, index, ps, whole[operand])
            if loop == ps[0].axis or parameter
            else _whole_if_one(others[loop], getattr(whole[operand], ps[0].axis))
            for ps, loop in zip(along, loops[operand], strict=True)
        )
        if () in needed:
            return None
        if index in cut_weights:
            needed = (needed[0], own[1], *needed[2:])
        parts[operand] = needed
    return Cut(result, parts, loops, sums, whole, cut_weights, order, goes_on)


def _of_sums(op: LocalGen, sums: tuple[Range, ...], size: int) -> tuple[Range, ...]:
    """What parts of the sum need of an operand; all of it where there is only one."""
    return tuple(op.of_sum(part, size) for part in sums) if len(sums) > 1 else ((0, size),)


def _whole_if_one(parts: tuple[Range, ...], size: int) -> tuple[Range, ...]:
    """Parts of another axis; all of the operand where there is only one."""
    return parts if len(parts) > 1 else ((0, size),)


def _cut_weights(op: LocalGen, whole: Mapping[SSAValue, Ncdhw]) -> tuple[int, ...]:
    """Weights of which a slice has its channels alone; all of what has one element for each."""
    given = ((index, whole.get(op.operands[index])) for index in op.channel_weights())
    return tuple(index for index, size in given if size is not None and size.h * size.w > 1)


def _parts(axis: Axis, whole: Ncdhw, step: int, cores: int, chip: Chip) -> list[Part]:
    size: int = getattr(whole, axis)
    share = size if cores == 1 else align(ceil_div(size, cores), 1 if axis == "n" else chip.lanes)
    return [
        Part(axis, core.start + piece.start, piece.size, size, KIND)
        for core in cut(size, share)
        for piece in cut(core.size, step)
    ]


def _parameters(op: LocalGen) -> tuple[int, ...]:
    """Operands that every slice needs whole."""
    return (*op.compact_weights(), *op.row_operands())


def _needed(op: LocalGen, index: int, parts: Sequence[Part], whole: Ncdhw) -> tuple[Range, ...]:
    """What parts of the result along one axis need of an operand; nothing when one needs none."""
    size = getattr(whole, parts[0].axis)
    if len(parts) == 1 or index in _parameters(op):
        return ((0, size),) * len(parts)
    found = [op.backward(part, index, size) for part in parts]
    return tuple(one for one in found if one is not None) if None not in found else ()
