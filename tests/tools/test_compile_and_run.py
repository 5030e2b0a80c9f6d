"""tpu-compile and tpu-run on small models: files, figures, closeness to onnxruntime."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.tools.running import Done, Run

from xdsl_tpu.backend.bmodel import read_bmodel
from xdsl_tpu.backend.execute import random_inputs

COSINE = {"F32": 0.99999, "F16": 0.9999, "BF16": 0.999}
SMALL = [
    *(("cnn", "F32"), ("transformer", "F16"), ("wide_pads", "BF16")),
    *(("transformer", "BF16"), ("wide_pads", "F32")),
]

REPORT_KEYS = {
    "": "version command seed hashes model chip quantize cycles milliseconds floor on_silicon "
    "usage bdc gdma local_memory outputs comparison wall_seconds totals layers gap",
    "gap": "floor ratio causes blocks ops proposals",
    "hashes": "program model weights calibration_table quantize_table chip inputs",
    "floor": "array compute ddr dma",
    "on_silicon": "low median high wanted rows networks",
    "totals": "ops blocks",
    "usage": "both exposed_dma exposed_compute idle",
    "bdc": "instructions busy_cycles macs",
    "local_memory": "bytes_per_lane peak mean",
    "gdma": "instructions busy_cycles bytes",
    "gdma.bytes": "load store ddr_to_ddr",
    "comparison": "reference tensors",
}


def load(path: Path) -> dict[str, Any]:
    """Strict JSON: NaN and infinity are refused."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{path} holds {constant}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def test_every_file_and_figure(
    compiled: Callable[[str], Path], tool: Run, models: Path, tmp_path: Path
) -> None:
    folder = compiled("cnn")
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *("top.mlir", "tpu.mlir", "final.mlir", "model.bmodel", "compile.json", "groups.json"),
        "cnn_top_f32_all_origin_weight.npz",
        "cnn_tpu_lowered_bm1684x_f16_weight.npz",
        "cnn_tpu_addressed_bm1684x_f16_weight.npz",
    }
    report_path, trace_path, outputs = (tmp_path / n for n in ("r.json", "t.json", "o.npz"))
    done = tool(
        *("tpu-run", folder, "--compare", models / "cnn.onnx", "--report", report_path),
        *("--timeline", trace_path, "--outputs", outputs),
    )
    assert done.status == 0, done.err
    report, trace = load(report_path), load(trace_path)
    check_report(report)
    check_summary(load(folder / "compile.json"), report)
    check_trace(trace, report)
    with np.load(outputs) as arrays:
        shapes = {name: list(arrays[name].shape) for name in arrays.files}
    assert shapes == {name: entry["shape"] for name, entry in report["outputs"].items()}
    assert f"{report['cycles']:,}" in done.out
    most = max(report["layers"], key=lambda row: row["cycles"])
    figures = [f"{most[key]:,}" for key in ("cycles", "bdc_cycles", "gdma_cycles")]
    table = [[cell.strip() for cell in line.split("│")[1:-1]] for line in done.out.splitlines()]
    shown = next(cells for cells in table if cells and cells[0] == most["name"])
    assert [shown[1], *shown[4:]] == figures
    joined = re.sub(r"[\s│]+", "", done.out)  # long names go on in the next line of their cell
    for name in shapes:
        assert name in joined


def check_report(report: dict[str, Any]) -> None:
    """Exactly the documented keys, and figures that agree with each other."""
    for path, keys in REPORT_KEYS.items():
        part = report
        for key in filter(None, path.split(".")):
            part = part[key]
        assert set(part) == set(keys.split()), path
    assert (report["model"], report["chip"], report["quantize"]) == ("cnn", "BM1684X", "F16")
    assert report["milliseconds"] == pytest.approx(report["cycles"] / 1e6)
    assert list(report["comparison"]["tensors"]) == list(report["outputs"])
    for name, entry in report["outputs"].items():
        assert set(entry) == {"shape", "dtype", "not_finite"}
        closeness = report["comparison"]["tensors"][name]
        assert set(closeness) == {"cosine", "max_abs_error", "sqnr_db"}
        assert COSINE["F16"] <= closeness["cosine"] <= 1 + 1e-9
        assert 0 < closeness["max_abs_error"] < 0.1
        assert closeness["sqnr_db"] > 40
    assert [entry["shape"] for entry in report["outputs"].values()] == [[1, 10], [1, 16, 10, 6]]
    assert report["comparison"]["reference"] == "onnxruntime cnn.onnx"
    for engine in ("bdc", "gdma"):
        assert 0 < report[engine]["busy_cycles"] <= report["cycles"]
    assert report["gdma"]["bytes"]["load"] >= 4 * 3 * 40 * 24  # at least the image
    assert set(report["wall_seconds"]) == {"load", "simulate", "timeline", "reference"}


