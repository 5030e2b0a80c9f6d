"""Both searches on a real network: groups are found, and the optimal one is no slower."""

from collections.abc import Sequence

import pytest
from tests.layer_group.group_samples import CHIP, real_network

from xdsl_tpu.passes.layer_group import optimal as module
from xdsl_tpu.passes.layer_group.base_groups import base_groups
from xdsl_tpu.passes.layer_group.clock import Clock
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.parts import Part, spans, timed
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher


def finished(search: OptimalSearch, groups: Sequence[Group]) -> float:
    """When the search's costs say that all ops are done, in these groups and the rest alone."""
    first_of = {group.ops[0]: group for group in groups}
    parts, place = list[Part](), 0
    while place < len(search.ops):
        group = first_of.get(search.ops[place])
        end = place + (1 if group is None else len(group.ops))
        parts.append(Part(place, end, group, Clock(), Clock()))
        place = end
    return timed(parts, search.costs)[-1].after.end


def test_optimal_groups_are_no_slower_than_greedy_ones() -> None:
    bases = base_groups(real_network("resnet50_bm1684x_f16").ops)
    prices = Prices(CHIP)
    searcher = Searcher(CHIP, prices.scratch)
    search = OptimalSearch(searcher, prices, bases)
    optimal = search.run()
    runs = [base.ops for base in bases if base.why_global is None]
    greedy = [group for run in runs for group in searcher.greedy(run)]
    assert finished(search, optimal) <= finished(search, greedy)
    assert finished(search, optimal) == search.parts[-1].after.end
    for groups in (greedy, optimal):
        inside = [op for group in groups for op in group.ops]
        assert len(inside) == len(set(inside))
    assert optimal


@pytest.mark.parametrize(("share", "is_second"), [(0.999, True), (1.0, True), (1.001, False)])
def test_a_second_search_counts_where_it_ends_clearly_sooner(
    share: float, is_second: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All ops alone, then the best groups: these take at least so much less time."""
    bases = base_groups(real_network("mobilenetv2_100_bm1684x_f16").ops)
    prices = Prices(CHIP)
    search = OptimalSearch(Searcher(CHIP, prices.scratch), prices, bases)
    search.run()
    second = search.parts
    alone = [Part(n, n + 1, None, Clock(), Clock()) for n in range(len(search.ops))]
    first = timed(alone, search.costs)
    search.costs.set_ring([part.group for part in second if part.group is not None])
    limit = timed(second, search.costs)[-1].after.end / first[-1].after.end
    assert limit < 0.9
    monkeypatch.setattr(module, "SOONER", limit / share)
    for found, expected in (
        ((first, second), second if is_second else first),
        ((second, first), second),
    ):
        replies = iter(found)
        monkeypatch.setattr(search, "planned", lambda replies=replies: next(replies))
        search.run()
        assert spans(search.parts) == spans(expected)


def test_parts_have_the_clocks_that_the_search_found() -> None:
    bases = base_groups(real_network("swin_t_bm1684x_f16").ops)
    prices = Prices(CHIP)
    search = OptimalSearch(Searcher(CHIP, prices.scratch), prices, bases)
    search.run()
    assert timed(search.parts, search.costs) == search.parts
