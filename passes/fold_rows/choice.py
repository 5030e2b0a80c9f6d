"""In how many blocks each set of values has its rows: a search by estimated cycles."""

import math
from collections.abc import Iterator, Mapping
from functools import cache

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interpreters.layouts import most_merged_rows
from xdsl_tpu.passes.fold_columns.choice import Prices as ArrayPrices
from xdsl_tpu.passes.fold_columns.choice import folds_of
from xdsl_tpu.passes.fold_columns.network import FEW_PASSES, PASSES, is_given
from xdsl_tpu.passes.fold_columns.network import network_of as columns_of
from xdsl_tpu.passes.fold_rows.network import (
    Crossing,
    Edge,
    Network,
    Values,
    blocks_shape,
    halo_of,
)
from xdsl_tpu.passes.fold_search import Estimate
from xdsl_tpu.passes.tensors import is_weight, shape_of

MOST = 16
"""The most blocks."""

MOVE_PASSES = 9
"""What rows that leave or join their lanes take for each EU width of all lanes, about."""

KEPT = 2
"""An op of a group may take one part of so many of local memory: values that live longer, weights
and what is loaded ahead take the others."""

SPILLED = 8
"""Of so many results that do not fit, one goes by way of DDR: groups keep the others in slices."""

GAIN = 0.9
"""What blocks must bring the estimate of a function down to, to be worth measuring."""

Folds = dict[Values, int]