def check_summary(summary: dict[str, Any], report: dict[str, Any]) -> None:
    """compile.json: time per stage, instruction counts, memory."""
    keys = {"model", "chip", "quantize", "seconds", "notes", "floor", "instructions", "memory"}
    assert set(summary) == keys | {"version", "command", "seed", "outputs", "hashes", "files"}
    page = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| `compile.json` |"))
    assert {key for key in {*summary, *summary["floor"]} if f"`{key}`" not in row} == set()
    assert summary["outputs"] == ["logits", "features"]
    assert {"import", "top", "tpu", "final", "codegen", "write bmodel"} <= set(summary["seconds"])
    counts = {engine: report[engine]["instructions"] for engine in ("bdc", "gdma")}
    assert summary["instructions"] == counts
    memory = summary["memory"]
    assert memory["local_per_lane"] == 262144
    weights = 2 * (16 * 27 + 16 * 9 + 16 * 16 + 160)
    assert weights <= memory["coefficients"] <= 20 * 4096
    assert memory["arena"] >= 4 * 3 * 40 * 24


def check_trace(trace: dict[str, Any], report: dict[str, Any]) -> None:
    """Tracks whose events do not overlap, named by layer and instruction, to the last cycle."""
    events = trace["traceEvents"]
    tracks = {
        e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"
    }
    spans = [e for e in events if e["ph"] == "X"]
    by_track = {name: [e for e in spans if e["tid"] == tid] for tid, name in tracks.items()}
    assert len(by_track["TIU (BDC)"]) == report["bdc"]["instructions"]
    assert len(by_track["GDMA"]) == report["gdma"]["instructions"]
    assert sum(map(len, by_track.values())) == len(spans)
    for engine, name in (("bdc", "TIU (BDC)"), ("gdma", "GDMA")):
        track = by_track[name]
        busy = sum(e["dur"] for e in track) * 1e3  # microseconds at 1 GHz
        assert busy == pytest.approx(report[engine]["busy_cycles"])
    assert set(by_track) == {"TIU (BDC)", "GDMA", "layers (TIU)", "layers (GDMA)"}
    for track in by_track.values():
        ends = [e["ts"] + e["dur"] for e in track]
        assert all(a <= b["ts"] + 1e-9 for a, b in zip(ends, track[1:], strict=False)), "overlap"
    assert max(e["ts"] + e["dur"] for e in spans) * 1e3 == pytest.approx(report["cycles"])
    names = {e["name"] for e in spans}
    assert "pooled_MaxPool sPorD.max_pool" in names
    assert any(name.startswith("logits_Gemm_r_image sCONV.") for name in names)
    assert {e["ph"] for e in events} == {"M", "X", "C"}


@pytest.mark.parametrize(("name", "quantize"), SMALL)
def test_every_format(name: str, quantize: str, call: Run, models: Path, tmp_path: Path) -> None:
    model, report = models / f"{name}.onnx", tmp_path / "report.json"
    arguments = ("--quantize", quantize.lower(), "-o", tmp_path / "out", "--quiet")
    assert call("tpu-compile", model, *arguments).status == 0
    done = call(
        *("tpu-run", tmp_path / "out", "--seed", "5", "--compare", model, "--quiet"),
        *("--report", report),
    )
    assert (done.status, done.out, done.err) == (0, "", "")
    figures = load(report)
    assert figures["quantize"] == quantize
    for tensor in figures["comparison"]["tensors"].values():
        assert tensor["cosine"] >= COSINE[quantize]


