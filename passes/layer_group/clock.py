"""How the work of groups and of ops alone overlaps on the two engines.

The GDMA works while the TIU computes. What a group reads from DDR was stored by what comes before
it, so those transfers wait for each other; weights may come at any time before.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles of a straight group: computing, loading inputs, storing results, loading weights.

    `local_bytes`: what its largest op needs of every lane, weights aside. `span`: from the first
    load to the end of the last op; an input is loaded while what does not need it is computed.
    """

    tiu: float
    loads: float
    stores: float
    weights: float
    local_bytes: int
    span: float

    @property
    def moved(self) -> float:
        """All transfers."""
        return self.loads + self.stores + self.weights


def span_of(tiu: float, loads: Sequence[tuple[float, float]]) -> float:
    """How long a group takes without its stores that computes for `tiu` cycles.

    `loads`, in their order: cycles of one, and what of the computation waits for it.
    """
    loaded, done = 0.0, tiu
    for cycles, waiting in loads:
        loaded += cycles
        done = max(done, loaded + waiting)
    return done


@dataclass(frozen=True, slots=True)
class Transfer:
    """A load or store of one slice: `cycles` of the GDMA between steps of its group.

    Ops are counted from 1. A load may begin when op `after` - 1 is done with the slice before, and
    op `until` waits for it. A store begins when op `after` - 1 is done, and op `until` waits with
    the next slice.
    """

    cycles: float
    after: int
    until: int


@dataclass(frozen=True, slots=True)
class Round:
    """Cycles of what one slice takes: of each op in order, of loads and stores in theirs."""

    ops: tuple[float, ...]
    loads: tuple[Transfer, ...]
    stores: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class SlicedCost:
    """Cycles of a group of several slices: for each slice, and the weights that all share."""

    rounds: tuple[Round, ...]
    weights: float

    @property
    def tiu(self) -> float:
        """All computation."""
        return sum(sum(one.ops) for one in self.rounds)

    @property
    def loads(self) -> float:
        """Loads of what is no weight."""
        return sum(transfer.cycles for one in self.rounds for transfer in one.loads)

    @property
    def stores(self) -> float:
        """All stores."""
        return sum(transfer.cycles for one in self.rounds for transfer in one.stores)

    @property
    def moved(self) -> float:
        """All transfers."""
        return self.weights + self.loads + self.stores

    @property
    def exposed(self) -> float:
        """What is neither all computing nor all transfers."""
        return self.total - max(self.moved, self.tiu)

    @property
    def total(self) -> float:
        """From an idle machine to the last store: in a round the slice before is stored, this one
        computed and the next one loaded, each as early as memory allows."""
        gdma, done = self.weights, 0.0
        ready: dict[int, float] = {}
        ends: list[float] = [0.0]
        before: Round | None = None
        for number, one in enumerate(self.rounds):
            if number == 0:
                gdma, ready = _transferred(gdma, one.loads, ends[:1] * (len(one.ops) + 1))
            clear: dict[int, float] = {}
            if before is not None:
                gdma, clear = _transferred(gdma, before.stores, ends)
            ends = [done]
            for place, cycles in enumerate(one.ops, 1):
                done = max(done, ready.get(place, 0.0), clear.get(place, 0.0)) + cycles
                ends.append(done)
            if number + 1 < len(self.rounds):
                gdma, ready = _transferred(gdma, self.rounds[number + 1].loads, ends)
            before = one
        if before is not None:
            gdma, _ = _transferred(gdma, before.stores, ends)
        return max(done, gdma)


def _transferred(
    gdma: float, transfers: Sequence[Transfer], ends: Sequence[float]
) -> tuple[float, dict[int, float]]:
    """When the GDMA is done with transfers, one after the other; when each op has what it waits
    for. `ends[k]`: when op k, counted from 1, is done."""
    until: dict[int, float] = {}
    for one in transfers:
        gdma = max(gdma, ends[one.after - 1]) + one.cycles
        until[one.until] = gdma
    return gdma, until


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
        chain = max(self.chain + cost.span, gdma - cost.stores) + cost.stores
        return Clock(chain, max(gdma, chain - ahead))

    def after_alone(self, cycles: float, moved: float, ahead: float) -> "Clock":
        """An op or group by itself: it takes `cycles`, in `moved` of which the GDMA is busy."""
        gdma = self.gdma + moved
        chain = max(self.chain + cycles, gdma)
        return Clock(chain, max(gdma, chain - ahead))
