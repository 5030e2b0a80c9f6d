"""tpu-sweep on small models: figures, resuming, failures, a cluster, a plot."""

import csv
import io
import json
import os
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.tools.running import Run

from xdsl_tpu.tools.sweep import runners
from xdsl_tpu.tools.sweep.grid import Grid
from xdsl_tpu.tools.sweep.plot import draw
from xdsl_tpu.tools.sweep.point import Point, model_files, run_point
from xdsl_tpu.tools.sweep_table import FIGURES, points_table


def entries(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "sweep.json").read_text(encoding="utf-8"))


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "points").iterdir()}


def test_figures_are_those_of_the_tools(tool: Run, call: Run, models: Path, tmp_path: Path) -> None:
    out, model = tmp_path / "sweep", models / "transformer.onnx"
    picture = tmp_path / "cycles.png"
    grid = ("--chip-grid", "ddr_load=29,58", "--jobs", 2, "--no-values")
    done = tool("tpu-sweep", model, *grid, "--quantize", "F16", "-o", out, "--plot", picture)
    assert done.status == 0, done.err
    slow, fast = entries(out)
    assert (slow["chip"], fast["chip"]) == ({"ddr_load": 29}, {"ddr_load": 58})
    assert slow["cycles"] > 1.4 * fast["cycles"]
    assert f"{slow['cycles']:,}" in done.out
    for entry in (slow, fast):
        assert entry["gap"] == pytest.approx(entry["cycles"] / entry["floor"], abs=1e-4)
        assert f"{entry['gap']:.2f}" in done.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    with (out / "sweep.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["cycles"]) for row in rows] == [slow["cycles"], fast["cycles"]]
    assert [row["chip.ddr_load"] for row in rows] == ["29", "58"]

    chosen = ("--chip", out / "chips" / "ddr_load=29.toml", "--quiet")
    assert call("tpu-compile", model, "-o", tmp_path / "one", *chosen).status == 0
    report = tmp_path / "one.json"
    assert call("tpu-run", tmp_path / "one", "--report", report, *chosen).status == 0
    measured = json.loads(report.read_text(encoding="utf-8"))
    assert {key: measured[key] for key in ("cycles", "bdc", "gdma")} == {
        key: slow[key] for key in ("cycles", "bdc", "gdma")
    }


def test_a_point_of_an_older_version_is_computed_again(
    call: Run, models: Path, tmp_path: Path, in_process: list[str]
) -> None:
    """One that has no gap."""
    out = tmp_path / "sweep"
    arguments = ("tpu-sweep", models / "transformer.onnx", "-o", out)
    assert call(*arguments).status == 0
    (file,) = (out / "points").iterdir()
    known = json.loads(file.read_text())
    del known["gap"]
    file.write_text(json.dumps(known))
    assert call(*arguments).status == 0
    assert call(*arguments).status == 0
    assert len(in_process) == 2
    assert "gap" in json.loads(file.read_text())


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Points are computed in this process, which is faster; their labels as they are."""
    labels: list[str] = []

    def run(work: runners.Work, files: Any, jobs: int) -> Iterator[tuple[str, dict[str, Any]]]:
        for key, point in work:
            labels.append(point.label())
            yield key, run_point(point, files[point.model])

    monkeypatch.setattr("xdsl_tpu.tools.tpu_sweep.run_locally", run)
    return labels


def test_errors_name_no_file_that_is_gone(
    call: Run, models: Path, tmp_path: Path, in_process: list[str]
) -> None:
    arguments = (models / "dynamic.onnx", models / "cnn.onnx", "-o", tmp_path / "sweep")
    done = call("tpu-sweep", *arguments, "--chip-grid", "lanes=0,64")
    assert done.status == 1
    assert "cnn.onnx F16 lanes.count=0: chip: lanes is 0; it must be above 0" in done.err
    assert "tpu-sweep-" not in done.err


def test_int8_takes_a_table(call: Run, models: Path, tmp_path: Path, in_process: list[str]) -> None:
    """As tpu-compile does: the same cycles; another table is another point."""
    table, out = tmp_path / "cnn.cali", tmp_path / "sweep"
    made = ("--dataset", "random", "-o", table, "--quiet")
    assert call("tpu-calibrate", models / "cnn.onnx", *made).status == 0
    arguments = (models / "cnn.onnx", "-o", out, "--quantize", "INT8,F16")
    assert call("tpu-sweep", *arguments, "--calibration-table", table).status == 0
    cycles = {entry["quantize"]: entry["cycles"] for entry in entries(out)}
    folder = tmp_path / "int8"
    options = ("--quantize", "INT8", "--calibration-table", table, "-o", folder, "--quiet")
    assert call("tpu-compile", models / "cnn.onnx", *options).status == 0
    done = call("tpu-run", folder, "--no-values", "--report", "-", "--quiet")
    assert json.loads(done.out)["cycles"] == cycles["INT8"] != cycles["F16"]
    in_process.clear()
    table.write_text(table.read_text().replace("# ", "#  "))
    assert call("tpu-sweep", *arguments, "--calibration-table", table).status == 0
    assert in_process == ["cnn.onnx INT8", "cnn.onnx F16"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--quantize", "F16", "--calibration-table", "t"), "is for --quantize INT8"),
        (("b.onnx", "--quantize", "INT8", "--calibration-table", "t"), "is of one MODEL"),
    ],
)
def test_tables_of_nothing(call: Run, more: tuple[str, ...], words: str) -> None:
    done = call("tpu-sweep", "a.onnx", *more)
    assert done.status == 2
    assert words in done.err


@pytest.mark.parametrize(("width", "figures"), [(200, 7), (104, 6), (80, 4), (72, 3)])
def test_a_table_has_as_many_figures_as_fit(width: int, figures: int) -> None:
    """No figure is cut, and models stay different."""
    grid: Grid = {"lanes.count": (32,), "gdma.load": (58,)}
    done = {"status": "done", "cycles": 1234567, "gap": 1.25, "milliseconds": 1.234567}
    done |= {"bdc": {"busy_cycles": 10}, "gdma": {"busy_cycles": 5, "bytes": {"load": 10**8}}}
    names = [f"mobilenet_v2_of_another_size_{number}.onnx" for number in (224, 192)]
    rows = [
        (Point(name, "F16", (("lanes.count", 32), ("gdma.load", 58)), ""), result)
        for name, result in zip(names, (done, {"status": "failed"}), strict=True)
    ]
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(points_table(grid, rows, console))
    text = console.export_text()
    assert sum(name in text for name in FIGURES) == figures
    assert all(word in text for word in ("1,234,567", "failed", "model"))
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert sum(line.startswith("│ ") for line in text.splitlines()) == 2
    narrow = Console(width=50, record=True, file=io.StringIO())
    narrow.print(points_table(grid, rows, narrow))
    assert "…" not in narrow.export_text()


def test_a_stopped_sweep_goes_on(
    call: Run, models: Path, tmp_path: Path, in_process: list[str]
) -> None:
    out = tmp_path / "sweep"
    arguments = ("tpu-sweep", models / "dynamic.onnx", models / "transformer.onnx", "-o", out)
    done = call(*arguments, "--chip-grid", "lanes=32,64")
    assert done.status == 1  # dynamic.onnx needs shapes
    assert "2 of 4 points failed" in done.err
    assert "dynamic.onnx F16 lanes.count=32: " in done.err
    assert [entry["status"] for entry in entries(out)] == ["failed", "failed", "done", "done"]

    in_process.clear()  # the failed ones are tried again, one damaged and one new are computed
    damaged = next(p for p in (out / "points").iterdir() if "transformer" in p.read_text())
    damaged.write_text("{", encoding="utf-8")
    assert call(*arguments, "--chip-grid", "lanes=32,64,128").status == 1
    assert len(in_process) == 3 + 1 + 1
    assert [entry["status"] for entry in entries(out)] == ["failed"] * 3 + ["done"] * 3

    in_process.clear()
    arguments = ("tpu-sweep", models / "transformer.onnx", "-o", out, "--chip-grid", "lanes=32")
    before = times(out)
    assert call(*arguments).status == 0
    assert not in_process
    assert times(out) == before
    assert call(*arguments, "--fresh").status == 0
    assert len(in_process) == 1


def test_another_model_under_the_same_name_is_computed(
    call: Run, models: Path, tmp_path: Path, in_process: list[str]
) -> None:
    model = tmp_path / "m.onnx"
    for source in ("transformer", "wide_pads"):
        model.write_bytes((models / f"{source}.onnx").read_bytes())
        assert call("tpu-sweep", model, "-o", tmp_path / "sweep", "--quiet").status == 0
    assert len(in_process) == 2


def test_a_chip_that_cannot_be_fails_alone(
    call: Run, models: Path, tmp_path: Path, in_process: list[str]
) -> None:
    out = tmp_path / "sweep"
    done = call(
        *("tpu-sweep", models / "transformer.onnx", "-o", out),
        *("--chip-grid", "local_bytes=262144,1000"),
    )
    assert done.status == 1
    assert "local_memory.bytes_per_lane=1000: " in done.err
    assert "no power of two" in done.err
    assert [entry["status"] for entry in entries(out)] == ["done", "failed"]


def test_a_worker_that_dies_loses_its_point_only(
    models: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The process of the second point is replaced by one that is killed."""
    files = {"transformer.onnx": model_files(models / "transformer.onnx")}
    chip = (Path(runners.__file__).parents[2] / "backend/chip/bm1684x.toml").read_text()
    good, bad = (Point("transformer.onnx", q, (), chip) for q in ("F16", "BF16"))
    real = runners.subprocess.Popen
    killer = ["-c", f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})"]

    def popen(command: list[str], **options: Any) -> Any:
        process = real(command if started else command[:1] + killer, **options)
        started.append(process.pid)
        return process

    started: list[int] = []
    monkeypatch.setattr(runners.subprocess, "Popen", popen)
    results = dict(runners.run_locally([("bad", bad), ("good", good)], files, jobs=1))
    assert results["good"]["status"] == "done"
    assert results["bad"]["status"] == "failed"
    assert f"signal {int(signal.SIGKILL)}" in results["bad"]["error"]
    assert os.getpid() not in started


