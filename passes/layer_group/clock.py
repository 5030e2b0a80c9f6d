"""How the work of groups and of ops alone overlaps on the two engines.

The GDMA works while the TIU computes. What a group reads from DDR was stored by what comes before
it, so those transfers wait for each other; weights come before, as far ahead as there is room.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.records import record


class Step(NamedTuple):
    """Cycles of one op of a straight group: computing, loading inputs, loading weights.

    `local_bytes`: what it needs of every lane, weights aside. `parts`: it works with so many parts
    of the weights, one after the other, each as soon as it is loaded.
    """

    tiu: float
    loads: float
    weights: float
    local_bytes: int
    parts: int = 1


@record(frozen=True, slots=True)
class Cost:
    """Cycles of a straight group: of its ops in order, and of storing results."""

    steps: tuple[Step, ...]
    stores: float

    @property
    def tiu(self) -> float:
        """All computation."""
        return sum(step.tiu for step in self.steps)

    @property
    def loads(self) -> float:
        """Loads of what is no weight."""
        return sum(step.loads for step in self.steps)

    @property
    def weights(self) -> float:
        """Loads of weights."""
        return sum(step.weights for step in self.steps)

    @property
    def moved(self) -> float:
        """All transfers."""
        return self.loads + self.stores + self.weights


Cycles: TypeAlias = npt.NDArray[np.float64]
"""Of one group, or of each of many."""


class Passage(NamedTuple):
    """What a straight group makes of a clock: when the last result is stored, in cycles after the
    last one before it, and after the GDMA had done what it was asked for before, the later of which
    counts; and when the GDMA is done, likewise."""

    chain: Cycles
    chain_by_gdma: Cycles
    gdma_by_chain: Cycles
    gdma: Cycles

    def after(self, chain: Cycles, gdma: Cycles) -> tuple[Cycles, Cycles]:
        """Both clocks behind it."""
        return (
            np.maximum(chain + self.chain, gdma + self.chain_by_gdma),
            np.maximum(chain + self.gdma_by_chain, gdma + self.gdma),
        )


class Course(NamedTuple):
    """How far both engines are between two ops of a straight group.

    `loaded`: when its inputs are there that were needed so far. `tiu` is when the ops are done,
    `gdma` when their weights are there, or, as nothing was loaded ahead for which there was no
    room, as if the GDMA had worked all the time. Those are cycles after the last result before the
    group; `.._by_gdma` count from when the GDMA had done what it was asked for before.
    """

    loaded: Cycles
    tiu: Cycles
    tiu_by_gdma: Cycles
    gdma: Cycles
    gdma_by_gdma: Cycles

    def after(self, step: Step, ahead: float) -> "Course":
        """One op further. `ahead`: how many cycles it takes to fill what there is room for; of the
        op's own weights the last part is there until it is done."""
        tiu, loads, weights, _, parts = step
        part, last = weights / parts, tiu / parts
        loaded, moved, later = self.loaded + loads, loads + weights, np.maximum
        gdma, by_gdma = self.gdma + moved, self.gdma_by_gdma + moved
        first, beside = part - weights, max(0.0, ahead - part)
        done = later(later(later(self.tiu, loaded), gdma + first) + tiu, gdma + last)
        done_by_gdma = later(later(self.tiu_by_gdma, by_gdma + first) + tiu, by_gdma + last)
        gdma, by_gdma = later(gdma, done - beside), later(by_gdma, done_by_gdma - beside)
        return Course(loaded, done, done_by_gdma, gdma, by_gdma)

    def stored(self, stores: Cycles | float, ahead: float) -> Passage:
        """At the end of the group."""
        later = np.maximum
        gdma, by_gdma = self.gdma + stores, self.gdma_by_gdma + stores
        chain = later(self.tiu + stores, gdma)
        chain_by_gdma = later(self.tiu_by_gdma + stores, by_gdma)
        gdma, by_gdma = later(gdma, chain - ahead), later(by_gdma, chain_by_gdma - ahead)
        return Passage(chain, chain_by_gdma, gdma, by_gdma)


BEGIN = Course(*map(np.array, (0.0, 0.0, -np.inf, -np.inf, 0.0)))
"""In front of the first op."""


@record(frozen=True, slots=True)
class Transfer:
    """A load or store of one slice: `cycles` of the GDMA between steps of its group.

    Ops are counted from 1. A load may begin when op `after` - 1 is done with the slice before, and
    op `until` waits for it. A store begins when op `after` - 1 is done, and op `until` waits with
    the next slice.
    """

    cycles: float
    after: int
    until: int


@record(frozen=True, slots=True)
class Round:
    """Cycles of what one slice takes: of each op in order, of loads and stores in theirs."""

    ops: tuple[float, ...]
    loads: tuple[Transfer, ...]
    stores: tuple[Transfer, ...]


@record(frozen=True)
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

    @cached_property
    def moved(self) -> float:
        """All transfers."""
        return self.weights + self.loads + self.stores

    @property
    def exposed(self) -> float:
        """What is neither all computing nor all transfers."""
        return self.total - self.least

    @property
    def least(self) -> float:
        """All computing, or all transfers."""
        return max(self.moved, self.tiu)

    @cached_property
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


class Transfers(NamedTuple):
    """The loads or stores of a value: `cycles` for each slice, of a weight that all share for the
    first, and of the TIU for what it fills itself. `after`, `until`: as in `Transfer`."""

    cycles: Sequence[float]
    after: int
    until: int
    tiu: Sequence[float] = ()


def sliced_cost(
    slices: Sequence[int],
    computed: Sequence[Sequence[float]],
    held: Sequence[Transfers],
    loads: Sequence[Transfers],
    stores: Sequence[Transfers],
) -> SlicedCost:
    """The cost of some slices of a group, one after the other. `computed`: cycles of each op for
    each slice; `held`: weights that are loaded once."""
    rounds: list[Round] = []
    for number in slices:
        ops = [cycles[number] for cycles in computed]
        for one in held if number == slices[0] else ():
            ops[one.until - 1] += one.tiu[0]
        for one in loads:
            ops[one.until - 1] += one.tiu[number]
        moved = [Transfer(one.cycles[number], one.after, one.until) for one in loads]
        moved.sort(key=lambda load: load.after)
        away = (Transfer(one.cycles[number], one.after, one.until) for one in stores)
        rounds.append(Round(tuple(ops), tuple(moved), tuple(away)))
    return SlicedCost(tuple(rounds), sum(one.cycles[0] for one in held))


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


@record(frozen=True, slots=True)
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

    def after_straight(self, passage: Passage) -> "Clock":
        """A group whose weights are loaded while earlier ones compute."""
        chain, gdma = passage.after(np.array(self.chain), np.array(self.gdma))
        return Clock(float(chain), float(gdma))

    def after_alone(self, cycles: float, moved: float, ahead: float) -> "Clock":
        """An op or group by itself: it takes `cycles`, in `moved` of which the GDMA is busy."""
        gdma = self.gdma + moved
        chain = max(self.chain + cycles, gdma)
        return Clock(chain, max(gdma, chain - ahead))
