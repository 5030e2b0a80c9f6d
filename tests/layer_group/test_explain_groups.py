"""What `layer-group="explain=true"` says about boundaries."""

import inspect
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.kernels.harness import Case
from tests.layer_group.random_nets import convolutional, of_tokens
from tests.layer_group.small_nets import (
    chain,
    grouped_by_pass,
    interrupted,
    prepared,
    residual,
)
from tests.passes.real_networks import example
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import CHIPS, load_chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.base_groups import base_groups, computing_ops
from xdsl_tpu.passes.layer_group.clock import Clock
from xdsl_tpu.passes.layer_group.explain import explain, shortfall
from xdsl_tpu.passes.layer_group.layer_group import WITHOUT_EFFECT, LayerGroupPass
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.optimal import OptimalSearch
from xdsl_tpu.passes.layer_group.prices import Prices
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.values import Refusal, Secs
from xdsl_tpu.passes.pipelines import STAGES, Settings, run_stage


def test_lines_and_json_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "why.json"
    grouped_by_pass(interrupted(), explain=True, explain_file=str(path))
    first, *lines = capsys.readouterr().err.splitlines()
    assert first.startswith("2 boundaries: 2 no local form, 0 shape rule")
    found = json.loads(path.read_text())["boundaries"]
    assert [one["kind"] for one in found] == ["no local form"] * 2
    for line, one in zip(lines, found, strict=True):
        assert line == f"  {one['before']} | {one['after']}: {one['reason']}"
    assert found[0]["before"] == "group of 2 ops 'a' .. 'b'"
    assert found[0]["after"] == "'p' (tpu.Permute)"
    assert (found[0]["last"], found[0]["first"]) == ("b", "p")


