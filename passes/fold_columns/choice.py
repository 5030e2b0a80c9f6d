"""Which fold each set of values gets: a search by estimated cycles."""

import math
from collections.abc import Mapping, Sequence
from functools import cache

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.passes.fold_columns.filters import folded
from xdsl_tpu.passes.fold_columns.network import Edge, Network, Values
from xdsl_tpu.passes.tensors import shape_of

MOST = 16
"""The largest fold."""

PASSES = 3
"""What an op that works element by element takes for each EU width, about."""

GAIN = 0.92
"""Folding must bring the estimate down to this much of what it was: it leaves out what layer groups
gain and lose."""

Folds = dict[Values, int]


def _rounds(size: int, at_once: int) -> int:
    return -(-size // at_once)


class Prices:
    """Cycles of filters and moves, for elements of so many bytes."""

    def __init__(self, chip: Chip, width: int) -> None:
        self.chip, self.width = chip, width
        self._edge = cache(self._filter)

    def move(self, shape: Shape) -> float:
        """Folding or unfolding a value: through local memory, from DDR to DDR."""
        rates = self.chip.load_bytes_per_cycle / self.chip.store_bytes_per_cycle
        return self.load(shape) * (1 + rates)

    def load(self, shape: Sequence[int]) -> float:
        """Loading a value."""
        size = math.prod(shape) * self.width * self.chip.tensor_derate
        return size / self.chip.load_bytes_per_cycle

    def edge(self, edge: Edge, taken: int, given: int) -> float:
        """A filter between folds, with moves where it cannot work on them as they are."""
        return self.way(edge, taken, given)[0]

    def way(self, edge: Edge, taken: int, given: int) -> tuple[float, int, int]:
        """The cheapest such filter: its price with moves, and the folds that it works on."""
        return min(
            (
                self._edge(edge, source, target)
                + (source != taken) * self.move(shape_of(edge.op.input))
                + (target != given) * self.move(shape_of(edge.op.output)),
                source,
                target,
            )
            for source in (taken, 1)
            for target in (given, 1)
        )

    def _filter(self, edge: Edge, taken: int, given: int) -> float:
        """The array's cycles, and those of loading what the filter has become; infinite when there
        is no such filter."""
        slide = edge.slide
        if (taken, given) != (1, 1):
            how = folded(slide, taken, given)
            if how is None or how.slide.stride > LIMITS.window_stride:
                return float("inf")
            slide = how.slide
        inputs = shape_of(edge.op.input)[1] * taken
        outputs = shape_of(edge.op.output)[1] * given
        taps, places = edge.rest
        cube, at_once = (
            self.chip.cube_channels[self.width],
            self.chip.cube_outputs[self.width],
        )
        blocks = _rounds(inputs, cube)
        positions = taps * slide.kernel
        loads = 0.0
        if taps > 1 and inputs * taps <= cube and not edge.source.worked:
            # Rows of the kernel will become channels, for an image that is loaded as often.
            positions, loads = slide.kernel, taps * self.load(shape_of(edge.op.input))
        rounds = _rounds(outputs, self.chip.lanes) * _rounds(places * slide.result, at_once)
        weights = self.load((inputs, outputs, taps, slide.kernel))
        return max(rounds * blocks * positions, loads) + weights

    def values(self, values: Values, fold: int) -> float:
        """Ops on a set of values, and moves for what cannot work on them as they are."""
        work = 0.0
        for _, channels, *rest in values.worked:
            lines = _rounds(math.prod(rest) // fold * self.width, self.chip.eu_bytes)
            work += PASSES * _rounds(channels * fold, self.chip.lanes) * lines
        return work + (sum(map(self.move, values.moved)) if fold > 1 else 0)


def choose_folds(network: Network, prices: Prices) -> Folds:
    """The fold of every set of values, 1 for those that stay: sets of as many columns together
    first, then one by one, as long as that gains."""
    sets = network.sets()
    folds = dict.fromkeys(sets, 1)
    narrow = [one for one in sets if one.narrowest < prices.chip.lanes]
    if not narrow:
        return folds
    total = _Total(network, prices)
    first = best = total(folds)
    for columns in dict.fromkeys(one.columns for one in narrow):
        group = [one for one in narrow if one.columns == columns]
        for fold in _folds(columns):
            tried = {**folds, **dict.fromkeys(group, fold)}
            if (cost := total(tried)) < best:
                folds, best = tried, cost
    better = True
    while better:
        better = False
        for one in narrow:
            for fold in (1, *_folds(one.columns)):
                if fold != folds[one] and (gain := total.gain(folds, one, fold)) > 0:
                    folds[one], best, better = fold, best - gain, True
    return folds if best < GAIN * first else dict.fromkeys(sets, 1)


def _folds(columns: int) -> list[int]:
    return [fold for fold in range(2, min(MOST, columns) + 1) if columns % fold == 0]


class _Total:
    """The estimate of a whole network."""

    def __init__(self, network: Network, prices: Prices) -> None:
        self._edges, self._sets, self._prices = network.edges, network.sets(), prices
        self._around: dict[Values, list[Edge]] = {one: [] for one in self._sets}
        for edge in network.edges:
            for end in dict.fromkeys((edge.source, edge.target)):
                self._around[end].append(edge)

    def __call__(self, folds: Mapping[Values, int]) -> float:
        edges = sum(self._edge(edge, folds) for edge in self._edges)
        return edges + sum(self._prices.values(one, folds[one]) for one in self._sets)

    def _edge(self, edge: Edge, folds: Mapping[Values, int]) -> float:
        return self._prices.edge(edge, folds[edge.source], folds[edge.target])

    def gain(self, folds: Mapping[Values, int], one: Values, fold: int) -> float:
        """Cycles that another fold of one set saves."""
        changed = {**folds, one: fold}
        before, after = (
            sum(self._edge(edge, some) for edge in self._around[one])
            + self._prices.values(one, some[one])
            for some in (folds, changed)
        )
        return before - after
