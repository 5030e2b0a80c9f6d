"""Things that belong together, as far as one after the other is said to."""

from typing import Generic, TypeVar

_T = TypeVar("_T")


class JoinedSets(Generic[_T]):
    """Disjoint sets of things, each by itself before it is joined (Tarjan's union-find)."""

    def __init__(self) -> None:
        self._leader: dict[_T, _T] = {}

    def find(self, one: _T) -> _T:
        """What stands for the set of a thing."""
        leader = self._leader
        while (above := leader.setdefault(one, one)) is not one:
            leader[one] = leader[above]
            one = leader[one]
        return one

    def join(self, one: _T, other: _T) -> None:
        """Make the set of `one` a part of that of `other`, which goes on standing for both."""
        self._leader[self.find(one)] = self.find(other)
