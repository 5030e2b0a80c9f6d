"""What orders of rows cost: where they change, everything that is still needed leaves the chip."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder, Moves
from xdsl_tpu.passes.layer_group.base_groups import why_not_local
from xdsl_tpu.passes.order_rows.choose import (
    MOST_ENTRIES,
    Table,
    TooLargeError,
    best_labels,
    cost_of,
)
from xdsl_tpu.passes.order_rows.network import Component, Read
from xdsl_tpu.passes.order_rows.rows import rows_of
from xdsl_tpu.passes.tensors import element_bytes

SEVERAL = 2
"""Orders from which on there is a choice."""


def choose(component: Component, chip: Chip) -> dict[SSAValue, int] | None:
    """The best order of every value; None when it is the one that it has, or hard to find."""
    if len(component.maps) < SEVERAL:
        return None
    problem = _Problem(component, chip)
    try:
        tables = problem.tables()
        labels = best_labels(problem.sizes, tables)
        given = best_labels(problem.sizes, [*tables, *problem.as_given()])
    except TooLargeError:
        return None
    if cost_of(labels, tables) >= cost_of(given, tables):
        return None
    return component.given | {v: labels[n] for v, n in problem.orders.items()}


@dataclass
class _Problem:
    """Nodes are the orders of values that are free, and for each op whether values are stored and
    loaded again in front of it.

    A value in an order that is not its own is made in front of the first op that needs it so. What
    was made before that op and is needed by it or later then is stored and loaded, too.
    """

    component: Component
    chip: Chip
    sizes: list[int] = field(default_factory=list[int])
    orders: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    breaks: dict[Operation, int] = field(default_factory=dict[Operation, int])
    _place: dict[Operation, int] = field(default_factory=dict[Operation, int])

    def tables(self) -> list[Table]:
        """Costs in cycles."""
        graph, component = self.component.graph, self.component
        for value in component.free:
            self.orders[value] = len(self.sizes)
            self.sizes.append(len(component.maps))
        reads = [read for value in component.given for read in graph.readers.get(value, ())]
        block = next(iter(component.free)).owner.parent_block()
        assert block is not None
        self._place = {op: place for place, op in enumerate(block.ops)}
        for op in dict.fromkeys(read.op for read in reads):
            self.breaks[op] = len(self.sizes)
            self.sizes.append(2)
        tables = [self._changed(value) for value in self.orders]
        tables += [self._stored(op) for op in self.breaks if not _goes_to_ddr(op)]
        tables += [self._moved(value) for value in component.given if not _comes_from_ddr(value)]
        return tables

    def as_given(self) -> list[Table]:
        """Tables that allow only the orders that values have."""
        found: list[Table] = []
        for value, node in self.orders.items():
            costs = np.full(self.sizes[node], inf)
            costs[self.component.given[value]] = 0
            found.append(Table((node,), costs))
        return found

    def _changed(self, value: SSAValue) -> Table:
        """A little, so that nothing is changed for nothing."""
        node = self.orders[value]
        costs = np.ones(self.sizes[node])
        costs[self.component.given[value]] = 0
        return Table((node,), costs)

    def _stored(self, op: Operation) -> Table:
        """Cycles of storing and loading all that is needed by an op or behind it."""
        total = 0.0
        for value in self.component.given:
            reads = self.component.graph.readers.get(value, ())
            last = max((self._place[read.op] for read in reads), default=-1)
            if self._made(value) < self._place[op] <= last:
                total += self._there_and_back(value)
        return Table((self.breaks[op],), np.array([0.0, total]))

    def _made(self, value: SSAValue) -> int:
        owner = value.owner
        return self._place.get(owner, -1) if isinstance(owner, Operation) else -1

    def _there_and_back(self, value: SSAValue) -> float:
        rows = rows_of(value)
        assert rows is not None
        size = rows.count * max(rows.width * element_bytes(value), self.chip.ddr_row_bytes)
        return size / self.chip.store_bytes_per_cycle + size / self.chip.load_bytes_per_cycle

    def _moved(self, value: SSAValue) -> Table:
        """Infinite where readers need a value in another order and nothing is stored for them."""
        graph, component = self.component.graph, self.component
        reads = sorted(graph.readers.get(value, ()), key=lambda read: self._place[read.op])

        def cost(own: int, *labels: int) -> float:
            orders, stored = labels[: len(reads)], labels[len(reads) :]
            first = {order: number for number, order in reversed(list(enumerate(orders)))}
            there = all(stored[number] for order, number in first.items() if order != own)
            return 0.0 if there else inf

        nodes = [self._node(value), *map(self._order_read, reads)]
        fixed = [component.given[value], *(component.wanted[read] for read in reads)]
        breaks = [self.breaks[read.op] for read in reads]
        return self._tabled([*nodes, *breaks], [*fixed, *(0 for _ in breaks)], cost)

    def _node(self, value: SSAValue) -> int | None:
        return self.orders.get(value)

    def _order_read(self, read: Read) -> int | None:
        return self._node(read.op.results[0]) if self.component.graph.is_read(read) else None

    def _tabled(
        self, nodes: Sequence[int | None], fixed: Sequence[int], cost: Callable[..., float]
    ) -> Table:
        """The costs of all labels of nodes; where there is no node, of the one in `fixed`.

        Raises TooLargeError when there are too many.
        """
        axes = tuple(sorted({node for node in nodes if node is not None}))
        sizes = [self.sizes[axis] for axis in axes]
        if np.prod(sizes, dtype=float) > MOST_ENTRIES:
            raise TooLargeError
        costs = np.zeros(sizes)
        for labels in product(*map(range, sizes)):
            at = dict(zip(axes, labels, strict=True))
            given = zip(nodes, fixed, strict=True)
            costs[labels] = cost(*(one if node is None else at[node] for node, one in given))
        return Table(axes, costs)


def _goes_to_ddr(op: Operation) -> bool:
    """Whether an op, or one behind views of its result, moves elements from DDR to DDR."""
    if isinstance(op, KeepsOrder):
        return any(_goes_to_ddr(use.operation) for use in op.results[0].uses)
    return isinstance(op, Moves) and why_not_local(op) is not None


def _comes_from_ddr(value: SSAValue) -> bool:
    """Whether an op makes a value, or what it is a view of, that moves elements in DDR."""
    op = value.owner
    if isinstance(op, KeepsOrder):
        return _comes_from_ddr(op.operands[0])
    return isinstance(op, Moves) and why_not_local(op) is not None
