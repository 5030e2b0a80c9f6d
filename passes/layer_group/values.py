"""Plain values that the layer-group algorithms pass to each other."""

from typing import NamedTuple

from xdsl_tpu.dialects.interfaces.local_gen import AXES, Axis, GroupType, Ncdhw
from xdsl_tpu.dialects.records import record

__all__ = ["AXES", "Axis", "AxisSlices", "GroupType", "Ncdhw", "Refusal", "Secs", "ValueSlices"]


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


@record(frozen=True, slots=True)
class Refusal:
    """Why a range of ops is not one group; `over` is by how many bytes per lane it does not fit."""

    reason: str
    over: int = 0


@record(frozen=True, slots=True)
class ValueSlices:
    """The slices of one value; an axis with one entry has the same part in every slice.

    `hold`: loaded once and kept for all slices.
    """

    n: AxisSlices
    c: AxisSlices
    d: AxisSlices
    h: AxisSlices
    w: AxisSlices
    eu_align: bool = True
    hold: bool = False

    def largest(self) -> Ncdhw:
        """The largest slice along each axis."""
        return Ncdhw(*[max([e[1] for e in one]) if one[1:] else one[0][1] for one in self.all])

    @property
    def all(self) -> tuple[AxisSlices, AxisSlices, AxisSlices, AxisSlices, AxisSlices]:
        """The parts along each axis."""
        return self.n, self.c, self.d, self.h, self.w

    def along(self, axis: Axis) -> AxisSlices:
        """The parts along one axis."""
        return getattr(self, axis)