def test_nothing_is_printed_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    grouped_by_pass(interrupted())
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", sorted(WITHOUT_EFFECT))
def test_options_without_effect_say_so(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever they are set to, also to what the vendor's pass takes when it is told nothing."""
    values: dict[str, object] = {"debugger": 0, "disable_group_overlap": False}
    grouped_by_pass(interrupted(), **{name: values.get(name, "")})
    note = f"note: layer-group: no effect: {name} ({WITHOUT_EFFECT[name]})\n"
    assert capsys.readouterr().err == note


def test_options_without_effect_for_one_reason_share_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    grouped_by_pass(interrupted(), opt=1, group_by_cores="auto", lgcache="true", lghash_dir="x")
    cores, cache = capsys.readouterr().err.splitlines()
    assert "no effect: group_by_cores (the chip has one core)" in cores
    assert "no effect: lgcache, lghash_dir (the search keeps no cache" in cache


def test_every_other_option_has_an_effect() -> None:
    """An option that nothing reads is one of those that say so."""
    source = inspect.getsource(inspect.getmodule(LayerGroupPass) or LayerGroupPass)
    options = {field.name for field in fields(LayerGroupPass) if field.init}
    read = {name for name in options if f"self.{name}" in source}
    assert options - read == set(WITHOUT_EFFECT)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(TpuError, match=r"explain_file .*cannot be written"):
        grouped_by_pass(chain(2), explain_file=str(tmp_path / "missing" / "why.json"))


def test_without_the_search_the_failed_plan_counts() -> None:
    """Weights too large for local memory, said without trying how much would be enough."""
    _, _, function = divided_parts(prepared(chain(3, channels=256, size=64)))
    ops = computing_ops(function.body.block)

    def scratch(*_: object) -> int:
        return 256

    group = Searcher(load_chip(), scratch).plan(ops[:2], Secs())
    assert isinstance(group, Group)
    searcher = Searcher(replace(load_chip(), local_bytes=4096), scratch)
    bases = list(base_groups(ops))
    exact = explain(bases, [group], searcher)
    quick = explain(bases, [group], searcher, search_shortfall=False)
    assert [one.kind for one in exact] == [one.kind for one in quick]
    assert {one.kind for one in exact} == {"local memory"}
    for one, other in zip(exact, quick, strict=True):
        assert one.over > 0 <= other.over
        assert one.detail == other.detail


@pytest.mark.parametrize("local_bytes", [2048, 4096])
def test_the_shortfall_is_exact_to_a_unit(local_bytes: int) -> None:
    """With so many bytes more the range fits in slices, with 64 fewer in no form."""
    _, _, function = divided_parts(prepared(chain(3, channels=256, size=64)))
    ops = computing_ops(function.body.block)
    small = replace(load_chip(), local_bytes=local_bytes)

    def scratch(*_: object) -> int:
        return 256

    over = shortfall(ops, Searcher(small, scratch))
    assert over is not None
    assert over > 0
    for extra, fits in ((over, True), (over - 64, False)):
        searcher = Searcher(replace(small, local_bytes=small.local_bytes + extra), scratch)
        assert isinstance(searcher.fit(ops), Group) is fits
        assert not isinstance(searcher.plan(ops, Secs()), Group)


def test_what_a_ring_of_weights_lacks_is_exact() -> None:
    """Both filters would lie beside the activations, but not where the ring puts them."""
    _, _, function = divided_parts(prepared(chain(2, channels=512, size=14)))
    ops = computing_ops(function.body.block)
    small = replace(load_chip(), local_bytes=16384)

    def scratch(*_: object) -> int:
        return 256

    refused = Searcher(small, scratch).plan(ops, Secs())
    assert isinstance(refused, Refusal)
    assert "their ring needs" in refused.reason
    for extra, fits in ((refused.over, True), (refused.over - 64, False)):
        chip = replace(small, local_bytes=small.local_bytes + extra)
        assert isinstance(Searcher(chip, scratch).plan(ops, Secs()), Group) is fits


TRANSFERS = (tpu.LoadOp, tpu.StoreOp, tpu.YieldOp)


def borders(module: ModuleOp) -> list[tuple[str, str]]:
    """From the grouped IR alone: the names of the ops on both sides of every border of a group
    that has something on the other side."""
    _, _, function = divided_parts(module)
    parts = [(list(_computing(op)), op) for op in computing_ops(function.body.block)]
    return [
        (before[-1], after[0])
        for (before, first), (after, second) in pairwise(parts)
        if isinstance(first, tpu.GroupOp) or isinstance(second, tpu.GroupOp)
    ]


def _computing(op: Operation) -> Iterator[str]:
    """The names of the ops of a group that compute, or of the op itself."""
    ops = op.body.block.ops if isinstance(op, tpu.GroupOp) else (op,)
    return (str(name_of(one)) for one in ops if not isinstance(one, TRANSFERS))


def listed(path: Path) -> list[tuple[str, str]]:
    """The same pairs as the pass wrote them; every entry has a reason."""
    found = json.loads(path.read_text())["boundaries"]
    assert all(one["kind"] and one["reason"] for one in found)
    return [(one["last"], one["first"]) for one in found]


LEAN = settings(
    max_examples=12,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@LEAN
@given(
    case=st.one_of(convolutional(), of_tokens()),
    size=st.sampled_from([8192, 32768]),
    opt=st.sampled_from([1, 2]),
)
def test_every_border_of_random_networks_is_listed(
    case: Case, size: int, opt: int, tmp_path: Path
) -> None:
    chip, why = tmp_path / f"lane{size}.toml", tmp_path / "why.json"
    text = (CHIPS / "bm1684x.toml").read_text(encoding="utf-8")
    chip.write_text(text.replace("262144", str(size)), encoding="utf-8")
    module = grouped_by_pass(case, opt=opt, chip=str(chip), explain_file=str(why))
    assert listed(why) == borders(module)


@pytest.mark.parametrize("name", ["swin_t", "mobilenetv2_100"])
def test_every_border_of_a_real_network_is_listed(name: str, tmp_path: Path) -> None:
    why = tmp_path / "why.json"
    module = example(name)
    for stage in STAGES:
        run_stage(module, stage, Settings(boundaries=str(why)))
    assert listed(why) == borders(module)


@pytest.mark.parametrize("count", [2, 3])
def test_neighbouring_groups_of_one_op_have_a_boundary(count: int) -> None:
    """Convolutions that would fit together, each a group of its own, and the rest left alone."""
    _, _, function = divided_parts(prepared(chain(4)))
    ops = computing_ops(function.body.block)

    def scratch(*_: object) -> int:
        return 256

    searcher = Searcher(load_chip(), scratch)
    groups = [searcher.plan([op], Secs()) for op in ops[:count]]
    found = explain(base_groups(ops), [g for g in groups if isinstance(g, Group)], searcher)
    assert [(one.last, one.first) for one in found] == [
        (f"c{index}", f"c{index + 1}") for index in range(count)
    ]
    assert {one.kind for one in found} == {"not worth it"}
    assert found[0].before == "group of 1 op 'c0' (tpu.Conv2D)"
    assert found[0].after == "group of 1 op 'c1' (tpu.Conv2D)"
    assert found[-1].after == f"'c{count}' (tpu.Conv2D)"


def searched(case: Case, local_bytes: int) -> OptimalSearch:
    """The finished search on a chip with less local memory, its boundaries noted."""
    _, _, function = divided_parts(prepared(case))
    chip = replace(load_chip(), local_bytes=local_bytes)
    prices = Prices(chip)
    bases = base_groups(computing_ops(function.body.block))
    search = OptimalSearch(Searcher(chip, prices.scratch), prices, bases)
    search.run()
    search.note_boundaries()
    return search


def least_over(search: OptimalSearch, start: int, end: int) -> float:
    """When the first `end` ops can be done, of all partitions with a group over `start`."""
    ops, costs, searcher = search.ops, search.costs, search.searcher

    @cache
    def planned(first: int, last: int) -> Group | None:
        group = searcher.plan(ops[first:last], Secs())
        if isinstance(group, Group):
            return group
        sliced = search.slices.of(first, last)
        if sliced is None:
            return None
        while sliced.may_be_faster:
            sliced.try_more()
        group = searcher.plan(ops[first:last], sliced.secs)
        return group if isinstance(group, Group) else None

    def after(clock: Clock, group: Group, first: int, last: int) -> Clock:
        if group.secs.total == 1:
            cost = costs.cost(first, last)
            assert cost is not None
            return clock.after_straight(costs.passage(first, cost))
        sliced = costs.sliced(group)
        assert sliced is not None
        ahead = costs.next_ahead(last - 1, group.plan.activations)
        return clock.after_alone(sliced.total, sliced.moved, ahead)

    def done(clock: Clock, first: int) -> Iterator[float]:
        if first == end:
            yield clock.end
        elif first != start:
            yield from done(costs.after_alone(clock, first), first + 1)
            for last in range(first + 1, end + 1):
                if (group := planned(first, last)) is not None:
                    yield from done(after(clock, group, first, last), last)

    return min(done(Clock(), 0))


@pytest.mark.parametrize(
    ("case", "local_bytes"),
    [(chain(3, 256, 24), 4096), (residual(40, 130), 8192)],
)
def test_the_price_of_a_boundary_is_that_of_the_best_partition_without_it(
    case: Case, local_bytes: int
) -> None:
    """All partitions tried one by one; nothing is refused that would fit."""
    search = searched(case, local_bytes)
    position = {op: index for index, op in enumerate(search.ops)}
    ends = {part.start: part for part in search.parts}
    assert search.searcher.boundaries
    for boundary in search.searcher.boundaries:
        start = position[boundary.after]
        fits = isinstance(search.searcher.fit((boundary.before, boundary.after)), Group)
        assert boundary.is_choice is fits
        if fits:
            part = ends[start]
            least = least_over(search, start, part.end)
            assert boundary.cycles == max(0, round(least - part.after.end))
