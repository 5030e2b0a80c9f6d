"""`tpu-compile --calibrate-with` in 16 bits: layers that need wider formats get them."""

from pathlib import Path

import onnx
import pytest
from tests.tools.running import Run
from tests.tools.small_models import Builder

from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import Settings, run_stage
from xdsl_tpu.tools.mixing.mixture import Mixture, out_of_reach


def growing(size: float = 2e3) -> onnx.ModelProto:
    """Attention whose scores grow to millions, and whose first 8 are taken while they do."""
    b = Builder(5)
    q = b.node("MatMul", ["x", b.weight("w", 16, 16)], "q")
    q = b.node("Mul", [b.node("Relu", [q], "positive"), b.constant("a", size)], "large_q")
    k = b.node("Mul", ["x", b.constant("b", size)], "large_k")
    x = b.node("MatMul", [q, b.node("Transpose", [k], "k", perm=[0, 2, 1])], "scores")
    bounds = [b.shape(name, n) for name, n in (("start", 0), ("end", 8), ("axis", 2))]
    x = b.node("Slice", [x, *bounds], "part")
    x = b.node("Mul", [x, b.constant("c", size**-2)], "small")
    x = b.node("Softmax", [x], "attention", axis=-1)
    b.node("Transpose", [x], "y", perm=[0, 2, 1])
    return b.model({"x": (1, 16, 16)}, {"y": (1, 8, 16)})


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.onnx"
    path.write_bytes(growing().SerializeToString())
    return path


def test_what_f16_does_not_hold_gets_a_wider_format(call: Run, net: Path, tmp_path: Path) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    assert call("tpu-compile", net, "-o", out, "--quiet").status == 0
    compare = ("tpu-run", out, "--compare", net, "--min-cosine", "0.99", "--quiet")
    assert call(*compare).status == 4
    done = call("tpu-compile", net, "--calibrate-with", "random", "-o", out)
    assert done.status == 0, done.err
    assert "3 layers in F32" in done.out
    lines = (out / "calibration.qtable").read_text().splitlines()
    modes = dict(line.split() for line in lines if not line.startswith("#"))
    assert modes == dict.fromkeys(("scores_MatMul", "part_Slice", "small_Mul"), "F32")
    assert not (out / "calibration.cali").exists()
    assert call(*compare).status == 0
    table = ("--quantize-table", out / "calibration.qtable")
    assert call("tpu-compile", net, *table, "-o", again, "--quiet").status == 0
    assert (again / "model.bmodel").read_bytes() == (out / "model.bmodel").read_bytes()


@pytest.mark.parametrize("mode", ["F16", "BF16"])
def test_layers_in_f32_bring_outputs_closer(
    mode: str, call: Run, net: Path, tmp_path: Path
) -> None:
    out, least = tmp_path / "out", ("--min-cosine", "0.99999")
    options = ("--quantize", mode, "--calibrate-with", "random", *least)
    done = call("tpu-compile", net, *options, "-o", out)
    assert done.status == 0, done.err
    assert " in F32" in done.out
    assert call("tpu-run", out, "--compare", net, *least, "--quiet").status == 0


def test_nothing_is_widened_without_need(call: Run, models: Path, tmp_path: Path) -> None:
    plain, out = tmp_path / "plain", tmp_path / "out"
    assert call("tpu-compile", models / "cnn.onnx", "-o", plain, "--quiet").status == 0
    done = call("tpu-compile", models / "cnn.onnx", "--calibrate-with", "random", "-o", out)
    assert "all layers in one format" in done.out
    assert not (out / "calibration.qtable").exists()
    assert (plain / "model.bmodel").read_bytes() == (out / "model.bmodel").read_bytes()


def test_a_goal_that_is_out_of_reach() -> None:
    for mode, reason in (
        ("F16", "not in F32 are 'large_q_Mul' (F16), "),
        ("F32", "how F32 rounds"),
    ):
        module = import_onnx(growing())
        run_stage(module, "top", Settings(mode))
        run_stage(module, "tpu", Settings(mode))
        said = str(out_of_reach(0.9, Mixture({"q_MatMul": "F32"}, 0.5), module))
        assert said.startswith("a cosine of 0.9 is out of reach: with all 1 layers in F32 it is")
        assert reason in said
