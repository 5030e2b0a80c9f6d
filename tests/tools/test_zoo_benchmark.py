"""benchmarks/zoo.py on a folder with a network that is right, one wrong and one that fails."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.tools.small_models import Builder

ROOT = Path(__file__).parents[2]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "benchmarks" / "zoo.py", *arguments]
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, timeout=300
    )


def lookup() -> onnx.ModelProto:
    """Rows of a table, a product used twice, so that its weights are shared."""
    b = Builder(3)
    b.nodes.append(helper.make_node("Gather", [b.weight("table", 50, 16), "ids"], ["rows"]))
    x = b.node("MatMul", ["rows", b.weight("w", 16, 16)], "once")
    model = b.model({}, {b.node("MatMul", [x, "w"], "twice"): (4, 16)})
    ids = helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, (4,))
    model.graph.input.append(ids)
    return model


def too_large() -> onnx.ModelProto:
    """Its numbers do not fit F16: x * 300 * 300."""
    b = Builder(4)
    x = b.node("Mul", ["x", b.constant("c", np.full((1, 8), 300.0))], "first")
    x = b.node("Mul", [b.node("Relu", [x], "between"), "c"], "second")
    return b.model({"x": (1, 8)}, {x: (1, 8)})


def not_supported() -> onnx.ModelProto:
    b = Builder(5)
    return b.model({"x": (1, 8)}, {b.node("Det", ["x"], "y"): (1, 8)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three networks, inputs of the first, and a baseline."""
    path = tmp_path_factory.mktemp("zoo")
    for make in (lookup, too_large, not_supported):
        (path / f"{make.__name__}.onnx").write_bytes(make().SerializeToString())
    np.savez(path / "lookup.inputs.npz", ids=np.array([3, 49, 0, 7]))
    (path / "baseline.csv").write_text(
        "network,cycles_before,floor,vendor_cycles\nlookup,1000,10,3000\ntoo_large,,,fails\n"
    )
    return path


def test_every_network_gets_a_row(folder: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    done = run("--models", folder, "--jobs", 2, "--json", figures)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    found = json.loads(figures.read_text(encoding="utf-8"))
    rows: dict[str, dict[str, Any]] = {row["network"]: row for row in found["networks"]}
    assert list(rows) == ["lookup", "not_supported", "too_large"]
    assert {name: row["status"] for name, row in rows.items()} == {
        "lookup": "ok",
        "not_supported": "failed",
        "too_large": "wrong",
    }
    right = rows["lookup"]
    assert right["cosine"] > 0.9999
    assert right["max_abs_error"] < 0.1
    assert (right["floor_given"], right["previous_cycles"]) == (10, 1000)
    assert right["over_floor"] == right["cycles"] / 10
    assert right["vendor_over_ours"] == 3000 / right["cycles"]
    # 4 of the table's 50 rows and 16x16 weights, once, of 2 bytes; 4 ids and 64 results of 4.
    assert right["floor"] == -(-((4 * 16 + 16 * 16) * 2 + (4 + 64) * 4) // (58 / 1.073741824))
    assert set(right["seconds"]) == {"import", "compile", "run"}
    assert right["peak_gib"] > 0.01
    assert "not finite" in rows["too_large"]["message"]
    assert rows["too_large"]["vendor_cycles"] is None
    assert "Det" in rows["not_supported"]["message"]
    sums = found["sums"]["F16"]
    assert (sums["ok"], sums["wrong"], sums["failed"]) == (1, 1, 1)
    assert sums["cycles_over_floor"]["geometric_mean"] == pytest.approx(right["over_floor"])
    assert sums["vendor_over_ours"]["worst_network"] == "lookup"
    assert "F16: 3 networks: 1 ok, 1 wrong, 1 failed" in done.stdout
    assert "[3/3]" in done.stderr


def test_int8_calibrates_first(folder: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    done = run("--models", folder, "--only", "lookup", "--quantize", "INT8", "--json", figures)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(figures.read_text(encoding="utf-8"))["networks"]
    assert row["status"] == "ok"
    assert row["cosine"] >= 0.99
    assert set(row["seconds"]) == {"import", "calibrate", "compile", "run"}
    assert (row["floor_given"], row["vendor_cycles"]) == (None, None)


def test_time_is_limited(folder: Path) -> None:
    done = run("--models", folder, "--only", "lookup", "--time-limit", 0.1)
    assert done.returncode == 1
    assert "lookup F16: failed: tpu-compile: the time limit of 0.1 s was reached" in done.stdout


def test_wrong_usage() -> None:
    done = run("--models", "none")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("none is no folder with .onnx files")


def test_a_run_goes_on_where_it_ended(folder: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ("--models", folder, "--json", figures, "--resume")
    assert run(*options, "--only", "not_supported").returncode == 1
    before = json.loads(figures.read_text(encoding="utf-8"))["networks"]
    before[0]["seconds"] = {"import": 12345.0}
    kept = {**json.loads(figures.read_text(encoding="utf-8")), "networks": before}
    figures.write_text(json.dumps(kept), encoding="utf-8")
    done = run(*options, "--only", "lookup|not_supported")
    assert "[2/2] lookup" in done.stderr
    assert "not_supported" not in done.stderr
    rows = json.loads(figures.read_text(encoding="utf-8"))["networks"]
    assert [row["network"] for row in rows] == ["lookup", "not_supported"]
    assert rows[1] == before[0]
    figures.write_text(json.dumps({**kept, "networks": rows[1:]}), encoding="utf-8")
    run(*options, "--only", "lookup")
    rows = json.loads(figures.read_text(encoding="utf-8"))["networks"]
    assert [row["network"] for row in rows] == ["not_supported", "lookup"]
    done = run(*options, "--seed", 1)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip().endswith("of a run with --seed 0; give another --json")
    figures.write_text("[]", encoding="utf-8")
    assert "not what --json writes" in run(*options).stderr
    assert run("--models", folder, "--resume").returncode == 2
