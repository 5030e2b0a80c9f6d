"""Which fold each set of values of a network gets, by an estimate of cycles in two parts: what ops
between sets take, and what is done with the values of each."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

_Set = TypeVar("_Set", bound=Hashable)
_Edge = TypeVar("_Edge")


class Estimate(ABC, Generic[_Set, _Edge]):
    """The estimate of a whole network, and the search for folds that make it least."""

    def __init__(self, edges: Sequence[_Edge], sets: Sequence[_Set]) -> None:
        self.edges, self.sets = edges, sets
        self._around: dict[_Set, list[_Edge]] = {one: [] for one in sets}
        for edge in edges:
            for end in dict.fromkeys(self.ends(edge)):
                self._around[end].append(edge)

    @abstractmethod
    def ends(self, edge: _Edge) -> Iterable[_Set]:
        """The sets that an op reads and makes."""

    @abstractmethod
    def edge(self, edge: _Edge, folds: Mapping[_Set, int]) -> float:
        """Cycles of an op between sets."""

    @abstractmethod
    def values(self, values: _Set, fold: int) -> float:
        """Cycles of what is done with the values of a set."""

    def __call__(self, folds: Mapping[_Set, int]) -> float:
        """Cycles in all."""
        edges = sum(self.edge(edge, folds) for edge in self.edges)
        return edges + sum(self.values(one, folds[one]) for one in self.sets)

    def gain(self, folds: Mapping[_Set, int], one: _Set, fold: int) -> float:
        """Cycles that another fold of one set saves."""
        before, after = (
            sum(self.edge(edge, some) for edge in self._around[one]) + self.values(one, some[one])
            for some in (folds, {**folds, one: fold})
        )
        return before - after

    def least(
        self,
        some: Sequence[_Set],
        size_of: Callable[[_Set], int],
        folds_of: Callable[[int], Iterable[int]],
    ) -> tuple[dict[_Set, int], float]:
        """The folds of all sets, 1 for those that stay, and their estimate: `some` of one size get
        one together first, then one by one, as long as that gains."""
        folds = dict.fromkeys(self.sets, 1)
        best = self(folds)
        for size in dict.fromkeys(map(size_of, some)):
            group = [one for one in some if size_of(one) == size]
            for fold in folds_of(size):
                tried = {**folds, **dict.fromkeys(group, fold)}
                if (cost := self(tried)) < best:
                    folds, best = tried, cost
        better = True
        while better:
            better = False
            for one in some:
                for fold in (1, *folds_of(size_of(one))):
                    if fold != folds[one] and (gain := self.gain(folds, one, fold)) > 0:
                        folds[one], best, better = fold, best - gain, True
        return folds, best
