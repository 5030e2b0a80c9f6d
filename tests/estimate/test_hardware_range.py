"""The range of measured times: where its figures come from, and when a wider group is used."""

import csv
import os
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.estimate import (
    CNN,
    TRANSFORMER,
    family_of,
    hardware_range,
    program_range,
    ratio_groups,
)
from xdsl_tpu.backend.program import Layer, Program

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def rows_of(name: str) -> list[dict[str, str]]:
    with (BENCHMARKS / "data" / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_the_data_file_is_what_the_script_writes() -> None:
    script = [sys.executable, BENCHMARKS / "hardware.py", "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_errors_of_a_family_left_out_are_those_of_the_page() -> None:
    """Computed here from the ranges: medians over medians."""
    script = [sys.executable, BENCHMARKS / "hardware.py", "--check"]
    environment = os.environ | {"COLUMNS": "120"}
    done = subprocess.run(
        script, capture_output=True, text=True, check=True, timeout=60, env=environment
    )
    page = (BENCHMARKS.parent / "docs" / "accuracy.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if line.startswith("| F") and " % |" in line]
    assert len(shown) == 4
    printed = [" ".join(line.replace("│", "|").split()) for line in done.stdout.splitlines()]
    assert set(shown) <= set(printed)
    groups = {(group.precision, group.family): group for group in ratio_groups()[0]}
    for line in shown:
        kind, _, other, *errors = (cell.strip() for cell in line.split("|")[1:-1])
        own, by = (
            groups[precision, family.lower()]
            for precision, family in (one.split(", ") for one in (kind, other))
        )
        ends = sorted(by.median / ratio - 1 for ratio in (own.low, own.high))
        low, median, high = (int(error.removesuffix(" %")) / 100 for error in errors)
        assert (low, high) == pytest.approx(ends, abs=0.012)
        assert low < median < high  # of an even number of rows no median of ratios gives it


def test_groups_are_the_ratios_of_the_usable_rows() -> None:
    """Computed here a second time: tpu-mlir rows with an estimate and without doubts."""
    estimates = {(r["network"], r["precision"]): r for r in rows_of("vendor_cycles.csv")}
    ratios: dict[tuple[str, str], list[float]] = {}
    for row in rows_of("published_latency.csv"):
        estimate = estimates.get((row["network"], row["precision"]))
        if row["compiler"] != "tpu-mlir" or estimate is None or "do not" in row["note"]:
            continue
        ratio = float(row["milliseconds"]) * 1e6 / int(estimate["total"])
        for family in (estimate["family"], ""):
            ratios.setdefault((row["precision"], family), []).append(ratio)
        ratios.setdefault(("", ""), []).append(ratio)
    groups, _ = ratio_groups()
    assert {(group.precision, group.family) for group in groups} == ratios.keys()
    for group in groups:
        found = ratios[group.precision, group.family]
        wanted = (min(found), statistics.median(found), max(found))
        assert (group.low, group.median, group.high) == pytest.approx(wanted, abs=6e-4)
        assert group.rows == len(found)
        assert group.low > 1  # silicon is never faster than an estimate without latency


def test_every_row_names_its_source() -> None:
    for row in rows_of("published_latency.csv"):
        assert row["source"]
        assert row["date"].startswith("202")


def test_a_published_time_lies_in_the_range_of_its_estimate() -> None:
    """Swin-T F16: 3,050,233 cycles estimated; 3.522 to 7.411 ms published."""
    found = hardware_range(3050233, "F16", TRANSFORMER)
    assert found.scope == "F16 transformer"
    assert (found.rows, found.networks) == (4, ("swin_small", "swin_t"))
    assert found.low / 1e6 == pytest.approx(3.522, rel=1e-3)
    assert found.high / 1e6 == pytest.approx(7.411, rel=1e-3)
    assert found.low < found.median < found.high


def test_the_range_is_proportional() -> None:
    one, ten = (hardware_range(cycles, "F32", CNN) for cycles in (1000, 10000))
    assert (ten.low, ten.median, ten.high) == pytest.approx(
        (10 * one.low, 10 * one.median, 10 * one.high)
    )


@pytest.mark.parametrize(
    ("precision", "family", "scope", "rows"),
    [
        ("F32", CNN, "F32 cnn", 3),
        ("F32", None, "F32", 7),
        ("F16", None, "F16", 7),
        ("F16", "state space", "F16", 7),
        ("INT8", CNN, "all formats and families", 14),
        ("BF16", TRANSFORMER, "all formats and families", 14),
        ("", None, "all formats and families", 14),
    ],
)
def test_too_few_rows_widen_the_scope(
    precision: str, family: str | None, scope: str, rows: int
) -> None:
    found = hardware_range(1000, precision, family)
    assert (found.scope, found.rows) == (scope, rows)
    known = (precision, family) == ("F32", CNN)
    assert found.borrowed != known
    assert ("none published of" in found.words) != known
    assert f"of {scope}: {rows} rows of" in found.words
    if not known:
        wanted = " ".join(filter(None, (precision, family or "networks of its kind")))
        assert found.words.startswith(f"none published of {wanted}; ")


def test_no_group_with_too_few_rows_is_used() -> None:
    groups, fewest = ratio_groups()
    assert fewest == 3
    for group in groups:
        family = group.family or None
        assert hardware_range(1, group.precision, family).rows >= fewest


@pytest.mark.parametrize(
    ("ops", "family"),
    [
        ({"tpu.Conv2D", "tpu.Relu", "tpu.MatMul"}, CNN),
        ({"tpu.Conv2D", "tpu.Softmax"}, CNN),
        ({"tpu.Conv2D", "tpu.LayerNorm"}, CNN),
        ({"tpu.Conv2D", "tpu.LayerNorm", "tpu.Softmax", "tpu.MatMul"}, TRANSFORMER),
        ({"tpu.MatMul"}, None),
        (set[str](), None),
    ],
)
def test_family_by_ops(ops: set[str], family: str | None) -> None:
    assert family_of(ops) == family


def test_only_the_measured_chip_has_a_range() -> None:
    chip = load_chip("bm1684x")
    program = Program("net", chip.name, "F16", layers=[Layer("a", "tpu.Conv2D")])
    found = program_range(program, chip, 1000)
    assert found is not None
    assert found.scope == "F16 cnn"
    assert program_range(program, replace(chip, lanes=32), 1000) is None
    assert program_range(program, replace(chip, load_bytes_per_cycle=116), 1000) is None
