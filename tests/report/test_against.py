"""Comparing two reports, and reading what a page is made from."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.report.programs import CHIP, overlapping

from xdsl_tpu.backend.report import compare_layers, read_groups, read_report, run_report
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import TpuError


def report() -> dict[str, Any]:
    program = overlapping()
    return run_report(program, CHIP, [simulate(program.tiu, program.gdma, CHIP)], None, {})


def test_layers_are_matched_by_name() -> None:
    mine, other = report(), report()
    other["layers"][0]["cycles"] += 7
    other["layers"][1] |= {"name": "c", "cycles": 5}
    rows = compare_layers(mine, other)
    found = {row["name"]: (row["cycles"], row["other_cycles"], row["difference"]) for row in rows}
    a, b, rest = (row["cycles"] for row in mine["layers"])
    assert found == {
        "a": (a, a + 7, -7),
        "b": (b, None, b),
        "c": (None, 5, -5),
        "(no layer)": (rest, rest, 0),
    }
    assert [row["name"] for row in rows] == ["b", "a", "c", "(no layer)"]
    assert sum(row["difference"] for row in rows) == a + b - (a + 7 + 5)


def test_a_report_against_itself() -> None:
    assert {row["difference"] for row in compare_layers(report(), report())} == {0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a report"),
        ("[1]", "not a report"),
        ("3", "not a report"),
        ("{}", "has no 'model'"),
        ('{"traceEvents": []}', "has no 'model'"),
    ],
)
def test_files_that_are_no_reports(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(TpuError, match=message):
        read_report(path)


def test_a_report_without_layers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    old = report()
    del old["layers"]
    path.write_text(json.dumps(old))
    with pytest.raises(TpuError, match="no 'layers'; write it anew"):
        read_report(path)
    path.write_text(json.dumps(report()))
    assert read_report(path)["layers"] == report()["layers"]


def test_groups_and_the_reasons_of_their_boundaries(tmp_path: Path) -> None:
    path = tmp_path / "groups.json"
    assert read_groups(path).group_of == {}
    words = "local memory, over by 1024 bytes per lane: too much"
    one = {"last": "b", "first": "c", "kind": "local memory", "reason": words}
    path.write_text(json.dumps({"groups": [["a", "b"], ["c"]], "boundaries": [one]}))
    groups = read_groups(path)
    assert dict(groups.group_of) == {"a": 1, "b": 1, "c": 2}
    assert [groups.boundary(name) for name in "abc"] == ["", words, words]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"groups": [3], "boundaries": []}'])
def test_files_that_are_no_groups(text: str, tmp_path: Path) -> None:
    path = tmp_path / "groups.json"
    path.write_text(text)
    with pytest.raises(TpuError, match=r"groups\.json: not the groups"):
        read_groups(path)
