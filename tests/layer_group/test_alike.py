"""Ranges that are alike cost the same, and cost is found once for them."""

import pytest
from tests.kernels.harness import Case
from tests.layer_group.small_nets import chain, interrupted, prepared, residual

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.alike import Alikeness
from xdsl_tpu.passes.layer_group.base_groups import base_groups, computing_ops, why_not_local
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher


def search_of(case: Case) -> OptimalSearch:
    """The search over a case, for two cores."""
    _, _, function = divided_parts(prepared(case))
    chip = load_chip()
    prices = Prices(chip)
    bases = base_groups(computing_ops(function.body.block), why_not_local)
    return OptimalSearch(Searcher(chip, prices.scratch, cores=2), prices, bases)


def numbers(search: OptimalSearch) -> tuple[int, ...]:
    made = Alikeness(search.ops, search.costs.moves, search.costs.prices.signature)
    return made.of(0, len(search.ops))


@pytest.mark.parametrize("case", [chain(8), residual(), interrupted()], ids=["chain", "sum", "gap"])
def test_what_is_alike_costs_the_same(case: Case) -> None:
    """Whatever was asked before, a range costs what it costs by itself."""
    search, fresh = search_of(case), search_of(case)
    found = 0
    for end in range(1, len(search.ops) + 1):
        for secs in search.searcher.shares(search.ops[end - 1 : end]):
            for start in range(end):
                known = search._known_share(start, end, secs)  # pyright: ignore[reportPrivateUsage]
                alone = fresh._share(start, end, secs)  # pyright: ignore[reportPrivateUsage]
                assert known == alone, (start, end, secs)
                found += known is not None
    assert found


def test_repeated_ops_have_one_number() -> None:
    """All but those next to an end, whose neighbours are others."""
    of_all = numbers(search_of(chain(8)))
    assert len(of_all) >= 8
    assert len(set(of_all)) < len(of_all) / 2
