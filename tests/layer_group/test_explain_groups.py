"""What `layer-group="explain=true"` says about boundaries."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.layer_group.small_nets import chain, grouped_by_pass, interrupted, prepared

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.passes.address_assign.assign import divided_parts
from xdsl_tpu.passes.layer_group.base_groups import base_groups, computing_ops
from xdsl_tpu.passes.layer_group.explain import explain, shortfall
from xdsl_tpu.passes.layer_group.model import Group
from xdsl_tpu.passes.layer_group.search import Searcher
from xdsl_tpu.passes.layer_group.values import Secs


def test_lines_and_json_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "why.json"
    grouped_by_pass(interrupted(), explain=True, explain_file=str(path))
    first, *lines = capsys.readouterr().err.splitlines()
    assert first.startswith("2 boundaries: 2 no local form, 0 shape rule")
    found = json.loads(path.read_text())["boundaries"]
    assert [one["kind"] for one in found] == ["no local form"] * 2
    for line, one in zip(lines, found, strict=True):
        assert line == f"  {one['before']} | {one['after']}: {one['kind']}: {one['reason']}"
    assert found[0]["before"] == "group of 2 ops 'a' .. 'b'"
    assert found[0]["after"] == "'p' (tpu.Permute)"
    assert (found[0]["last"], found[0]["first"]) == ("b", "p")


def test_nothing_is_printed_unless_asked(capsys: pytest.CaptureFixture[str]) -> None:
    grouped_by_pass(interrupted())
    assert capsys.readouterr().err == ""


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(TpuError, match=r"explain_file .*cannot be written"):
        grouped_by_pass(chain(2), explain_file=str(tmp_path / "missing" / "why.json"))


def test_without_the_search_the_failed_plan_counts() -> None:
    """Too much for local memory, said without trying how much would be enough."""
    _, _, function = divided_parts(prepared(chain(3, channels=256, size=64)))
    ops = computing_ops(function.body.block)

    def scratch(*_: object) -> int:
        return 256

    group = Searcher(load_chip(), scratch).plan(ops[:2], Secs())
    assert isinstance(group, Group)
    searcher = Searcher(replace(load_chip(), local_bytes=16384), scratch)
    bases = list(base_groups(ops))
    exact = explain(bases, [group], searcher)
    quick = explain(bases, [group], searcher, search_shortfall=False)
    assert [one.kind for one in exact] == [one.kind for one in quick]
    assert {one.kind for one in exact} == {"local memory"}
    for one, other in zip(exact, quick, strict=True):
        assert one.over > 0 <= other.over
        assert one.reason == other.reason


def test_the_shortfall_is_exact_to_a_unit() -> None:
    """With so many bytes more the range fits, with 64 fewer it does not."""
    _, _, function = divided_parts(prepared(chain(3, channels=256, size=64)))
    ops = computing_ops(function.body.block)
    small = replace(load_chip(), local_bytes=16384)

    def scratch(*_: object) -> int:
        return 256

    over = shortfall(ops, Searcher(small, scratch))
    assert over is not None
    assert over > 0
    for extra, fits in ((over, True), (over - 64, False)):
        chip = replace(small, local_bytes=small.local_bytes + extra)
        assert isinstance(Searcher(chip, scratch).plan(ops, Secs()), Group) is fits
