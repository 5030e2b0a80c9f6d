"""Plain values that the layer-group algorithms pass to each other."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


class GroupType(IntEnum):
    """How the dimensions of a group's tensors map to n, c, d, h, w; the values are the IR's."""

    NORMAL = 0
    THREE_D = 1
    SMALL_C = 2
    MM_INT4 = 3
    MM = 4


class Ncdhw(NamedTuple):
    """Sizes along the five axes that local memory knows; c lies over the lanes."""

    n: int
    c: int
    d: int
    h: int
    w: int


class Secs(NamedTuple):
    """Into how many sections a group cuts each axis."""

    n: int = 1
    c: int = 1
    d: int = 1
    h: int = 1
    w: int = 1

    @property
    def total(self) -> int:
        """Number of slices that the group works through."""
        return self.n * self.c * self.d * self.h * self.w


AxisSlices = tuple[tuple[int, int], ...]
"""(start, length) of every section along one axis, in the whole tensor."""


@dataclass(frozen=True, slots=True)
class ValueSlices:
    """The slices of one value.

    `hold`: loaded once and kept for all slices. `margins`: users need different h or w ranges
    and the slices are their union.
    """

    n: AxisSlices
    c: AxisSlices
    d: AxisSlices
    h: AxisSlices
    w: AxisSlices
    eu_align: bool = True
    hold: bool = False
    margins: bool = False

    def largest(self) -> Ncdhw:
        """The largest slice along each axis."""
        axes = (self.n, self.c, self.d, self.h, self.w)
        return Ncdhw(*(max(length for _, length in axis) for axis in axes))
