"""Which fold each set of values gets: a search by estimated cycles."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from xdsl.dialects.func import FuncOp

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interpreters.layouts import most_merged_rows
from xdsl_tpu.passes.fold_columns.filters import folded, shortest
from xdsl_tpu.passes.fold_columns.network import (
    FEW_PASSES,
    RANKS,
    Edge,
    Network,
    Values,
    columns_axis,
    is_given,
    rows_together,
)
from xdsl_tpu.passes.fold_search import Estimate
from xdsl_tpu.passes.tensors import shape_of

MOST = 16
"""The largest fold."""

HOST_BYTES = 4
"""Of an element that the host gives."""

GAIN = 0.92
"""Folding must bring the estimate of what it changes down to this much of what it was: it leaves
out what layer groups gain and lose."""

Folds = dict[Values, int]


def _rounds(size: int, at_once: int) -> int:
    return -(-size // at_once)


def _is_loaded(edge: Edge) -> bool:
    """Whether a filter's input comes from DDR, so that rows can be merged on the way."""
    return is_given(edge.op.input) or not edge.source.worked


class Prices:
    """Cycles of filters and moves, for elements of so many bytes.

    Of weights that are loaded `ahead` counts what takes longer than the array.
    """

    def __init__(self, chip: Chip, width: int, ahead: bool = False) -> None:
        self.chip, self.width, self.ahead = chip, width, ahead
        self._edge, self.way, self.move = cache(self._filter), cache(self._way), cache(self._move)

    def _move(self, shape: Shape, taken: int, given: int, host: bool = False) -> float:
        """Bringing a value from one fold to another, the cheaper way. `host` says that the host
        gives it, in f32."""
        ways = (shape, taken, given, host)
        return min(self.through_ddr(*ways), self.by_array(*ways))

    def through_ddr(self, shape: Shape, taken: int, given: int, host: bool = False) -> float:
        """From DDR to DDR through local memory; from fold to fold by way of none.

        Integers that only move are cast before that, on their own, and loaded once more.
        """
        rates = self.chip.load_bytes_per_cycle / self.chip.store_bytes_per_cycle
        once = self.load(shape) * (1 + rates)
        moved = once * ((taken > 1) + (given > 1))
        return moved + self._from_host(shape) + once if host and self.width == 1 else moved

    def by_array(self, shape: Shape, taken: int, given: int, host: bool = False) -> float:
        """By a filter of zeros and ones; infinite when there is none."""
        if given > 1 and given % taken:
            return float("inf")
        images, channels, *rest = shape
        taps = given // taken if given > 1 else taken
        inputs, outputs = channels * taken, channels * given
        work = self.array(inputs, outputs, taps, images * math.prod(rest) // given)
        if host and self.width == 1:
            work = max(work, self._from_host(shape))
        return self.loaded(work, self.load((inputs, outputs, taps)))

    def loaded(self, work: float, weights: float) -> float:
        """Work of the array with the load of its weights."""
        return max(work, weights) if self.ahead else work + weights

    def _from_host(self, shape: Sequence[int]) -> float:
        """Loading what the host gives."""
        return self.load(shape) * HOST_BYTES / self.width

    def load(self, shape: Sequence[int]) -> float:
        """Loading a value."""
        size = math.prod(shape) * self.width * self.chip.tensor_derate
        return size / self.chip.load_bytes_per_cycle

    def plain(self, edge: Edge) -> float:
        """A filter where nothing is folded."""
        return self._edge(edge, 1, 1, 1)

    def multiplied(self, edge: Edge) -> float:
        """Cycles of the array for a filter where nothing is folded."""
        if edge.pooled:
            return 0
        inputs, outputs = (shape_of(value)[1] for value in (edge.op.input, edge.op.output))
        taps, places = edge.rest
        limit = most_merged_rows(self.width, self.chip.weight_lanes)
        if 1 < taps <= limit // inputs and _is_loaded(edge):
            inputs, taps = inputs * taps, 1
        slide = edge.slide
        return self.array(inputs, outputs, taps * slide.kernel, places * slide.result)

    def _way(self, edge: Edge, taken: int, given: int) -> tuple[float, int, int, int]:
        """The cheapest filter between folds: its price, with moves where it does not work on them
        as they are, the folds that it works on, and the rows that become channels of its result,
        too, where that is moved to no fold."""
        before, after = shape_of(edge.op.input), shape_of(edge.op.output)
        host = is_given(edge.op.input)
        others = folds_of(edge.target.columns) if after[1] < self.chip.lanes else []
        targets = dict.fromkeys((given, 1, *others))
        ways = [
            (
                self._edge(edge, source, target, 1)
                + (self.move(before, taken, source, host) if source != taken else 0)
                + (self.move(after, target, given) if target != given else 0),
                source,
                target,
                1,
            )
            for source in dict.fromkeys((taken, 1))
            for target in targets
        ]
        if given == 1 < taken:
            moved = self.through_ddr(after, MOST, 1, False)
            ways += [
                (self._edge(edge, taken, target, rows) + moved, taken, target, rows)
                for target in targets
                for rows in self._rows(edge, target)
            ]
        return min(ways)

    def _rows(self, edge: Edge, given: int) -> Iterator[int]:
        """How many rows may become channels of a result whose columns are, in a fold."""
        op, shape = edge.op, shape_of(edge.op.output)
        if isinstance(op, top.MaxPoolOp) or len(shape) != RANKS[1] or columns_axis(shape) != 3:
            return
        if len(op.kernel_shape) != 2 or (ints(op.dilations or ()) or (1,))[0] > 1:
            return
        for rows in range(2, self.chip.lanes // (shape[1] * given) + 1):
            how = rows_together(op, rows)
            if how is not None and how.slide.stride <= LIMITS.window_stride:
                yield rows

    def _filter(self, edge: Edge, taken: int, given: int, rows: int) -> float:
        """The array's cycles, and those of loading what the filter has become; infinite when there
        is no such filter. So many `rows` of the result are channels, too."""
        slide, staggering = edge.slide, 0.0
        shape = shape_of(edge.op.input)
        if edge.pooled:
            return self._pool(edge, taken, given)
        if (taken, given) != (1, 1):
            how = shortest(slide, taken, given, slides=rows > 1)
            if how is None or how.slide.stride > LIMITS.window_stride:
                return float("inf")
            slide = how.slide
            if how.stagger:
                staggering = self._staggered(shape, taken)
        taps, places = edge.rest
        inputs, outputs = shape[1] * taken, shape_of(edge.op.output)[1] * given
        if rows > 1:
            assert not isinstance(edge.op, top.MaxPoolOp)
            down = rows_together(edge.op, rows)
            assert down is not None
            taps, places, outputs = down.slide.kernel, places // rows, outputs * rows
        weights, loads = self.load((inputs, outputs, taps, slide.kernel)), 0.0
        limit = most_merged_rows(self.width, self.chip.weight_lanes)
        merges = 1 < taps <= limit // inputs
        if merges and not staggering and _is_loaded(edge):
            # Rows of the kernel will become channels, for an image that is loaded as often.
            inputs, taps, loads = inputs * taps, 1, taps * self.load(shape)
        work = self.array(inputs, outputs, taps * slide.kernel, places * slide.result)
        return self.loaded(max(work, loads), weights) + staggering

    def _pool(self, edge: Edge, taken: int, given: int) -> float:
        """What picking columns takes more than a pool that takes them together."""
        shape, how = shape_of(edge.op.input), folded(edge.slide, taken, given)
        if (taken, given) == (1, 1):
            return 0.0
        if how is None or taken % edge.pooled:
            return float("inf")
        inputs, outputs = shape[1] * taken, shape[1] * given
        work = self.array(inputs, outputs, how.slide.kernel, edge.rest[1] * how.slide.result)
        return edge.pooled * (work + self.load((inputs, outputs, how.slide.kernel)))

    def array(self, inputs: int, outputs: int, positions: int, places: int) -> float:
        """Cycles of the array for so many channels, taps and places of the result."""
        chip, width = self.chip, self.width
        rounds = _rounds(outputs, chip.lanes) * _rounds(places, chip.cube_outputs[width])
        return rounds * _rounds(inputs, chip.cube_channels[width]) * positions

    def _staggered(self, shape: Shape, fold: int) -> float:
        """Two taps of a depthwise filter, row by row."""
        _, channels, *rest = shape
        columns = shape[columns_axis(shape)]
        lines = _rounds((columns // fold + 1) * self.width, self.chip.eu_bytes)
        rows = math.prod(rest) // columns * shape[0]
        return 2 * _rounds(channels * fold, self.chip.lanes) * rows * lines

    def values(self, values: Values, fold: int) -> float:
        """Ops on a set of values, and moves for what cannot work on them as they are."""
        work = 0.0
        for (images, channels, *rest), passes in values.worked:
            passes = passes if self.width > 1 else FEW_PASSES
            lines = _rounds(math.prod(rest) // fold * self.width, self.chip.eu_bytes)
            work += passes * images * _rounds(channels * fold, self.chip.lanes) * lines
        if fold > 1:
            work += sum(self.move(shape, 1, fold) for shape in values.made)
            work += sum(self.move(shape, 1, fold, True) for shape in values.given)
            work += sum(self.move(shape, fold, 1) for shape in values.read)
        return work


def choose_folds(network: Network, prices: Prices) -> Folds | None:
    """The fold of every set of values, 1 for those that stay: sets of as many columns together
    first, then one by one, as long as that gains. None where nothing is to be folded."""
    sets = network.sets()
    narrow = [one for one in sets if one.narrowest < prices.chip.lanes]
    if not narrow:
        return None
    total = _Total(network, prices)
    folds, _ = total.least(narrow, lambda one: one.columns, folds_of)
    before, after = total.changed(folds)
    return folds if after < GAIN * before else None


AHEAD = 1.2
"""How many times as long as all loads of weights the filters must take for these to be hidden."""


def prices_for(func: FuncOp, network: Network, chip: Chip, width: int) -> Prices:
    """Prices in a function: whether its filters take so much longer than the loads of all weights
    that these are hidden behind them. Those of bytes always count."""
    prices = Prices(chip, width)
    weights = (op.output for op in func.body.block.ops if isinstance(op, top.WeightOp))
    loads = sum(prices.load(shape_of(weight)) for weight in weights)
    work = sum(map(prices.multiplied, network.edges))
    return Prices(chip, width, width > 1 and work > AHEAD * loads)


def folds_of(columns: int) -> list[int]:
    """The folds that so many columns can have."""
    return [fold for fold in range(2, min(MOST, columns) + 1) if columns % fold == 0]


class _Total(Estimate[Values, Edge]):
    """The estimate of a whole network."""

    def __init__(self, network: Network, prices: Prices) -> None:
        self._prices = prices
        super().__init__(network.edges, network.sets())

    def ends(self, edge: Edge) -> tuple[Values, Values]:
        return edge.source, edge.target

    def edge(self, edge: Edge, folds: Mapping[Values, int]) -> float:
        return self._prices.way(edge, folds[edge.source], folds[edge.target])[0]

    def values(self, values: Values, fold: int) -> float:
        return self._prices.values(values, fold)

    def changed(self, folds: Mapping[Values, int]) -> tuple[float, float]:
        """What folding changes: its estimate before and after."""
        before = after = 0.0
        for edge in self.edges:
            price, *ways = self._prices.way(edge, folds[edge.source], folds[edge.target])
            if ways != [1, 1, 1] or {folds[edge.source], folds[edge.target]} != {1}:
                before, after = before + self._prices.plain(edge), after + price
        for one in self.sets:
            if folds[one] > 1:
                before += self._prices.values(one, 1)
                after += self._prices.values(one, folds[one])
        return before, after
