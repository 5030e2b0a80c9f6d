"""What happens to a dimension: it is dropped, or becomes one with the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from xdsl_tpu.dialects.interfaces.shape import Shape

Axes: TypeAlias = dict[SSAValue, int]
"""Which axis each value loses."""


@dataclass(frozen=True)
class Change:
    """Of `width` dimensions that lie side by side one is left; of one, which has size 1, none."""

    width: int

    def suits(self, shape: Sequence[int], axis: int, like: Sequence[int]) -> bool:
        """Whether a shape can lose an axis with values whose sizes along it are `like`.

        An operand that is repeated along all these dimensions has ones there.
        """
        sizes = tuple(shape[axis : axis + self.width])
        if axis < 0 or len(sizes) < self.width:
            return False
        ones = (1,) * self.width
        return sizes == ones or (self.width > 1 and sizes == tuple(like))

    def sizes(self, shape: Sequence[int], axis: int) -> Shape:
        """Those of the dimensions in question."""
        return tuple(shape[axis : axis + self.width])

    def without(self, shape: Sequence[int], axis: int) -> Shape:
        """A shape after the change."""
        if self.width == 1:
            return (*shape[:axis], *shape[axis + 1 :])
        first, second = shape[axis : axis + self.width]
        return (*shape[:axis], first * second, *shape[axis + self.width :])


DROPPED = Change(1)
MERGED = Change(2)
