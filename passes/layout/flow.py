"""Maximum flow through a network of arcs, with whole numbers of any size."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

Node: TypeAlias = Hashable
Arc: TypeAlias = tuple[Node, Node, int]
SOURCE, SINK = "source", "sink"

Passes: TypeAlias = Callable[[Node, Node], bool]
"""Whether a search goes on from a node to another."""


@dataclass(frozen=True)
class Flow:
    """A maximum flow: its value, what can flow from node to node, and what more could."""

    value: int
    arcs: Mapping[Node, Mapping[Node, int]]
    left: Mapping[Node, Mapping[Node, int]]

    def on(self, tail: Node, head: Node) -> int:
        """What flows from `tail` to `head`, negative when it flows back."""
        return self.arcs[tail].get(head, 0) - self.left[tail].get(head, 0)

    def is_full(self, tail: Node, head: Node) -> bool:
        """Whether nothing more can flow from `tail` to `head`."""
        return self.left[tail].get(head, 0) <= 0

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

    Flow is pushed along shortest paths until there are none of that length, then along longer
    ones (Dinic, Algorithm for Solution of a Problem of Maximum Flow in Networks, 1970).
    """
    capacity = _capacities(arcs)
    left = {node: dict(heads) for node, heads in capacity.items()}
    value = 0
    while SINK in (levels := _levels(left)):
        ways = {
            node: [head for head, more in heads.items() if more and levels.get(head) == level + 1]
            for node, heads in left.items()
            if (level := levels.get(node)) is not None
        }
        while path := _path(ways):
            value += _push(path, left, ways)
    return Flow(value, capacity, left)


def _capacities(arcs: Iterable[Arc]) -> dict[Node, dict[Node, int]]:
    """What can flow from node to node; of arcs in one direction also that nothing can go back."""
    capacity: dict[Node, dict[Node, int]] = {SOURCE: {}, SINK: {}}
    for tail, head, much in arcs:
        heads, back = capacity.setdefault(tail, {}), capacity.setdefault(head, {})
        if tail == head:
            continue
        heads[head] = heads.get(head, 0) + much
        back.setdefault(tail, 0)
    return capacity


def _levels(left: Mapping[Node, Mapping[Node, int]]) -> dict[Node, int]:
    """How far from the source nodes are that more can flow to."""
    levels: dict[Node, int] = {SOURCE: 0}
    queue: list[Node] = [SOURCE]
    for node in queue:
        for head, more in left[node].items():
            if more and head not in levels:
                levels[head] = levels[node] + 1
                queue.append(head)
    return levels


def _path(ways: Mapping[Node, list[Node]]) -> list[Node]:
    """A path from source to sink; ways that lead nowhere go. Empty when there is none."""
    path: list[Node] = [SOURCE]
    while path[-1] != SINK:
        heads = ways.get(path[-1])
        if heads:
            path.append(heads[-1])
            continue
        path.pop()
        if not path:
            return []
        ways[path[-1]].pop()
    return path


def _push(
    path: Sequence[Node],
    left: Mapping[Node, dict[Node, int]],
    ways: Mapping[Node, list[Node]],
) -> int:
    """Send as much along a path as its arcs take; ways of full ones go."""
    arcs = list(pairwise(path))
    much = min(left[tail][head] for tail, head in arcs)
    for tail, head in arcs:
        left[tail][head] -= much
        left[head][tail] += much
        if not left[tail][head]:
            ways[tail].pop()
    return much


def some_path(arcs: Iterable[Arc]) -> list[Node]:
    """The nodes of a shortest path from `SOURCE` to `SINK`; there must be one."""
    heads: dict[Node, list[Node]] = {}
    for tail, head, _ in arcs:
        heads.setdefault(tail, []).append(head)
    before: dict[Node, Node] = {}
    queue: list[Node] = [SOURCE]
    for node in queue:
        for head in heads.get(node, ()):
            if head not in before and head != SOURCE:
                before[head] = node
                queue.append(head)
    path: list[Node] = [SINK]
    while path[-1] != SOURCE:
        path.append(before[path[-1]])
    return path[::-1]
