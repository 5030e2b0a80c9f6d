"""Labels 0 and 1 for nodes, such that costs of nodes and of pairs of them are least."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl_tpu.passes.layout.flow import SINK, SOURCE, Arc, maximum_flow

Pair: TypeAlias = tuple[int, int]
Table: TypeAlias = tuple[int, int, int, int]
"""Costs of a pair of nodes when their labels are 00, 01, 10 and 11."""

_ROUNDS = 8
"""How often all nodes are tried alone at the end; two are enough in the networks that were seen."""


@dataclass(frozen=True)
class Labelling:
    """Costs of labels: of each node alone, and of pairs of nodes (the lower number first)."""

    nodes: Sequence[Pair]
    pairs: Mapping[Pair, Table]

    def cost(self, labels: Sequence[int]) -> int:
        """What a choice costs in all."""
        alone = sum(cost[label] for cost, label in zip(self.nodes, labels, strict=True))
        return alone + sum(t[2 * labels[a] + labels[b]] for (a, b), t in self.pairs.items())

    def best(self) -> list[int]:
        """The labels of least cost, by a minimum cut.

        Pairs may prefer to be alike or to differ. Where the preferences along a cycle of pairs
        contradict each other no cut says which is best: one pair of the cycle is left out, and the
        result improved node by node (Boros and Hammer, Pseudo-Boolean Optimization, 2002).
        """
        signs = self._signs()
        flow = maximum_flow(self._arcs(signs))
        ones = flow.from_source()
        labels = [int(node in ones) ^ sign for node, sign in enumerate(signs)]
        return self._improved(labels)

    def _signs(self) -> list[int]:
        """Which nodes to count with the other label, for all pairs to prefer to be alike."""
        near: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for (a, b), table in self.pairs.items():
            differ = int(_alike(table) < 0)
            near[a].append((b, differ))
            near[b].append((a, differ))
        signs: dict[int, int] = {}
        for first in range(len(self.nodes)):
            if first in signs:
                continue
            signs[first] = 0
            queue = [first]
            for node in queue:
                for other, differ in near[node]:
                    if other not in signs:
                        signs[other] = signs[node] ^ differ
                        queue.append(other)
        return [signs[node] for node in range(len(self.nodes))]

    def _arcs(self, signs: Sequence[int]) -> list[Arc]:
        """Nodes on the side of the source have label 1 in the counting of `signs`."""
        ones = [cost[1 ^ sign] - cost[sign] for cost, sign in zip(self.nodes, signs, strict=True)]
        arcs: list[Arc] = []
        for (a, b), given in self.pairs.items():
            table = _turned(given, signs[a], signs[b])
            if _alike(table) < 0:
                continue
            both_zero, _, one_zero, both_one = table
            ones[a] += one_zero - both_zero
            ones[b] += both_one - one_zero
            arcs.append((b, a, _alike(table)))
        for node, extra in enumerate(ones):
            arcs.append((SOURCE, node, max(-extra, 0)))
            arcs.append((node, SINK, max(extra, 0)))
        return arcs

    def _improved(self, labels: list[int]) -> list[int]:
        own: dict[int, list[tuple[Pair, Table]]] = defaultdict(list)
        for pair, table in self.pairs.items():
            for node in pair:
                own[node].append((pair, table))

        def local(node: int) -> int:
            pairs = sum(t[2 * labels[a] + labels[b]] for (a, b), t in own[node])
            return self.nodes[node][labels[node]] + pairs

        for _ in range(_ROUNDS):
            changed = False
            for node in range(len(labels)):
                before = local(node)
                labels[node] ^= 1
                if local(node) < before:
                    changed = True
                else:
                    labels[node] ^= 1
            if not changed:
                break
        return labels


def _alike(table: Table) -> int:
    """How much more it costs to differ than to be alike."""
    return table[1] + table[2] - table[0] - table[3]


def _turned(table: Table, first: int, second: int) -> Table:
    places = [2 * (a ^ first) + (b ^ second) for a in (0, 1) for b in (0, 1)]
    return table[places[0]], table[places[1]], table[places[2]], table[places[3]]


def added(one: Table, other: Table) -> Table:
    """The costs of both."""
    a, b, c, d = (x + y for x, y in zip(one, other, strict=True))
    return a, b, c, d