@pytest.mark.filterwarnings("default")  # what a scheduler warns of is not ours
def test_the_same_on_a_dask_cluster(call: Run, models: Path, tmp_path: Path) -> None:
    distributed: Any = import_module("distributed")
    arguments = ("tpu-sweep", models / "transformer.onnx", models / "unsupported.onnx")
    chosen = ("--chip-grid", "lanes=32,64", "--quiet")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
        protocol="tcp", host="127.0.0.1",
    ) as cluster:  # fmt: skip
        address = cluster.scheduler_address
        done = call(*arguments, *chosen, "-o", tmp_path / "dask", "--scheduler", address)
    assert done.status == 1
    assert "2 of 4 points failed" in done.err
    assert "Det" in done.err
    got = [(e["status"], e.get("cycles")) for e in entries(tmp_path / "dask")]
    assert call(*arguments, *chosen, "-o", tmp_path / "here").status == 1
    assert got == [(e["status"], e.get("cycles")) for e in entries(tmp_path / "here")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--chip-grid", "lame=3"), "no figure 'lame'"),
        (("--plot", "x.bmp"), "a plot is one of"),
        (("--plot", "no/such/folder/x.png"), "folder does not exist"),
        (("--disable-pass", "no-such-pass"), "no-such-pass"),
        (("--scheduler", "tcp://127.0.0.1:1"), "no Dask scheduler answers at tcp://127.0.0.1:1"),
        (("--chip", "bm9999"), "no chip 'bm9999'"),
    ],
)
@pytest.mark.filterwarnings("default")
def test_refused_before_any_work(
    arguments: tuple[str, str], words: str, call: Run, models: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(runners, "_CONNECT_SECONDS", 1)
    done = call("tpu-sweep", models / "cnn.onnx", "-o", tmp_path / "sweep", *arguments)
    assert done.status == 1
    assert words in done.err
    assert not (tmp_path / "sweep" / "sweep.json").exists()


def test_files_that_cannot_be_swept(call: Run, models: Path, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "sweep")
    assert "no such file" in call("tpu-sweep", tmp_path / "gone.onnx", *out).err
    (tmp_path / "text.onnx").write_text("no model")
    assert "not an ONNX model" in call("tpu-sweep", tmp_path / "text.onnx", *out).err
    (tmp_path / "cnn.onnx").write_bytes((models / "cnn.onnx").read_bytes())
    twice = call("tpu-sweep", models / "cnn.onnx", tmp_path / "cnn.onnx", *out)
    assert "same file name" in twice.err
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert "cannot be written" in call("tpu-sweep", models / "cnn.onnx", "-o", blocked).err


def test_the_plot_shows_every_point_that_succeeded() -> None:
    grid: Grid = {"lanes.count": (32, 64), "gdma.load": (29, 58)}
    rows = [
        (Point("m.onnx", "F16", (("lanes.count", lanes), ("gdma.load", load)), ""),
         {"status": "done", "cycles": 1000 * lanes * load, "gap": lanes / 16}
         if lanes < 64 or load < 58 else {"status": "failed", "error": "."})
        for lanes in (32, 64) for load in (29, 58)
    ]  # fmt: skip
    panel, gap = draw(grid, rows).axes
    assert [line.get_xydata().tolist() for line in gap.lines] == [[[32, 2], [64, 4]], [[32, 2]]]
    assert gap.get_ylabel() == "gap: cycles over the floor"
    lines = {line.get_label(): line.get_xydata().tolist() for line in panel.lines}
    assert lines == {
        "F16 ddr_load=29": [[32, 928], [64, 1856]],
        "F16 ddr_load=58": [[32, 1856]],
    }
    low, high = panel.get_ylim()
    assert low == 0
    assert high > 1856
