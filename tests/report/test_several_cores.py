"""Figures of a program for two cores: all of them count both."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.machine.test_programs_bm1688 import recorded

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report import explain, run_report, trace
from xdsl_tpu.backend.report.waits import critical_path, event_at, waits
from xdsl_tpu.backend.timing import Ddr, Direction, Timeline, simulate_program

CHIP = load_chip("bm1688")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return recorded("two_cores_f16", tmp_path)[0]


@pytest.fixture(params=["each", "shared"])
def ddr(request: pytest.FixtureRequest) -> Ddr:
    return request.param


@pytest.fixture
def timelines(program: Program, ddr: Ddr) -> Sequence[Timeline]:
    return simulate_program(program, CHIP, ddr)


def end(timelines: Sequence[Timeline], place: Any) -> int:
    event = event_at(timelines, place)
    return event.start + event.cycles


def test_no_command_starts_before_what_the_other_core_sends(
    program: Program, timelines: Sequence[Timeline]
) -> None:
    crossing = 0
    for (core, engine), found in waits(program, timelines).items():
        for index, places in found.awaited.items():
            for place in places:
                crossing += place.core != core
                assert end(timelines, place) <= timelines[core].events[engine][index].start
        for index, place in found.behind.items():
            assert end(timelines, place) == timelines[core].events[engine][index].start
    assert crossing >= 2


def test_the_critical_path_goes_from_core_to_core(
    program: Program, timelines: Sequence[Timeline]
) -> None:
    path, cycles = critical_path(timelines, waits(program, timelines))
    assert cycles == timelines[0].total
    at = 0
    for place in path:
        assert event_at(timelines, place).start == at
        at = end(timelines, place)
    rows = run_report(program, CHIP, timelines, None, {})["layers"]
    assert sum(row["critical_cycles"] for row in rows) == timelines[0].total


def test_a_report_counts_both(program: Program, timelines: Sequence[Timeline], ddr: Ddr) -> None:
    report = run_report(program, CHIP, timelines, None, {}, ddr)
    assert report["cycles"] == report[f"ddr_{ddr}"] == timelines[0].total
    assert report["ddr"] == ddr
    assert report["ddr_each"] < report["ddr_shared"]
    for part, engine in (("bdc", Engine.TIU), ("gdma", Engine.GDMA)):
        assert report[part]["instructions"] == sum(
            len(core.queue(engine)) - 1 for core in program.cores
        )
        busy = [line.busy[engine] for line in timelines]
        assert report[part]["busy_cycles"] == sum(busy)
        assert [core[part]["busy_cycles"] for core in report["cores"]] == busy
    loaded = sum(line.bytes_moved[Direction.LOAD] for line in timelines)
    assert report["gdma"]["bytes"]["load"] == loaded
    rows = report["layers"]
    assert sum(row["bytes"]["load"] for row in rows) == loaded
    assert sum(row["cycles"] for row in rows) == report["cycles"]
    assert sum(report["usage"].values()) == report["cycles"]
    for core in report["cores"]:
        assert sum(core["usage"].values()) == report["cycles"]
    assert report["floor"]["dma"] == max(line.busy[Engine.GDMA] for line in timelines)


def test_what_cycles_are_spent_on_is_the_mean(
    program: Program, timelines: Sequence[Timeline]
) -> None:
    found = explain(program, timelines, CHIP)
    assert sum(found.causes.values()) == found.cycles == timelines[0].total
    parts = [sum(causes.values()) for causes in found.ops.values()]
    assert sum(parts) == pytest.approx(found.cycles, abs=len(parts))


def test_the_trace_has_both_cores_their_messages_and_one_ddr(
    program: Program, timelines: Sequence[Timeline]
) -> None:
    events = json.loads(trace(program, timelines, CHIP))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert [name.rsplit("(")[-1] for name in names.values()] == [
        *("core 0 of 2)", "core 1 of 2)", "DDR of 2 cores"),
    ]
    arrows = [e for e in events if e["ph"] in "sf"]
    assert len(arrows) >= 4
    for start, finish in zip(arrows[::2], arrows[1::2], strict=True):
        assert (start["ph"], finish["ph"]) == ("s", "f")
        assert start["id"] == finish["id"]
        assert start["ts"] <= finish["ts"]
        assert start["pid"] != finish["pid"]
    waiting = [e for e in events if "awaits" in e.get("args", {})]
    assert {line for e in waiting for line in e["args"]["awaits"]} == {"core 0 GDMA", "core 1 GDMA"}
    both = sum(_integral(events, process) for process in (1, 2))
    assert _integral(events, 3) == pytest.approx(both, rel=1e-3)


def _integral(events: Sequence[Any], process: int) -> float:
    """Of the loads' bandwidth, over time."""
    steps = [
        (e["ts"], e["args"]["load"])
        for e in events
        if e["ph"] == "C" and e["pid"] == process and "load" in e["args"]
    ]
    return sum((after - at) * rate for (at, rate), (after, _) in pairwise(steps))
