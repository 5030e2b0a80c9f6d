"""Ranges that end at the same place share most of their ops, which are asked once."""

from collections import Counter
from typing import Any

import pytest
from tests.layer_group.small_nets import chain
from tests.layer_group.test_alike import search_of
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes import even_loads
from xdsl_tpu.passes.layer_group import prices as priced
from xdsl_tpu.passes.layer_group import sections
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.prices import Part, Prices
from xdsl_tpu.passes.layer_group.slicing import Slicing
from xdsl_tpu.passes.layer_group.values import GroupType, Secs

IN_TWO = Secs(h=2)


def test_scratch_of_equal_slices_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Counter[Operation]()
    by_places = Prices._by_places  # pyright: ignore[reportPrivateUsage]

    def counted(self: Prices, op: Operation, kind: GroupType, slicing: Slicing) -> object:
        asked[op] += 1
        return by_places(self, op, kind, slicing)

    monkeypatch.setattr(Prices, "_by_places", counted)
    search = search_of(chain(6))
    searcher, ops = search.searcher, search.ops
    asked.clear()
    assert isinstance(searcher.plan(ops[2:], IN_TWO), Group)
    first = asked.total()
    assert isinstance(searcher.plan(ops[1:], IN_TWO), Group)
    assert 0 < asked.total() <= first + 1, "only the op that is new"
    assert max(asked.values()) == 1


def test_scratch_is_that_of_other_slices_where_slices_are_others() -> None:
    """What was asked before changes nothing."""
    search = search_of(chain(6))
    for rows in (1, 2, 4, 2, 1):
        secs, fresh = Secs(h=rows), search_of(chain(6))
        known, alone = search.searcher.plan(search.ops, secs), fresh.searcher.plan(fresh.ops, secs)
        assert isinstance(known, Group)
        assert isinstance(alone, Group)
        assert list(known.plan.scratch_bytes.values()) == list(alone.plan.scratch_bytes.values())


@pytest.mark.parametrize("secs", [Secs(), IN_TWO])
def test_kernels_that_gave_their_scratch_are_not_run_for_their_cycles(
    monkeypatch: pytest.MonkeyPatch, secs: Secs
) -> None:
    measured = Counter[str]()
    measure = priced.measure

    def counted(op: Operation, *args: Any) -> object:
        measured[op.name] += 1
        return measure(op, *args)

    monkeypatch.setattr(priced, "measure", counted)
    search, fresh = search_of(chain(6)), search_of(chain(6))
    group = search.searcher.plan(search.ops, secs)
    assert isinstance(group, Group)
    before = measured.copy()
    slicing = None if secs.total == 1 else group.slicing
    part = Part(search.chip.lanes, slicing)
    cycles = [search.costs.prices.compute(op, part) for op in search.ops]
    assert measured == before
    alone = fresh.searcher.plan(fresh.ops, secs)
    assert isinstance(alone, Group)
    part = Part(search.chip.lanes, None if slicing is None else alone.slicing)
    assert cycles == [Prices(search.chip).compute(op, part) for op in fresh.ops]


def test_sections_of_an_op_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Counter[SSAValue]()
    found = sections._result_sections  # pyright: ignore[reportPrivateUsage]

    def counted(op: Operation, result: SSAValue, kind: GroupType, chip: Chip) -> Secs:
        asked[result] += 1
        return found(op, result, kind, chip)

    monkeypatch.setattr(sections, "_result_sections", counted)
    search = search_of(chain(6))
    searcher, ops = search.searcher, search.ops
    ranges = [ops, ops[1:], ops[2:4]]
    assert [list(searcher.sections(part)) for part in ranges]
    assert max(asked.values()) == 1
    fresh = search_of(chain(6))
    for part, other in zip(ranges, (fresh.ops, fresh.ops[1:], fresh.ops[2:4]), strict=True):
        assert list(searcher.sections(part)) == list(fresh.searcher.sections(other))


def test_readers_are_looked_for_where_rows_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of values in long rows nobody asks who reads them."""
    search = search_of(chain(6))
    block, looked = search.ops[0].parent, Counter[str]()
    assert block is not None
    ops = even_loads.computing_ops

    def counted(*args: object) -> object:
        looked["ops"] += 1
        return ops(block)

    monkeypatch.setattr(even_loads, "computing_ops", counted)
    even_loads.load_evenly(block, search.chip)
    assert looked["ops"] == 1
    assert not any(isinstance(op, tpu.RearrangeOp) for op in block.ops)
