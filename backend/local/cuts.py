"""A result in parts along n, c, h and w, and what each slice of it needs of the operands."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, product

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import cut
from xdsl_tpu.backend.local.dry import NOWHERE, Sizes
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType, LocalGen, Ncdhw, Part, Range

KIND = GroupType.NORMAL
CUT: tuple[Axis, ...] = ("n", "c", "h", "w")
"""The axes along which a result is cut; rows stay whole where that fits, and so do weights."""

Place = tuple[int, ...]
"""Numbers of the parts along n, c, h and w."""


@dataclass(frozen=True)
class Cut:
    """Which parts of every value there are along n, c, h and w; their sizes along all axes.

    `by_channel`: operands of which slices have the coefficients of their own channels.
    """

    result: SSAValue
    parts: Mapping[SSAValue, tuple[tuple[Range, ...], ...]]
    whole: Mapping[SSAValue, Ncdhw]
    by_channel: tuple[int, ...]

    @property
    def places(self) -> list[Place]:
        """All slices in order, w innermost."""
        return list(product(*(range(len(along)) for along in self.parts[self.result])))

    @property
    def inner(self) -> Place:
        """A slice of the largest, with neighbours where there are any."""
        return tuple(int(len(along) > 2) for along in self.parts[self.result])

    def sizes(self, place: Place) -> tuple[int, ...]:
        """How much of the result a slice is along n, c, h and w."""
        return tuple(along[k][1] for along, k in zip(self.parts[self.result], place, strict=True))

    def room(self, value: SSAValue) -> Ncdhw:
        """The most that any slice needs of a value along each axis."""
        return self._with(value, (max(r[1] for r in along) for along in self.parts[value]))

    def in_every_lane(self, value: SSAValue, op: LocalGen) -> bool:
        """Whether a value has one channel, which an op stretches over all lanes."""
        channels = self.whole[self.result].c
        return op.stretches_channels() and self.whole[value].c == 1 < channels

    def turns(self, value: SSAValue) -> list[int]:
        """How often something else is needed of a value before and with each slice."""
        parts = self.parts[value]
        needed = [tuple(along[k] for along, k in zip(parts, at, strict=True)) for at in self.places]
        return list(accumulate((a != b for a, b in pairwise(needed)), initial=0))

    def at(self, place: Place) -> tuple[Sizes, Sizes]:
        """The sizes and the starts of what a slice needs."""

        def along(which: int) -> Sizes:
            def of(value: SSAValue) -> Ncdhw:
                chosen = zip(self.parts[value], place, strict=True)
                return self._with(value, (ranges[k][which] for ranges, k in chosen), which)

            return of

        return along(1), along(0)

    def _with(self, value: SSAValue, along: Iterable[int], which: int = 1) -> Ncdhw:
        n, c, h, w = along
        rest = self.whole[value] if which else NOWHERE
        return rest._replace(n=n, c=c, h=h, w=w)


def cut_into(op: LocalGen, steps: Sequence[int], by_channel: bool, chip: Chip) -> Cut | None:
    """The result in parts of these sizes, and what each needs; None when it cannot be cut so."""
    result: SSAValue = op.results[0]
    given = [v for v in (*op.operands, result) if isinstance(v.type, TensorType)]
    whole = {value: of_value(value, KIND, chip.lanes) for value in given}
    along = [_parts(axis, whole[result], step) for axis, step in zip(CUT, steps, strict=True)]
    parts: dict[SSAValue, tuple[tuple[Range, ...], ...]] = {
        result: tuple(tuple((p.start, p.length) for p in ps) for ps in along)
    }
    cut_weights = _cut_weights(op, whole) if by_channel and len(along[1]) > 1 else ()
    for index, operand in enumerate(op.operands):
        if operand not in whole:
            continue
        needed = tuple(_needed(op, index, ps, whole[operand]) for ps in along)
        if () in needed:
            return None
        if index in cut_weights:
            needed = (needed[0], parts[result][1], *needed[2:])
        parts[operand] = needed
    return Cut(result, parts, whole, cut_weights)


def _cut_weights(op: LocalGen, whole: Mapping[SSAValue, Ncdhw]) -> tuple[int, ...]:
    """Weights of which a slice has its channels alone; all of what has one element for each."""
    given = ((index, whole.get(op.operands[index])) for index in op.channel_weights())
    return tuple(index for index, size in given if size is not None and size.h * size.w > 1)


def _parts(axis: Axis, whole: Ncdhw, step: int) -> list[Part]:
    size: int = getattr(whole, axis)
    return [Part(axis, piece.start, piece.size, size, KIND) for piece in cut(size, step)]


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