class Prices:
    """Cycles of ops on blocks of rows, for elements of so many bytes."""

    def __init__(self, func: FuncOp, chip: Chip, width: int) -> None:
        self._chip, self._width = chip, width
        self._array = ArrayPrices(chip, width)
        self._columns = {edge.op: edge for edge in columns_of(func).edges}
        self.edge, self.op = cache(self._edge), cache(self._op)

    @property
    def lanes(self) -> int:
        """Of the chip."""
        return self._chip.lanes

    def _lines(self, shape: Shape) -> int:
        """EU widths of a lane."""
        images, channels, *rest = shape
        rounds = -(-channels // self._chip.lanes)
        return images * rounds * -(-math.prod(rest) * self._width // self._chip.eu_bytes)

    def move(self, shape: Shape) -> float:
        """From blocks to none, or back: within local memory, or by way of DDR."""
        chip = self._chip
        lines = -(-math.prod(shape) * self._width // (chip.eu_bytes * chip.lanes))
        return min(MOVE_PASSES * lines, self._travels(shape))

    def _travels(self, shape: Shape) -> float:
        """To DDR and back."""
        rates = self._chip.load_bytes_per_cycle / self._chip.store_bytes_per_cycle
        return self._array.load(shape) * (1 + rates)

    def _op(self, op: Operation, blocks: int) -> float:
        """An op whose values all have so many blocks."""
        shape = blocks_shape(shape_of(op.results[0]), blocks)
        passes = PASSES.get(type(op), FEW_PASSES if self._width == 1 else 1)
        return passes * self._lines(shape) + self._spilled(op, blocks)

    def _edge(self, edge: Edge, taken: int, given: int) -> tuple[float, int]:
        """The cheapest number of blocks between sets of values, after its price with all moves."""
        before, after = shape_of(edge.op.input), shape_of(edge.op.output)
        return min(
            (
                self._crossing(edge.op, blocks, taken == given == 1)
                + (self.move(before) if blocks != taken else 0)
                + (self.move(after) if blocks != given and edge.target is not None else 0),
                blocks,
            )
            for blocks in dict.fromkeys((taken, given, 1))
            if _can_have(edge, blocks)
        )

    def _crossing(self, op: Crossing, blocks: int, plain: bool) -> float:
        """An op on so many blocks; `plain` where nothing around it has any."""
        result = shape_of(op.output)
        if shape_of(op.output)[2] > 1:
            result = blocks_shape(result, blocks)
        before = blocks_shape(shape_of(op.input), blocks)
        spilled = self._spilled(op, blocks)
        if not isinstance(op, top.ConvOp):
            return max(self._lines(before), self._lines(result)) + spilled
        halo = halo_of(op)
        beside = self._lines(before) if blocks > 1 and halo and any(halo) else 0
        if is_given(op.input):
            return beside  # other passes fill the array for these
        taps = math.prod(shape_of(op.filter)[2:])
        if op.group.value.data > 1:
            return taps * self._lines(result) + beside + spilled
        inputs, limit = before[1], most_merged_rows(self._width, self._chip.weight_lanes)
        rows = shape_of(op.filter)[2]
        if 1 < rows <= limit // inputs and plain:
            inputs, taps = inputs * rows, taps // rows
        places = result[0] * math.prod(result[2:])
        work = self._array.array(inputs, result[1], taps, places)
        return (min(work, self._in_columns(op)) if plain else work) + beside + spilled

    def _in_columns(self, op: top.ConvOp) -> float:
        """What a filter takes where columns are channels, which is decided behind this."""
        edge = self._columns.get(op)
        if edge is None:
            return float("inf")
        source, target = folds_of(edge.source.columns), folds_of(edge.target.columns)
        alike = [(fold, fold) for fold in source if fold in target]
        return min(self._array.way(edge, *ways)[0] for ways in [(1, 1), *alike])

    def _spilled(self, op: Operation, blocks: int) -> float:
        """What it takes that the op's values do not fit local memory all at once."""
        images = [v for v in (*op.operands, *op.results) if not is_none(v) and not is_weight(v)]
        room = sum(self._lines(self._seen(value, blocks)) for value in images)
        if room * self._chip.eu_bytes * KEPT <= self._chip.local_bytes:
            return 0
        return self._travels(shape_of(op.results[0])) / SPILLED

    def _seen(self, value: SSAValue, blocks: int) -> Shape:
        shape = (*shape_of(value), 1, 1)[:4] if len(shape_of(value)) < 4 else shape_of(value)
        return blocks_shape(shape, blocks) if shape[2] % blocks == 0 else shape


def _can_have(edge: Edge, blocks: int) -> bool:
    """Whether both sides have rows for so many blocks, and a halo no more than a block."""
    rows, result = shape_of(edge.op.input)[2], shape_of(edge.op.output)[2]
    if rows % blocks or (edge.target is not None and result % blocks):
        return False
    halo = halo_of(edge.op) if isinstance(edge.op, top.ConvOp) else None
    return blocks == 1 or halo is None or max(halo) <= rows // blocks


def choose_folds(network: Network, prices: Prices) -> Folds | None:
    """The blocks of every set of values, 1 for those that stay: sets of as many rows together
    first, then one by one, as long as that gains. None where nothing is to be folded."""
    sets = network.sets()
    narrow = [one for one in sets if one.filtered and one.narrowest < prices.lanes]
    if not narrow:
        return None
    total = _Total(network, prices)
    folds, best = total.least(narrow, lambda one: one.rows, blocks_of)
    first = total(dict.fromkeys(sets, 1))
    return folds if best < GAIN * first else None


def blocks_of(rows: int) -> Iterator[int]:
    """The numbers of blocks that so many rows can have."""
    return (blocks for blocks in range(2, min(MOST, rows) + 1) if rows % blocks == 0)


class _Total(Estimate[Values, Edge]):
    """The estimate of a whole network."""

    def __init__(self, network: Network, prices: Prices) -> None:
        self._prices = prices
        super().__init__(network.edges, network.sets())

    def ends(self, edge: Edge) -> tuple[Values, ...]:
        return (edge.source,) if edge.target is None else (edge.source, edge.target)

    def edge(self, edge: Edge, folds: Mapping[Values, int]) -> float:
        target = folds[edge.source] if edge.target is None else folds[edge.target]
        return self._prices.edge(edge, folds[edge.source], target)[0]

    def values(self, values: Values, fold: int) -> float:
        work = sum(self._prices.op(op, fold) for op in values.worked)
        if fold > 1:
            work += sum(self._prices.move(shape_of(v)) for v in (*values.made, *values.read))
        return work
