"""Counters of a trace and what the report says must be the same, summed."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from tests.bm1684x import FORMS
from tests.report.programs import CHIP, SHAPE, overlapping
from tests.tools.small_models import MODELS, Builder

from xdsl_tpu.backend.isa import Command, Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report import run_report, trace
from xdsl_tpu.backend.report.counters import array_utilisation
from xdsl_tpu.backend.report.footprints import Footprint, footprint
from xdsl_tpu.backend.report.local_use import GRANULE, local_use
from xdsl_tpu.backend.report.perfetto import BANDWIDTH, LOCAL, UTILISATION
from xdsl_tpu.backend.report.usage import coefficient_bytes, usage
from xdsl_tpu.backend.report.work import work_of
from xdsl_tpu.backend.timing import Event, Timeline, simulate
from xdsl_tpu.tools.compile_model import compile_model


@pytest.fixture(scope="module")
def cnn(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("cnn")
    (folder / "cnn.onnx").write_bytes(MODELS["cnn"]().SerializeToString())
    return compile_model(folder / "cnn.onnx", folder / "out", "F16", "bm1684x").program


@pytest.fixture(params=["overlapping", "cnn"])
def program(request: pytest.FixtureRequest, cnn: Program) -> Program:
    return cnn if request.param == "cnn" else overlapping()


def run(program: Program) -> Timeline:
    return simulate(program.tiu, program.gdma, CHIP)


def integrals(text: str) -> dict[tuple[str, str], float]:
    """Of every series of every counter: value times seconds, with steps held until the next."""
    steps: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for event in json.loads(text)["traceEvents"]:
        if event["ph"] == "C":
            ((series, value),) = event["args"].items()
            steps[event["name"], series].append((event["ts"] * 1e-6, value))
    found: dict[tuple[str, str], float] = {}
    for key, points in steps.items():
        times, values = np.array(points).T
        assert (np.diff(times) > 0).all(), key
        assert values[-1] == 0, key
        found[key] = float(np.diff(times) @ values[:-1])
    return found


def test_sums_of_counters(program: Program) -> None:
    timeline = run(program)
    report = run_report(program, CHIP, [timeline], None, {})
    found = integrals(trace(program, [timeline], CHIP))
    for direction, moved in report["gdma"]["bytes"].items():
        assert found.pop((BANDWIDTH, direction), 0.0) * 1e9 == pytest.approx(moved, rel=1e-6)
    share = found.pop((UTILISATION, "of peak"), 0.0) / 100 * CHIP.clock_hertz
    assert share == pytest.approx(sum(row["array_cycles"] for row in report["layers"]), abs=1)
    seconds = report["cycles"] / CHIP.clock_hertz
    mean = found.pop((LOCAL, "bytes per lane")) / seconds
    assert mean == pytest.approx(report["local_memory"]["mean"], rel=1e-4)
    assert not found
    assert report["floor"]["array"] <= report["floor"]["compute"] <= report["cycles"]


def test_of_tables_only_what_is_looked_up_must_be_loaded(tmp_path: Path) -> None:
    """Four rows of 64 for each of two lists of ids, and a matrix."""
    b = Builder(0)
    table, matrix = b.weight("table", 512, 64), b.weight("matrix", 64, 64)
    found = b.node("Add", [b.node("Gather", [table, one], f"of_{one}") for one in "ij"], "found")
    b.node("MatMul", [found, matrix], "y")
    model = b.model({"i": (4,), "j": (4,)}, {"y": (4, 64)})
    for taken in model.graph.input:
        taken.type.tensor_type.elem_type = TensorProto.INT64
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    program = compile_model(tmp_path / "net.onnx", tmp_path / "out", "F32", "bm1684x").program
    assert program.coefficients.size == (512 + 64) * 64 * 4
    assert coefficient_bytes(program, CHIP) == (8 + 64) * 64 * 4


def test_layers_of_the_report_sum_to_its_totals(program: Program) -> None:
    report = run_report(program, CHIP, [run(program)], None, {})
    rows: list[dict[str, Any]] = report["layers"]
    assert len({row["name"] for row in rows}) == len(rows)

    def total(value: Callable[[dict[str, Any]], int]) -> int:
        return sum(value(row) for row in rows)

    assert total(lambda row: row["cycles"]) == report["cycles"]
    assert total(lambda row: row["bdc_cycles"]) == report["bdc"]["busy_cycles"]
    assert total(lambda row: row["gdma_cycles"]) == report["gdma"]["busy_cycles"]
    assert total(lambda row: row["macs"]) == report["bdc"]["macs"]
    instructions = report["bdc"]["instructions"] + report["gdma"]["instructions"]
    assert total(lambda row: row["commands"]) == instructions
    for direction, moved in report["gdma"]["bytes"].items():
        assert sum(row["bytes"][direction] for row in rows) == moved
    assert sum(report["usage"].values()) == report["cycles"]


def test_multiply_accumulates_of_a_network(cnn: Program) -> None:
    """Products have them, and the array never does more than it can."""
    rows = run_report(cnn, CHIP, [run(cnn)], None, {})["layers"]
    assert {row["op"] for row in rows if row["macs"]} == {"tpu.Conv2D"}
    assert any(row["macs"] for row in rows if "logits" in row["name"]), "a row is a pixel"
    assert max(array_utilisation(cnn, run(cnn), CHIP).values) <= 1


def test_usage_of_known_overlap() -> None:
    program = overlapping()
    timeline = run(program)
    found = usage([timeline])
    assert found.both == timeline.events[Engine.TIU][0].cycles  # b's load is longer than a's copy
    assert found.exposed_compute == timeline.events[Engine.TIU][1].cycles
    assert found.idle == 0


def test_local_memory_of_known_lifetimes() -> None:
    """a and c come from DDR, b and d are copies; only d is stored, b is never read."""
    program = overlapping()
    timeline = run(program)
    size = SHAPE[2] * SHAPE[3] * 4  # bytes per lane of one tensor
    use = local_use(program, timeline, CHIP)
    assert max(use.bytes) == 3 * size  # a, its copy and c, which arrives meanwhile
    assert use.times[0] == timeline.events[Engine.GDMA][1].start
    assert use.bytes[-1] == 0
    assert use.times[-1] == timeline.total
    assert use.writes[Engine.GDMA] == [0, 1, 1 << 2, 0]  # 16 KiB each: one bank a tensor
    assert use.reads[Engine.GDMA] == [0, 0, 0, 1 << 3]
    assert use.writes[Engine.TIU] == [1 << 1, 1 << 3]
    assert use.reads[Engine.TIU] == [1, 1 << 2]


def test_a_value_dies_when_it_is_overwritten() -> None:
    """Its bytes count from the write to the last read, and not again until the next write."""
    program = overlapping()
    timeline = run(program)
    use = local_use(program, timeline, CHIP)
    copy = timeline.events[Engine.TIU][1]
    store = timeline.events[Engine.GDMA][-1]
    at = np.searchsorted(use.times, copy.start, "right") - 1
    assert use.bytes[at] == 2 * SHAPE[2] * SHAPE[3] * 4  # c and d
    at = np.searchsorted(use.times, store.start, "right") - 1
    assert use.bytes[at] == SHAPE[2] * SHAPE[3] * 4  # d alone
    assert all(count % GRANULE == 0 for count in use.bytes)


@pytest.mark.parametrize(
    ("form", "fields", "macs"),
    [
        ("CONV", {"res0_n": 1, "res0_c": 8, "res0_h": 5, "res0_w": 4, "opd0_c": 3, "opd1_h": 3,
                  "opd1_w": 2, "opd0_prec": 1}, 8 * 5 * 4 * 3 * 6),
        ("sMM2", {"tsk_eu_typ": 4, "res0_c": 7, "res0_w": 9, "opd1_c": 11, "opd1_w": 9,
                  "opd0_prec": 1}, 7 * 9 * 11),
        ("sMM2", {"tsk_eu_typ": 5, "res0_c": 7, "res0_w": 9, "opd1_c": 9, "opd1_w": 11,
                  "opd0_prec": 1}, 7 * 9 * 11),
        ("PorD", {"res0_n": 2, "res0_c": 8, "res0_h": 5, "res0_w": 4, "opd1_h": 3, "opd1_w": 3,
                  "opd0_prec": 1}, 2 * 8 * 5 * 4 * 9),
    ],
)  # fmt: skip
def test_multiply_accumulates(form: str, fields: dict[str, int], macs: int) -> None:
    work = work_of(Command(FORMS[form], fields), CHIP)
    assert work.macs == macs
    assert work.operations == 2 * macs
    assert work.array_cycles == macs / CHIP.array_peak(2) == macs / (64 * 32 * 4)


def test_other_commands_count_elements_of_their_result() -> None:
    fields = {"tsk_eu_typ": 2, "res0_n": 1, "res0_c": 3, "res0_h": 2, "res0_w": 5}
    work = work_of(Command(FORMS["sAR"], fields), CHIP)
    assert (work.macs, work.operations, work.array_cycles) == (0, 30, 0)
    assert work_of(Command(FORMS["SYSID"], {"tsk_eu_typ": 31}), CHIP).operations == 0


def test_a_command_without_known_operands_touches_nothing() -> None:
    event = Event(Engine.TIU, 0, 0, 1)
    assert footprint(event, [Command(FORMS["SEG"], {})], CHIP) == Footprint(event)
