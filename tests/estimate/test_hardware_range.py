"""The range of measured times: where its figures come from, and when there is none."""

import csv
import os
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from xdsl_tpu.backend import estimate
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.estimate import (
    Kind,
    RatioGroup,
    hardware_range,
    in_words,
    kind_of,
    milliseconds,
    program_range,
    ratio_groups,
    why_none,
)
from xdsl_tpu.backend.estimate.families import (
    CNN,
    DECODE,
    DETECTOR,
    PREFILL,
    TRANSFORMER,
    family_of,
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
    """Those with one other family computed here from the ranges: medians over medians."""
    script = [sys.executable, BENCHMARKS / "hardware.py", "--check"]
    environment = os.environ | {"COLUMNS": "120"}
    done = subprocess.run(
        script, capture_output=True, text=True, check=True, timeout=60, env=environment
    )
    page = (BENCHMARKS.parent / "docs" / "accuracy.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if line.startswith("| ") and " % |" in line]
    assert len(shown) == 16
    printed = [" ".join(line.replace("│", "|").split()) for line in done.stdout.splitlines()]
    assert set(shown) <= set(printed)
    groups = {(group.precision, group.family): group for group in ratio_groups()[0]}
    alone = [line for line in shown if "networks" not in line]
    assert len(alone) == 10
    by_one = [line for line in alone if " and " not in line]
    assert len(by_one) == 4
    for line in by_one:
        kind, _, other, *errors = (cell.strip() for cell in line.split("|")[1:-1])
        precision, family = kind.split(", ")
        own, by = groups[precision, family.lower()], groups[precision, other.lower()]
        ends = sorted(by.median / ratio - 1 for ratio in (own.low, own.high))
        low, median, high = (int(error.removesuffix(" %")) / 100 for error in errors)
        assert (low, high) == pytest.approx(ends, abs=0.012)
        assert low <= median <= high  # of an even number of rows no median of ratios gives it


def test_groups_are_the_ratios_of_the_usable_rows() -> None:
    """Computed here a second time: tpu-mlir rows with an estimate and without doubts, and language
    models with estimates of blocks and output matrix."""
    estimates = {(r["network"], r["precision"]): r for r in rows_of("vendor_cycles.csv")}
    ratios: dict[tuple[str, str], list[float]] = {}
    for row in rows_of("published_latency.csv"):
        estimate = estimates.get((row["network"], row["precision"]))
        if row["compiler"] != "tpu-mlir" or estimate is None or "do not" in row["note"]:
            continue
        ratio = float(row["milliseconds"]) * 1e6 / int(estimate["total"])
        ratios.setdefault((row["precision"], row["family"]), []).append(ratio)
    models = {
        (r["model"], r["precision"], r["sequence"]): r for r in rows_of("vendor_llm_cycles.csv")
    }
    for row in rows_of("published_speeds.csv"):
        estimate = models.get((row["model"], row["precision"], row["sequence"]))
        if estimate is None or not estimate["head"] or "suspect" in row["note"]:
            continue
        layers, head = int(estimate["layers"]), int(estimate["head"])
        token = layers * int(estimate["decode_block"]) + head
        prompt = layers * int(estimate["prefill_block"]) + head
        found = {
            DECODE: 1e9 / float(row["tokens_per_s"]) / token,
            PREFILL: 1e9 * float(row["first_token_s"]) / prompt,
        }
        for family, ratio in found.items():
            ratios.setdefault((row["precision"], family), []).append(ratio)
    groups, _ = ratio_groups()
    assert {(group.precision, group.family) for group in groups} == ratios.keys()
    for group in groups:
        measured = ratios[group.precision, group.family]
        wanted = (min(measured), statistics.median(measured), max(measured))
        assert (group.low, group.median, group.high) == pytest.approx(wanted, abs=6e-4)
        assert group.rows == len(measured)


def test_rows_that_do_not_count_say_why() -> None:
    script = [sys.executable, BENCHMARKS / "hardware.py", "--check"]
    environment = os.environ | {"COLUMNS": "200"}
    done = subprocess.run(
        script, capture_output=True, text=True, check=True, timeout=60, env=environment
    )
    for network, reason in (
        ("InternVL2-4B", "more than the peak bandwidth: suspect"),
        ("Llama3-8B", "length of the program is not given"),
        ("DriveMM", "whose sizes are not given"),
        ("swin_t", "compiled by tpu-nntc"),
    ):
        lines = [line for line in done.stdout.splitlines() if line.startswith(f"│ {network}")]
        assert any(reason in line for line in lines), network


def test_every_row_names_its_source() -> None:
    for row in rows_of("published_latency.csv"):
        assert row["source"]
        assert row["date"].startswith("202")
    for row in rows_of("published_speeds.csv"):
        assert row["source"]
        assert row["board"]


def test_a_published_time_lies_in_the_range_of_its_estimate() -> None:
    """Swin-T F16: 3,050,233 cycles estimated; 3.522 to 7.411 ms published."""
    found = hardware_range(3050233, Kind("F16", TRANSFORMER))
    assert found is not None
    assert found.kind == "F16 transformer"
    assert (found.rows, found.networks) == (4, ("swin_small", "swin_t"))
    assert found.low / 1e6 == pytest.approx(3.522, rel=1e-3)
    assert found.high / 1e6 == pytest.approx(7.411, rel=1e-3)
    assert found.low < found.median < found.high
    assert found.words == "published measurements of F16 transformer: 4 rows of 2 networks"


def test_the_range_is_proportional() -> None:
    one, ten = (hardware_range(cycles, Kind("F32", CNN)) for cycles in (1000, 10000))
    assert one is not None
    assert ten is not None
    assert (ten.low, ten.median, ten.high) == pytest.approx(
        (10 * one.low, 10 * one.median, 10 * one.high)
    )


@pytest.mark.parametrize(
    ("precision", "family", "kind"),
    [
        ("F32", None, "F32 networks of its kind"),
        ("F16", "state space", "F16 state space"),
        ("INT8", TRANSFORMER, "INT8 transformer"),
        ("BF16", TRANSFORMER, "BF16 transformer"),
    ],
)
def test_no_kind_borrows_the_times_of_another(
    precision: str, family: str | None, kind: str
) -> None:
    asked = Kind(precision, family)
    assert hardware_range(1000, asked) is None
    assert why_none(asked).startswith("not known: nobody published times of " + kind)
    chip = load_chip("bm1684x")
    assert milliseconds(asked, chip, 1000) == {
        "low": None,
        "median": None,
        "high": None,
        "wanted": kind,
        "rows": 0,
        "networks": [],
    }
    assert in_words(asked, chip, 1000) == why_none(asked)


def test_a_network_with_packed_matrices_does_not_borrow_those_of_floats() -> None:
    ops = ("tpu.A16MatMul", "tpu.Softmax", "tpu.LayerNorm")
    program = Program("net", "BM1684X", "F16", layers=[Layer(op, op) for op in ops])
    assert program_range(program, load_chip("bm1684x"), 1000) is None
    kind = estimate.kind_of(program)
    assert kind.words == "F16 with packed matrices, networks of its kind"
    assert why_none(kind).startswith("not known: nobody published times of F16 with packed")


def test_detectors_and_language_models_have_ranges_of_their_own() -> None:
    for precision, family in (
        *((one, DETECTOR) for one in ("F16", "F32", "INT8")),
        *(("W4", one) for one in (DECODE, PREFILL)),
    ):
        found = hardware_range(1000, Kind(precision, family))
        assert found is not None
        assert found.rows >= 3


def test_fewer_than_three_rows_make_no_range(monkeypatch: pytest.MonkeyPatch) -> None:
    few = RatioGroup("F16", DECODE, 1.1, 1.2, 1.3, 2, ("a", "b"))
    enough = replace(few, precision="W4", rows=3)
    monkeypatch.setattr(estimate, "ratio_groups", lambda: ((few, enough), 3))
    kind = Kind("F16", DECODE)
    assert hardware_range(1000, kind) is None
    assert why_none(kind) == (
        "not known: too few comparable times of F16 language model decode were published: "
        "2 rows of 2 networks"
    )
    found = hardware_range(1000, Kind("W4", DECODE))
    assert found is not None
    assert (found.low, found.high) == pytest.approx((1100, 1300))


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


@pytest.mark.parametrize(
    ("image", "outputs", "family"),
    [
        ((640, 640), [(1, 84, 8400)], DETECTOR),
        ((640, 640), [(1, 25200, 85)], DETECTOR),
        ((640, 640), [(1, 3, size, size, 85) for size in (80, 40, 20)], DETECTOR),
        ((416, 640), [(1, 52 * 80 + 26 * 40 + 13 * 20, 6)], DETECTOR),
        ((640, 640), [(1, 3, 80, 80, 85), (1, 3, 40, 40, 85)], CNN),
        ((640, 640), [(1, 8400)], CNN),
        ((224, 224), [(1, 1000)], CNN),
        ((512, 512), [(1, 21, 512, 512)], CNN),
        ((513, 513), [(1, 84, 8400)], CNN),
    ],
)
def test_a_detector_says_something_of_a_pyramid_of_grids(
    image: tuple[int, int], outputs: list[tuple[int, ...]], family: str
) -> None:
    assert family_of({"tpu.Conv2D", "tpu.Softmax"}, [(1, 3, *image)], outputs) == family


def test_only_the_measured_chip_has_a_range() -> None:
    chip = load_chip("bm1684x")
    program = Program("net", chip.name, "F16", layers=[Layer("a", "tpu.Conv2D")])
    found = program_range(program, chip, 1000)
    assert found is not None
    assert found.kind == "F16 cnn"
    for other in (replace(chip, lanes=32), replace(chip, load_bytes_per_cycle=116)):
        assert program_range(program, other, 1000) is None
        assert milliseconds(kind_of(program), other, 1000) is None
        assert in_words(kind_of(program), other, 1000) == ""
