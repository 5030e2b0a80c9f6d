"""Permutations of dimensions as plain values: simplified, composed, compared."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, takewhile
from math import prod


@dataclass(frozen=True)
class Permutation:
    """Dimension i of the result is dimension `order[i]` of a tensor of `shape`."""

    shape: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def result(self) -> tuple[int, ...]:
        """The shape after permuting."""
        return tuple(self.shape[axis] for axis in self.order)

    @property
    def moves_nothing(self) -> bool:
        """Whether the data stay in order: only dimensions of size 1 change places."""
        moved = [axis for axis in self.order if self.shape[axis] != 1]
        return moved == sorted(moved)

    @property
    def run(self) -> int:
        """How many elements stay neighbours: the product of the last dimensions that stay."""
        staying = takewhile(lambda axis: self.order[axis] == axis, reversed(range(len(self.order))))
        return prod(self.shape[axis] for axis in staying)

    def without(self, axis: int) -> "Permutation":
        """The same with one input dimension, of size 1, left out."""
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        order = tuple(other - (other > axis) for other in self.order if other != axis)
        return Permutation(shape, order)

    def merged(self, position: int) -> "Permutation":
        """The same with result dimensions `position` and the next, neighbours in order, as one."""
        axis = self.order[position]
        shape = (
            *self.shape[:axis],
            self.shape[axis] * self.shape[axis + 1],
            *self.shape[axis + 2 :],
        )
        kept = (*self.order[: position + 1], *self.order[position + 2 :])
        return Permutation(shape, tuple(other - (other > axis) for other in kept))

    def padded(self, rank: int) -> "Permutation":
        """The same with leading dimensions of size 1 up to `rank`."""
        extra = rank - len(self.shape)
        order = (*range(extra), *(axis + extra for axis in self.order))
        return Permutation((1,) * extra + self.shape, order)

    def at_rank(self, rank: int) -> "Permutation | None":
        """The same movement of data on tensors of `rank` dimensions; None if it needs more.

        Dimensions of size 1 are dropped first, one at a time while there are too many, then
        neighbours that stay neighbours are merged.
        """
        reduced = self
        while len(reduced.shape) > rank and 1 in reduced.shape:
            reduced = reduced.without(reduced.shape.index(1))
        while len(reduced.shape) > rank and (pair := next(reduced._pairs(), None)) is not None:
            reduced = reduced.merged(pair)
        return None if len(reduced.shape) > rank else reduced.padded(rank)

    @property
    def minimal(self) -> "Permutation":
        """The same movement of data in the fewest dimensions; equal for equal movements."""
        reduced = self
        while len(reduced.shape) > 1 and 1 in reduced.shape:
            reduced = reduced.without(reduced.shape.index(1))
        while (pair := next(reduced._pairs(), None)) is not None:
            reduced = reduced.merged(pair)
        return reduced

    def _pairs(self) -> Iterator[int]:
        """Positions whose dimension and the next one stay neighbours."""
        for position in range(len(self.order) - 1):
            if self.order[position] + 1 == self.order[position + 1]:
                yield position


def cancel(first: Permutation, second: Permutation) -> bool:
    """Whether `second`, applied to the data of `first`'s result, restores the data's order.

    The result may have been reshaped in between: it is enough that at some rank both shapes
    agree there and the orders are inverse to each other.
    """
    for rank in range(2, 6):
        before, after = first.at_rank(rank), second.at_rank(rank)
        if before is None or after is None or before.result != after.shape:
            continue
        if all(before.order[axis] == index for index, axis in enumerate(after.order)):
            return True
    return False


def two_steps(whole: Permutation, rank: int) -> Iterator[tuple[Permutation, Permutation]]:
    """All pairs of permutations of at most `rank` dimensions that together do `whole`."""
    for order in permutations(range(len(whole.order))):
        first = Permutation(whole.shape, order)
        second = Permutation(first.result, tuple(order.index(axis) for axis in whole.order))
        if first.at_rank(rank) is not None and second.at_rank(rank) is not None:
            yield first, second
