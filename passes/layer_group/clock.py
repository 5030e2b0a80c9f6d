"""How the work of groups and of ops alone overlaps on the two engines.

The GDMA works while the TIU computes. What a group reads from DDR was stored by what comes before
it, so those transfers wait for each other; weights may come at any time before.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles of a straight group: computing, loading inputs, storing results, loading weights.

    `local_bytes`: what its largest op needs of every lane, weights aside.
    """

    tiu: float
    loads: float
    stores: float
    weights: float
    local_bytes: int


@dataclass(frozen=True, slots=True)
class SlicedCost:
    """Cycles of a group of several slices: for each slice, and the weights that all share."""

    tiu: tuple[float, ...]
    loads: tuple[float, ...]
    stores: tuple[float, ...]
    weights: float

    @property
    def moved(self) -> float:
        """All transfers."""
        return self.weights + sum(self.loads) + sum(self.stores)

    @property
    def total(self) -> float:
        """From an idle machine to the last store: a slice is loaded while the one before is
        computed and the one before that is stored."""
        computed = 0.0
        moved = self.weights + self.loads[0]
        before = 0.0
        for index, cycles in enumerate(self.tiu):
            start = max(computed, moved)
            moved = start + before
            if index + 1 < len(self.tiu):
                moved += self.loads[index + 1]
            computed, before = start + cycles, self.stores[index]
        return max(computed, moved) + before


@dataclass(frozen=True, slots=True)
class Clock:
    """When the last result is stored, and when the GDMA has done all that was asked of it.

    While something computes the GDMA loads weights of what comes later, but no more than fit
    beside it; `ahead` says how many cycles that takes.
    """

    chain: float = 0.0
    gdma: float = 0.0

    @property
    def end(self) -> float:
        """When both are done."""
        return max(self.chain, self.gdma)

    def after_straight(self, cost: Cost, ahead: float) -> "Clock":
        """A group whose weights are loaded while earlier groups compute."""
        gdma = self.gdma + cost.loads + cost.stores + cost.weights
        chain = max(self.chain + cost.loads + cost.tiu, gdma - cost.stores) + cost.stores
        return Clock(chain, max(gdma, chain - ahead))

    def after_alone(self, cycles: float, moved: float, ahead: float) -> "Clock":
        """An op or group by itself: it takes `cycles`, in `moved` of which the GDMA is busy."""
        gdma = self.gdma + moved
        chain = max(self.chain + cycles, gdma)
        return Clock(chain, max(gdma, chain - ahead))
