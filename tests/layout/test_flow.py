"""A flow proves itself: what flows in flows out, and a cut of the same capacity allows no more."""

import random

import pytest

from xdsl_tpu.passes.layout.flow import SINK, SOURCE, Arc, Node, maximum_flow, some_path


def _random_arcs(rng: random.Random) -> list[Arc]:
    """Some arcs are there twice, lead back, or carry nothing; capacities may be huge."""
    nodes: list[Node] = [SOURCE, SINK, *range(rng.randint(1, 12))]
    largest = rng.choice((1, 10, 10**30))
    count = rng.randint(0, 4 * len(nodes))
    return [
        (rng.choice(nodes), rng.choice(nodes), rng.randint(0, largest)) for _ in range(count)
    ] + [(SOURCE, 0, 1), (0, SINK, 1)]


def _between(arcs: list[Arc], side: set[Node]) -> int:
    """What the arcs that leave a set of nodes can carry."""
    return sum(much for tail, head, much in arcs if tail in side and head not in side)


@pytest.mark.parametrize("seed", range(200))
def test_a_flow_is_as_large_as_the_cuts_on_both_sides(seed: int) -> None:
    arcs = _random_arcs(random.Random(seed))
    flow = maximum_flow(arcs)
    nodes = {node for arc in arcs for node in arc[:2]}
    for node in nodes:
        out = sum(flow.on(node, other) for other in nodes if other in flow.arcs[node])
        assert out == {SOURCE: flow.value, SINK: -flow.value}.get(str(node), 0)
    for tail in nodes:
        for head in flow.arcs[tail]:
            can = sum(much for one, other, much in arcs if (one, other) == (tail, head))
            assert flow.on(tail, head) <= can
            assert flow.is_full(tail, head) == (flow.on(tail, head) == can)
    source, sink = flow.from_source(), flow.to_sink()
    assert _between(arcs, source) == _between(arcs, nodes - sink) == flow.value
    assert not source & sink


def test_the_sides_are_the_smallest_of_all_minimum_cuts() -> None:
    arcs: list[Arc] = [(SOURCE, 0, 3), (0, 1, 3), (1, SINK, 3)]
    flow = maximum_flow(arcs)
    assert (flow.value, flow.from_source(), flow.to_sink()) == (3, {SOURCE}, {SINK})


def test_a_flow_goes_back_where_the_first_path_was_wrong() -> None:
    arcs: list[Arc] = [(SOURCE, 0, 1), (0, 1, 1), (1, SINK, 1), (SOURCE, 1, 1), (0, 2, 1)]
    assert maximum_flow([*arcs, (2, 3, 1), (3, SINK, 1)]).value == 2


def test_nothing_flows_where_no_path_leads() -> None:
    flow = maximum_flow([(SOURCE, 0, 5), (1, SINK, 5)])
    assert (flow.value, flow.from_source(), flow.to_sink()) == (0, {SOURCE, 0}, {SINK, 1})


def test_some_path_is_a_shortest_one() -> None:
    arcs: list[Arc] = [(SOURCE, 0, 1), (0, 1, 1), (1, SINK, 1), (0, 2, 1), (2, 3, 1), (3, SINK, 1)]
    assert some_path(arcs) == [SOURCE, 0, 1, SINK]