def test_inputs_seed_and_numerics(
    compiled: Callable[[str], Path], call: Run, models: Path, tmp_path: Path
) -> None:
    """A bmodel is run like its folder, given inputs like the same seeded ones."""
    folder = compiled("transformer")
    inputs, given, seeded, other, exact = (
        tmp_path / f"{n}.npz" for n in ("inputs", "given", "seeded", "other", "exact")
    )
    arrays: dict[str, Any] = random_inputs(read_bmodel(folder / "model.bmodel"), 7)
    np.savez(inputs, **arrays)
    quiet = ("--quiet", "--outputs")
    assert call("tpu-run", folder, "--seed", 7, *quiet, seeded).status == 0
    reference = ("--compare", folder / "top.mlir", "--report", tmp_path / "r.json")
    done = call("tpu-run", folder / "model.bmodel", "--inputs", inputs, *quiet, given, *reference)
    assert done.status == 0, done.err
    assert call("tpu-run", folder, "--seed", 8, *quiet, other).status == 0
    assert call("tpu-run", folder, "--seed", 7, "--numerics", "exact", *quiet, exact).status == 0
    with np.load(seeded) as a, np.load(given) as b, np.load(exact) as c, np.load(other) as d:
        (name,) = a.files
        assert np.array_equal(a[name], b[name])
        assert np.allclose(a[name], c[name], atol=0.02)
        assert not np.allclose(a[name], d[name], atol=0.1)
    comparison = load(tmp_path / "r.json")["comparison"]
    assert comparison["reference"] == "interpreter top.mlir"
    assert comparison["tensors"][name]["cosine"] >= COSINE["F16"]


