"""Totals by op and by block, what commands wait for, and the critical path."""

import pytest
from tests.report.programs import CHIP, overlapping
from tests.tools.small_models import MODELS

from xdsl_tpu.backend.isa import Engine
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.report import run_report
from xdsl_tpu.backend.report.totals import totals
from xdsl_tpu.backend.report.waits import OTHER, Place, critical_path, waits
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.tools.compile_model import compile_model


@pytest.fixture(scope="module")
def transformer(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("transformer")
    (folder / "net.onnx").write_bytes(MODELS["transformer"]().SerializeToString())
    return compile_model(folder / "net.onnx", folder / "out", "F16", "bm1684x").program


@pytest.fixture(params=["overlapping", "transformer"])
def program(request: pytest.FixtureRequest, transformer: Program) -> Program:
    return transformer if request.param == "transformer" else overlapping()


def test_the_critical_path_is_as_long_as_the_run(program: Program) -> None:
    timeline = simulate(program.tiu, program.gdma, CHIP)
    found = waits(program, [timeline])
    path, cycles = critical_path([timeline], found)
    assert cycles == timeline.total
    at = 0
    for _, engine, index in path:
        event = timeline.events[engine][index]
        assert event.start == at
        at += event.cycles
    rows = run_report(program, CHIP, [timeline], None, {})["layers"]
    assert sum(row["critical_cycles"] for row in rows) == timeline.total


def test_no_command_starts_before_what_it_waits_for(program: Program) -> None:
    timeline = simulate(program.tiu, program.gdma, CHIP)
    found = waits(program, [timeline])
    for engine in Engine:
        others = timeline.events[OTHER[engine]]
        waited = 0
        for event, index in zip(timeline.events[engine], found[0, engine].needed, strict=True):
            needed = program.queue(engine)[event.position]["cmd_id_dep"]
            assert (index >= 0) == (needed > 0)
            if index >= 0:
                waited += 1
                assert others[index].position == needed - 1
                assert others[index].start + others[index].cycles <= event.start
        assert waited


def test_waits_of_a_known_program() -> None:
    """A move, then a: load, copy; b: load beside a's copy, copy, store."""
    program = overlapping()
    timeline = simulate(program.tiu, program.gdma, CHIP)
    found = waits(program, [timeline])
    tiu, gdma = (found[0, engine] for engine in Engine)
    assert tiu.needed == [1, 2]
    assert tiu.behind == {0: Place(0, Engine.GDMA, 1), 1: Place(0, Engine.GDMA, 2)}
    assert gdma.needed[-1] == 1
    assert not tiu.awaited
    assert not gdma.awaited
    path, _ = critical_path([timeline], found)
    names = [(engine.name, index) for _, engine, index in path]
    assert names == [("GDMA", 0), ("GDMA", 1), ("GDMA", 2), ("TIU", 1), ("GDMA", 3)]


def test_totals_sum_to_the_run(program: Program) -> None:
    report = run_report(program, CHIP, [simulate(program.tiu, program.gdma, CHIP)], None, {})
    for rows in report["totals"].values():
        assert sum(row["cycles"] for row in rows) == report["cycles"]
        assert sum(row["critical_cycles"] for row in rows) == report["cycles"]
        assert sum(row["layers"] for row in rows) == len(report["layers"])
        cycles = [row["cycles"] for row in rows]
        assert cycles == sorted(cycles, reverse=True)
    ops = {row["name"] for row in report["totals"]["ops"]}
    assert ops == {row["op"] for row in report["layers"]}
    silicon = report["on_silicon"]
    assert (silicon["low"] is None) == (silicon["rows"] < 3)
    assert silicon["low"] is None or silicon["low"] > report["milliseconds"]


def test_totals_of_nothing() -> None:
    assert totals([]) == {"ops": [], "blocks": []}
