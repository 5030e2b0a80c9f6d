"""`--explain` of tpu-compile and tpu-run: floor, causes, blocks, what would gain most."""

import json
from pathlib import Path

import onnx
import pytest
from onnx import helper
from tests.tools.running import Run
from tests.tools.small_models import Builder


def two_blocks() -> onnx.ModelProto:
    """Narrow products with a transposition that no layer group takes between them."""
    b = Builder(7)
    x = "x"
    for block in range(2):
        x = b.node("MatMul", [x, b.weight(f"w{block}", 96, 96)], f"/blocks.{block}/fc/MatMul")
        x = b.node("Softmax", [x], f"/blocks.{block}/Softmax")
    b.nodes.append(helper.make_node("Transpose", [x], ["/head/Transpose"], perm=[0, 2, 1]))
    return b.model({"x": (4, 96, 96)}, {"/head/Transpose": (4, 96, 96)})


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    path.write_bytes(two_blocks().SerializeToString())
    return path


def test_both_tools_say_the_same(model: Path, call: Run, tmp_path: Path) -> None:
    out, report = tmp_path / "out", tmp_path / "report.json"
    compiled = call("tpu-compile", model, "-o", out, "--explain", "--quiet")
    ran = call("tpu-run", out, "--no-values", "--explain", "--report", report)
    assert compiled.status == ran.status == 0
    assert compiled.out in ran.out
    assert "1. at most " in compiled.out
    assert "/blocks.0" in compiled.out
    found = json.loads(report.read_text())
    gap = found["gap"]
    for parts in ([gap["causes"]], gap["blocks"].values(), gap["ops"].values()):
        assert sum(sum(causes.values()) for causes in parts) == found["cycles"]
    floor = json.loads((out / "compile.json").read_text())["floor"]
    assert gap["floor"] == floor["cycles"]
    assert floor["weights"] == 2 * 96 * 96
    assert floor["inputs"] == floor["outputs"] == 4 * 96 * 96
    assert floor["macs"] == 2 * 4 * 96**3


def test_a_program_of_unknown_origin_has_its_own_floor(
    model: Path, call: Run, tmp_path: Path
) -> None:
    out, report = tmp_path / "out", tmp_path / "report.json"
    call("tpu-compile", model, "-o", out, "--quiet")
    (out / "compile.json").unlink()
    assert call("tpu-run", out, "--no-values", "--report", report).status == 0
    found = json.loads(report.read_text())
    assert found["gap"]["floor"] == max(found["floor"]["array"], found["floor"]["ddr"])