def test_without_a_reference(compiled: Callable[[str], Path], call: Run, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert call("tpu-run", compiled("cnn"), "--report", report, "--quiet").status == 0
    assert load(report)["comparison"] is None
    assert set(load(report)["wall_seconds"]) == {"load", "simulate", "timeline"}


def test_against_arrays(compiled: Callable[[str], Path], call: Run, tmp_path: Path) -> None:
    """What another run gave, by name; by position where names are others; one array in .npy."""
    program, one, arrays = compiled("cnn"), compiled("transformer"), tmp_path / "arrays.npz"
    assert call("tpu-run", program, "--outputs", arrays, "--quiet").status == 0
    exact = ("--max-error", "0", "--quiet")
    assert call("tpu-run", program, "--compare", arrays, *exact) == Done(0, "", "")
    values = [*dict(np.load(arrays)).values()]
    np.savez(arrays, *values)
    assert call("tpu-run", program, "--compare", arrays, *exact).status == 0
    np.savez(arrays, values[0] + 1, *values[1:])
    assert call("tpu-run", program, "--compare", arrays, *exact).status == 4
    np.savez(arrays, values[0])
    done = call("tpu-run", program, "--compare", arrays)
    assert done.status == 1
    assert f"has 1 outputs, the program has {len(values)}" in done.err
    file = tmp_path / "y.npy"
    done = call("tpu-run", program, "--outputs", file)
    assert (done.status, file.exists()) == (1, False)
    assert f"{len(values)} outputs, and .npy holds one array" in done.err
    assert call("tpu-run", one, "--outputs", file, "--quiet").status == 0
    assert np.load(file).shape == (1, 10, 24)
    assert call("tpu-run", one, "--compare", file, *exact).status == 0


def test_top_ir_gives_the_same_program(
    compiled: Callable[[str], Path], call: Run, tmp_path: Path
) -> None:
    """From top.mlir, into a folder of its own or into the one it lies in."""
    folder = compiled("cnn")
    wanted = (folder / "model.bmodel").read_bytes()
    assert call("tpu-compile", folder / "top.mlir", "-o", tmp_path / "new", "--quiet").status == 0
    assert (tmp_path / "new" / "model.bmodel").read_bytes() == wanted
    again = call("tpu-compile", tmp_path / "new" / "top.mlir", "-o", tmp_path / "new", "--quiet")
    assert again.status == 0, again.err
    assert (tmp_path / "new" / "model.bmodel").read_bytes() == wanted


def test_dynamic_dimensions_are_given(call: Run, models: Path, tmp_path: Path) -> None:
    model, folder = models / "dynamic.onnx", tmp_path / "dynamic"
    shapes = ("--input-shapes", "x=6x16", "-o", folder, "--quiet")
    assert call("tpu-compile", model, *shapes).status == 0
    report = tmp_path / "r.json"
    assert call("tpu-run", folder, "--compare", model, "--quiet", "--report", report).status == 0
    (tensor,) = load(report)["comparison"]["tensors"].values()
    assert tensor["cosine"] >= COSINE["F16"]
    (output,) = load(report)["outputs"].values()
    assert output["shape"] == [6, 8]


@pytest.mark.parametrize("name", ["canonicalize", "extra-optimize", "verify-addresses"])
def test_optional_passes(name: str, call: Run, models: Path, tmp_path: Path) -> None:
    model, report = models / "cnn.onnx", tmp_path / "r.json"
    arguments = ("-o", tmp_path / "out", "--disable-pass", name, "--quiet")
    assert call("tpu-compile", model, *arguments).status == 0
    assert f'/{name}"' not in (tmp_path / "out" / "compile.json").read_text()
    done = call("tpu-run", tmp_path / "out", "--compare", model, "--report", report, "--quiet")
    assert done.status == 0, done.err
    for tensor in load(report)["comparison"]["tensors"].values():
        assert tensor["cosine"] >= COSINE["F16"]


@pytest.mark.parametrize("columns", [20, 60, 200])
def test_tables_fit_the_terminal(
    columns: int, compiled: Callable[[str], Path], call: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = compiled("cnn")
    monkeypatch.setenv("COLUMNS", str(columns))
    done = call("tpu-run", folder)
    assert done.status == 0
    assert max(map(len, done.out.splitlines())) <= columns
    assert ("GDMA busy" in done.out) == (columns >= 72)
    share = 0.0
    for line in done.out.splitlines():
        cells = [cell.strip() for cell in line.split("│")]
        share += sum(float(cell.rstrip("%")) for cell in cells if cell.endswith("%"))
    assert 90 < share < 101 or columns < 40


@pytest.mark.parametrize("name", ["tpu-compile", "tpu-run"])
def test_help_and_version(name: str, call: Run) -> None:
    shown = call(name, "--help")
    assert shown.status == 0
    assert "usage" in shown.out
    assert call(name, "--version").out.startswith(f"{name} 0.1")


def test_results_that_are_not_finite_are_said(call: Run, tmp_path: Path) -> None:
    """Numbers beyond F16's range, and none where the range suffices."""
    model, report = tmp_path / "large.onnx", tmp_path / "report.json"
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Mul", ["x", "factor"], ["large"]),
        helper.make_node("Relu", ["large"], ["y"]),
    ]
    factor = numpy_helper.from_array(np.array([1e4], np.float32), "factor")
    inputs, outputs = ([value(name, TensorProto.FLOAT, [1, 4, 8])] for name in "xy")
    graph = helper.make_graph(nodes, "g", inputs, outputs, [factor])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    model.write_bytes(made.SerializeToString())
    x = np.full((1, 4, 8), 2.0, np.float32)
    x[0, 1] = 10
    np.savez(tmp_path / "x.npz", x=x)
    for quantize, count in (("F16", 8), ("F32", 0)):
        out = tmp_path / quantize
        assert call("tpu-compile", model, "--quantize", quantize, "-o", out).status == 0
        arguments = ("--inputs", tmp_path / "x.npz", "--compare", model, "--compare-layers")
        done = call("tpu-run", out, *arguments, "--report", report)
        assert done.status == (3 if count else 0), done.err
        said = f"error: {count} of the 32 numbers of output 'y_Relu_f32' are NaN or infinite"
        assert (said in done.err) == (count > 0)
        quiet = call("tpu-run", out, "--inputs", tmp_path / "x.npz", "--quiet")
        assert (quiet.status, quiet.err) == (done.status, done.err)
        (output,) = load(report)["outputs"].values()
        assert output["not_finite"] == count
