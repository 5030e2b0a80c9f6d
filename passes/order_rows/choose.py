"""Labels for nodes such that a sum of tables over a few nodes each is least."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

Costs = NDArray[np.float64]

MOST_ENTRIES = 200_000
"""Of one table: more take longer than the result is worth."""


class TooLargeError(Exception):
    """A table has more than `MOST_ENTRIES` entries."""


@dataclass(frozen=True)
class Table:
    """Costs of the labels of some nodes, one axis for each."""

    nodes: tuple[int, ...]
    costs: Costs


def best_labels(sizes: Sequence[int], tables: Sequence[Table]) -> list[int]:
    """The labels of least cost of nodes that have `sizes` labels each.

    Nodes are eliminated one by one, first that which leaves the smallest table: exact, and fast
    where the graph is nearly a path, as networks are (bucket elimination; Dechter 1999).
    Raises TooLargeError where they are not.
    """
    near: list[list[Table]] = [[] for _ in sizes]
    for table in tables:
        for node in table.nodes:
            near[node].append(table)
    order: list[tuple[int, tuple[int, ...], Costs]] = []
    entries = {node: _entries(near[node], sizes) for node in range(len(sizes))}
    while entries:
        node = min(entries, key=lambda one: (entries[one], one))
        del entries[node]
        own = near[node]
        scope = tuple(sorted({one for table in own for one in table.nodes} | {node}))
        if prod(sizes[one] for one in scope) > MOST_ENTRIES:
            raise TooLargeError
        total = np.zeros([sizes[one] for one in scope])
        for table in own:
            total = total + _spread(table, scope)
        axis = scope.index(node)
        rest = tuple(one for one in scope if one != node)
        order.append((node, rest, total.argmin(axis)))
        made = Table(rest, total.min(axis))
        for one in rest:
            near[one] = [*(table for table in near[one] if node not in table.nodes), made]
            entries[one] = _entries(near[one], sizes)
    labels: dict[int, int] = {}
    for node, rest, choice in reversed(order):
        labels[node] = int(choice[tuple(labels[one] for one in rest)])
    return [labels[node] for node in range(len(sizes))]


def cost_of(labels: Mapping[int, int] | Sequence[int], tables: Sequence[Table]) -> float:
    """What a choice costs in all."""
    return sum(float(t.costs[tuple(labels[node] for node in t.nodes)]) for t in tables)


def _entries(tables: Sequence[Table], sizes: Sequence[int]) -> int:
    return prod(sizes[one] for one in {one for table in tables for one in table.nodes})


def _spread(table: Table, scope: tuple[int, ...]) -> Costs:
    """A table's costs with an axis for every node of `scope`, in its order."""
    order = sorted(range(len(table.nodes)), key=lambda at: scope.index(table.nodes[at]))
    costs = table.costs.transpose(order)
    sizes = iter(costs.shape)
    return costs.reshape([next(sizes) if one in table.nodes else 1 for one in scope])
