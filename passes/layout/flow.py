"""Maximum flow through a network of arcs, by networkx, with whole numbers of any size."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

Node: TypeAlias = Hashable
Arc: TypeAlias = tuple[Node, Node, int]
SOURCE, SINK = "source", "sink"

Passes: TypeAlias = Callable[[Node, Node], bool]
"""Whether a search goes on from a node to another."""

networkx: Any = import_module("networkx")  # most of it has no types


@dataclass(frozen=True)
class Flow:
    """A maximum flow: its value, and of each arc and its reverse what flows and what can."""

    value: int
    arcs: Mapping[Node, Mapping[Node, Mapping[str, int]]]

    def on(self, tail: Node, head: Node) -> int:
        """What flows from `tail` to `head`, negative when it flows back."""
        arc = self.arcs[tail].get(head)
        return 0 if arc is None else arc["flow"]

    def is_full(self, tail: Node, head: Node) -> bool:
        """Whether nothing more can flow from `tail` to `head`."""
        arc = self.arcs[tail].get(head)
        return arc is None or arc["flow"] >= arc["capacity"]

    def from_source(self) -> set[Node]:
        """The nodes that more could flow to: the smallest source side of all minimum cuts."""
        return self._closure(SOURCE, lambda node, other: not self.is_full(node, other))

    def to_sink(self) -> set[Node]:
        """The nodes that more could come from: the smallest sink side of all minimum cuts."""
        return self._closure(SINK, lambda node, other: not self.is_full(other, node))

    def origins(self, node: Node) -> Iterator[Node]:
        """The nodes with flow from the source from which flow gets to `node`, near ones first."""
        for other in self._search(node, lambda one, before: self.on(before, one) > 0):
            if other != SOURCE and self.on(SOURCE, other) > 0:
                yield other

    def destinations(self, node: Node) -> Iterator[Node]:
        """The nodes with flow to the sink that flow from `node` gets to, near ones first."""
        for other in self._search(node, lambda one, after: self.on(one, after) > 0):
            if other != SINK and self.on(other, SINK) > 0:
                yield other

    def _closure(self, start: Node, passes: Passes) -> set[Node]:
        return set(self._search(start, passes))

    def _search(self, start: Node, passes: Passes) -> Iterator[Node]:
        """The nodes reached from `start`, near ones first."""
        seen, queue = {start}, [start]
        for node in queue:
            yield node
            for other in self.arcs[node]:
                if other not in seen and passes(node, other):
                    seen.add(other)
                    queue.append(other)


def maximum_flow(arcs: Iterable[Arc]) -> Flow:
    """A maximum flow from `SOURCE` to `SINK`; capacities of parallel arcs are added.

    By the algorithm of Boykov and Kolmogorov (An Experimental Comparison of Min-Cut/Max-Flow
    Algorithms for Energy Minimization in Vision, 2004), the fastest of networkx on such
    networks.
    """
    graph = networkx.DiGraph()
    graph.add_nodes_from((SOURCE, SINK))
    for tail, head, capacity in arcs:
        if graph.has_edge(tail, head):
            graph[tail][head]["capacity"] += capacity
        else:
            graph.add_edge(tail, head, capacity=capacity)
    residual = networkx.algorithms.flow.boykov_kolmogorov(graph, SOURCE, SINK)
    return Flow(residual.graph["flow_value"], residual.adj)


def some_path(arcs: Iterable[Arc]) -> list[Node]:
    """The nodes of a shortest path from `SOURCE` to `SINK`; there must be one."""
    graph = networkx.DiGraph()
    graph.add_edges_from((tail, head) for tail, head, _ in arcs)
    return networkx.shortest_path(graph, SOURCE, SINK)
