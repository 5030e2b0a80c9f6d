"""Closeness, layer costs, the report and the trace of a program whose cycles are known."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.programs import CHIP, SHAPE, overlapping

from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report import Closeness, closeness, layer_costs, run_report, trace
from xdsl_tpu.backend.timing import Timeline, simulate


@pytest.fixture
def program() -> Program:
    return overlapping()


@pytest.fixture
def timeline(program: Program) -> Timeline:
    return simulate(program.tiu, program.gdma, CHIP)


def test_layers_sum_to_the_run(program: Program, timeline: Timeline) -> None:
    costs = {cost.layer.name: cost for cost in layer_costs(program, [timeline])}
    assert list(costs) == ["a", "b", "(no layer)"]
    assert sum(cost.elapsed for cost in costs.values()) == timeline.total
    assert sum(cost.tiu for cost in costs.values()) == timeline.busy[Engine.TIU]
    assert sum(cost.gdma for cost in costs.values()) == timeline.busy[Engine.GDMA]
    assert [cost.commands for cost in costs.values()] == [2, 3, 1]
    assert costs["a"].tiu == costs["b"].tiu == 64 * 64 // 16
    assert costs["(no layer)"].elapsed == costs["(no layer)"].gdma


def test_what_is_hidden_costs_nothing(program: Program, timeline: Timeline) -> None:
    """Layer b's load runs beside a's copy: that part of it does not move the end of the run."""
    costs = {cost.layer.name: cost for cost in layer_costs(program, [timeline])}
    assert costs["a"].elapsed == costs["a"].tiu + costs["a"].gdma
    assert costs["b"].elapsed == costs["b"].tiu + costs["b"].gdma - costs["a"].tiu


def test_trace(program: Program, timeline: Timeline) -> None:
    parsed = json.loads(trace(program, [timeline], CHIP))
    events: list[dict[str, Any]] = parsed["traceEvents"]
    spans = [e for e in events if e["ph"] == "X" and e["cat"] != "layer"]
    assert [e["name"] for e in spans] == [
        "a sAR.copy",
        "b sAR.copy",
        "DMA_tensor.copy",
        "a DMA_tensor.copy",
        "b DMA_tensor.copy",
        "b DMA_tensor.copy",
    ]
    assert [e["tid"] for e in spans] == [1, 1, 2, 2, 2, 2]
    directions = [e["args"].get("direction") for e in spans]
    assert directions == [None, None, "ddr_to_ddr", "load", "load", "store"]
    assert spans[3]["args"] | {"cycles": 0} == {
        "id": 2,
        "cycles": 0,
        "waits_for": 0,
        "direction": "load",
        "bytes": 4 * math.prod(SHAPE),
    }
    assert spans[0]["args"]["result"] == [*SHAPE]
    last = max(e["ts"] + e["dur"] for e in spans)
    assert last == pytest.approx(timeline.total * 1e6 / CHIP.clock_hertz)
    layers = [e for e in events if e["ph"] == "X" and e["cat"] == "layer"]
    assert [(e["tid"], e["name"]) for e in layers] == [(3, "a"), (3, "b"), (4, "a"), (4, "b")]
    assert [e["args"]["commands"] for e in layers] == [1, 1, 1, 2]
    assert layers[3]["ts"] == spans[4]["ts"]
    assert layers[3]["ts"] + layers[3]["dur"] == pytest.approx(last)


def test_report_of_equal_and_of_broken_tensors(program: Program, timeline: Timeline) -> None:
    """Infinity and NaN are no JSON."""
    compared = {
        "equal": Closeness(1.0, 0.0, math.inf),
        "broken": Closeness(math.nan, math.nan, math.nan),
    }
    report = run_report(
        program, CHIP, [timeline], ("onnxruntime net.onnx", compared), {"load": 0.25}
    )
    text = json.dumps(report, allow_nan=False)
    tensors = json.loads(text)["comparison"]["tensors"]
    assert tensors["equal"] == {"cosine": 1.0, "max_abs_error": 0.0, "sqnr_db": None}
    assert tensors["broken"] == {"cosine": None, "max_abs_error": None, "sqnr_db": None}
    assert report["wall_seconds"] == {"load": 0.25}
    size = 4 * math.prod(SHAPE)
    assert report["gdma"]["bytes"] == {"load": 2 * size, "store": size, "ddr_to_ddr": size}
    assert report["gdma"]["instructions"], report["bdc"]["instructions"] == (4, 2)
    assert report["outputs"] == {"y": {"shape": [*SHAPE], "dtype": "f32", "not_finite": None}}


numbers = st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=30)


@settings(max_examples=200, deadline=None)
@given(numbers, st.floats(0.01, 100))
def test_closeness_of_multiples(values: Sequence[float], factor: float) -> None:
    """A positive factor changes the error but not the angle."""
    a = np.array(values, np.float64)
    found = closeness(a * factor, a)
    if np.linalg.norm(a) > 1e-100:
        assert found.cosine == pytest.approx(1, abs=1e-9)
        assert closeness(-a, a).cosine == pytest.approx(-1, abs=1e-9)
    assert found.max_abs_error == pytest.approx(np.abs(a * (factor - 1)).max())


def test_closeness_figures() -> None:
    a, b = np.array([1.0, 2.0, 2.0]), np.array([1.0, 2.0, 2.3])
    found = closeness(b, a)
    assert found.cosine == pytest.approx((1 + 4 + 4.6) / (3 * math.sqrt(1 + 4 + 5.29)))
    assert found.max_abs_error == pytest.approx(0.3)
    assert found.sqnr_db == pytest.approx(10 * math.log10(9 / 0.09))
    assert closeness(a, a).cosine == pytest.approx(1)
    assert closeness(a, a).sqnr_db == math.inf
    zero = np.zeros(3)
    assert closeness(zero, zero) == Closeness(1.0, 0.0, math.inf)
    assert closeness(a, zero) == Closeness(0.0, 2.0, -math.inf)
    assert closeness(zero, a).sqnr_db == 0
    assert math.isnan(closeness(np.array([1, np.nan, 2]), a).cosine)


def test_closeness_does_not_overflow_in_half_precision() -> None:
    big = np.full(4, 60000, np.float16)
    assert closeness(big, big).cosine == pytest.approx(1)
    assert closeness(big, -big).max_abs_error == 120000
