"""One computation under several shapes: which images and channels its tensors are seen as.

In local memory a tensor is (n, c, h, w), and c lies over the lanes. A product of rows of numbers
can be seen as 128 rows of one image or as 4 images of 32 rows: the elements stay where they are in
DDR, but what lies in a lane differs. An op says here how it is written for a given n and c, so that
neighbours can agree and values need not leave local memory between them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Attribute, Operation

from xdsl_tpu.dialects.interfaces.shape import Shape


class Lanes(NamedTuple):
    """The first two sizes of a value: images, and channels, which lie over the lanes."""

    images: int
    channels: int

    @property
    def rows(self) -> int:
        """What lies in different places of the lanes."""
        return self.images * self.channels


@dataclass(frozen=True, slots=True)
class Viewed:
    """Shapes under which an op computes the same, and the attributes that go with them.

    None stands for an operand that stays as it is. `strides` and `starts`, in elements, of the
    operands and then the result: where these lie in DDR, if not one element behind the other (None)
    from the first one on.
    """

    operands: tuple[Shape | None, ...]
    result: Shape
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    strides: tuple[Shape | None, ...] = ()
    starts: tuple[int, ...] = ()


class LaneView(Operation):
    """An op of one result that computes the same under several shapes."""

    def can_be_seen(self) -> bool:
        """Whether this op of its class is one of them."""
        return True

    def followed(self) -> tuple[int, ...]:
        """Operands that have the images and channels of the result."""
        return (0,)

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        """Images and channels that suit the op, best first; empty when all are alike to it."""
        return ()

    def viewed(self, lanes: Lanes) -> Viewed | None:
        """The op with its result seen as (images, channels, ..); None when it cannot be."""
        return None

    def lanes_taken(self, index: int) -> tuple[Lanes, ...]:
        """Images and channels of an operand it does not follow that suit it, best first."""
        return ()

    def taken(self, index: int, lanes: Lanes) -> Viewed | None:
        """The op with an operand that it does not follow seen as (images, channels, ..), its
        result's elements in the same order; None when it only reads the operand as it stands."""
        return None


class AsksLanes(Operation):
    """An op that wants operands under other images and channels than those of their shapes."""

    def lanes_asked(self, index: int) -> Lanes | None:
        """Of an operand that it takes in any shape; None where the shape says it."""
        return None


def lanes_of(shape: Shape) -> Lanes:
    """The images and channels of a tensor as it stands."""
    images, channels = (*shape, 1, 1)[:2]
    return Lanes(images, channels)


def row_shape(shape: Shape, lanes: Lanes, width: int) -> Shape | None:
    """`shape`, whose last `width` elements stay together, as (n, c, width) or (n, c, rows, width).

    >>> row_shape((128, 768), Lanes(1, 128), 768)
    (1, 128, 768)
    """
    left, rest = divmod(math.prod(shape), lanes.rows * width)
    if rest:
        return None
    return (*lanes, width) if left == 1 else (*lanes, left, width)


def stretched_shapes(shapes: Sequence[Shape], whole: Shape, lanes: Lanes) -> list[Shape] | None:
    """Operands that are stretched to `whole`, seen as the result with these images and channels.

    Every operand has the rank of `whole` once 1s are put in front. None when an operand would be
    stretched along a part of the images, of the channels, or otherwise than two axes can say.

    >>> stretched_shapes([(1, 8, 1)], (4, 8, 6), Lanes(4, 8))
    [(1, 8, 1)]
    >>> stretched_shapes([(1, 8, 1)], (4, 8, 6), Lanes(1, 32)) is None
    True
    >>> stretched_shapes([(3, 70, 1)], (3, 70, 6), Lanes(1, 42))
    [(1, 42, 5, 1)]
    """
    shapes, whole = _merged(shapes, whole)
    atoms = _atoms(whole, lanes)
    if atoms is None:
        return None
    sizes = [[_sizes(shape, whole, atoms, part) for part in range(3)] for shape in shapes]
    tail = _tail(whole, atoms, [found[2] for found in sizes])
    if tail is None or len(tail) > 2:
        return None
    views: list[Shape] = []
    for found in sizes:
        images, channels = (_joined(one) for one in found[:2])
        if images is None or channels is None:
            return None
        rest = [_joined(found[2][a:b]) for a, b in tail]
        assert all(size is not None for size in rest), "runs are stretched alike"
        views.append((images, channels, *(size for size in rest if size is not None)))
    return views


def _merged(shapes: Sequence[Shape], whole: Shape) -> tuple[list[Shape], Shape]:
    """The same with neighbouring dimensions as one where each operand has both or neither."""
    full = [(1,) * (len(whole) - len(shape)) + shape for shape in shapes]
    columns: list[list[int]] = []
    kinds: list[bool] | None = None
    for axis, size in enumerate(whole):
        if size == 1:
            continue
        sizes = [shape[axis] for shape in full]
        own = [one == 1 for one in sizes]
        if own == kinds:
            columns[-1] = [a * b for a, b in zip(columns[-1], [*sizes, size], strict=True)]
        else:
            columns.append([*sizes, size])
        kinds = own
    rows = list(zip(*columns, strict=True)) or [()] * (len(shapes) + 1)
    return rows[:-1], rows[-1]


_Atom = tuple[int, int, int]
"""Dimension, size and part (0 images, 1 channels, 2 the rest) of a factor of the whole."""


def _atoms(whole: Shape, lanes: Lanes) -> list[_Atom] | None:
    """Dimensions cut where images and channels end; None when the ends do not divide them."""
    found: list[_Atom] = []
    wanted = [*lanes]
    part = 0
    for axis, size in enumerate(whole):
        while part < 2 and size > 1:
            if wanted[part] == 1:
                part += 1
                continue
            step = math.gcd(size, wanted[part])
            # What is left of a part must be filled by whole outer factors of the dimension.
            if step not in (size, wanted[part]):
                return None
            found.append((axis, step, part))
            size, wanted[part] = size // step, wanted[part] // step
        if size > 1:
            found.append((axis, size, 2))
    return found if all(left == 1 for left in wanted) else None


def _sizes(shape: Shape, whole: Shape, atoms: Sequence[_Atom], part: int) -> list[tuple[int, bool]]:
    """Size and whether an operand is stretched, for every factor of a part."""
    full = (1,) * (len(whole) - len(shape)) + shape
    return [(size, full[axis] == 1) for axis, size, own in atoms if own == part]


def _joined(factors: Sequence[tuple[int, bool]]) -> int | None:
    """The operand's size along factors taken as one axis; None when only some are stretched."""
    if len({stretched for _, stretched in factors}) > 1:
        return None
    return math.prod(1 if stretched else size for size, stretched in factors)


def _tail(
    whole: Shape, atoms: Sequence[_Atom], operands: Sequence[Sequence[tuple[int, bool]]]
) -> list[tuple[int, int]] | None:
    """The factors behind the channels as runs, along which no operand is stretched in part."""
    count = sum(1 for *_, part in atoms if part == 2)
    runs: list[tuple[int, int]] = []
    for index in range(count):
        alike = runs and all(one[index][1] == one[index - 1][1] for one in operands)
        runs[-1:] = [(runs[-1][0], index + 1)] if alike else [*runs[-1:], (index, index + 1)]
    return runs or [(0, 0)]
