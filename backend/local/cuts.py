"""A result in parts along n, c, h and w, and what each slice of it needs of the operands."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise, product

from xdsl.ir import SSAValue

from xdsl_tpu.backend.local.dry import NOWHERE, Sizes
from xdsl_tpu.dialects.interfaces.local_gen import Ncdhw, Range

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
