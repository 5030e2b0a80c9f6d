"""The search against everything that it could have found: all partitions, all cuts, one by one."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from tests.kernels.harness import Case
from tests.layer_group.small_nets import chain, prepared, residual

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.base_groups import base_groups, computing_ops, why_not_local
from xdsl_tpu.passes.layer_group.clock import Clock, SlicedCost
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.sections import max_sections
from xdsl_tpu.passes.layer_group.values import GroupType, Secs

MOST_SLICES = 16

Form = tuple[Group, SlicedCost | None]


def search_of(case: Case, local_bytes: int) -> OptimalSearch:
    """The search over a case, on a chip with less local memory."""
    _, _, function = divided_parts(prepared(case))
    chip = replace(load_chip(), local_bytes=local_bytes)
    prices = Prices(chip)
    bases = base_groups(computing_ops(function.body.block), why_not_local)
    return OptimalSearch(Searcher(chip, prices.scratch), prices, bases)


def forms(search: OptimalSearch, first: int, end: int) -> Iterator[Form]:
    """Every way to have ops[first:end] as one group: straight, or in any slices of n, c and h."""
    ops = search.ops[first:end]
    most = max_sections(ops, GroupType.NORMAL, search.chip)
    counts = [range(1, min(getattr(most, axis), MOST_SLICES) + 1) for axis in "nch"]
    for n, c, h in product(*counts):
        secs = Secs(n=n, c=c, h=h)
        group = search.searcher.plan(ops, secs) if secs.total <= MOST_SLICES else None
        if not isinstance(group, Group):
            continue
        cost = search.costs.sliced(group) if secs.total > 1 else None
        if secs.total == 1 or cost is not None:
            yield group, cost


def _beats(one: Clock, other: Clock) -> bool:
    return one != other and one.chain <= other.chain and one.gdma <= other.gdma


def best_of_all(search: OptimalSearch) -> float:
    """When the best of all partitions is done, each group in the best of its forms.

    Of every prefix all clocks are kept that no other is better than. What is done later in no
    respect is worth no more: a clock only ever waits for others.
    """
    costs = search.costs
    fronts: list[set[Clock]] = [{Clock()}]
    for end in range(1, len(search.ops) + 1):
        found = {costs.after_alone(clock, end - 1) for clock in fronts[end - 1]}
        for first in range(end):
            if any(search.is_global[first:end]):
                continue
            whole = costs.cost(first, end)
            straight = None if whole is None else costs.passage(first, whole)
            for group, cost in forms(search, first, end):
                if cost is not None:
                    ahead = costs.next_ahead(end - 1, group.plan.activations)
                    taken = cost.total, cost.moved, ahead
                    found |= {clock.after_alone(*taken) for clock in fronts[first]}
                elif straight is not None:
                    found |= {clock.after_straight(straight) for clock in fronts[first]}
        fronts.append({clock for clock in found if not any(_beats(one, clock) for one in found)})
    return min(clock.end for clock in fronts[-1])


USUAL_GAP = 1.008
"""The search tries powers of two of slices and half as many more, keeps one best way for each
prefix, and cuts no range that fits as it is."""

UNCUT_GAP = 1.07
"""Where a range fits as it is, but leaves so little room that few weights come ahead."""

CASES = {
    "chain": chain(4, 256, 24),
    "short chain": chain(3, 384, 14),
    "residual": residual(40, 130),
    "small residual": residual(28, 70),
}


@pytest.mark.parametrize("local_bytes", [4096, 8192, 16384])
@pytest.mark.parametrize("name", CASES)
def test_nothing_is_much_better_than_what_is_found(name: str, local_bytes: int) -> None:
    search = search_of(CASES[name], local_bytes)
    found, best = search.planned()[-1].after.end, best_of_all(search)
    gap = UNCUT_GAP if (name, local_bytes) == ("chain", 16384) else USUAL_GAP
    assert best <= found <= gap * best
