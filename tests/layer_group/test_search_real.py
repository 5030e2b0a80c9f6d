"""Both searches on a real network: groups are found, and the optimal one is no slower."""

from collections.abc import Sequence

from tests.layer_group.group_samples import CHIP, real_network
from xdsl.ir import Operation

from xdsl_tpu.passes.layer_group.base_groups import base_groups
from xdsl_tpu.passes.layer_group.cost import Clock, CostTable
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.search import Searcher


def finished(ops: Sequence[Operation], groups: Sequence[Group]) -> float:
    """When the cost model is done with ops in these groups, the rest alone."""
    costs, clock = CostTable(ops, CHIP), Clock()
    first_of = {group.ops[0]: group for group in groups}
    place = 0
    while place < len(ops):
        group = first_of.get(ops[place])
        count = 1 if group is None else len(group.ops)
        cost = costs.of(place, place + count)
        is_straight = group is not None and group.secs.total == 1
        clock = clock.after_straight(cost) if is_straight else clock.after_alone(cost)
        place += count
    return clock.end


def test_optimal_groups_are_no_slower_than_greedy_ones() -> None:
    found = 0
    for base in base_groups(real_network("resnet50_bm1684x_f16").ops):
        if base.why_global is not None:
            continue
        searcher = Searcher(CHIP, lambda op, kind, slicing: 4096)
        greedy, optimal = searcher.greedy(base.ops), searcher.optimal(base.ops)
        assert finished(base.ops, optimal) <= finished(base.ops, greedy) * 1.02
        for groups in (greedy, optimal):
            inside = [op for group in groups for op in group.ops]
            assert len(inside) == len(set(inside))
        found += len(optimal)
    assert found
