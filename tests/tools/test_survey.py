"""tpu-compile --check: every op that cannot be compiled, all at once, and nothing written."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from tests.tools.running import Run
from tests.tools.small_models import Builder
from tests.tools.test_custom_chip import describe

from xdsl_tpu.backend.leaves import LEAVES
from xdsl_tpu.dialects import tpu
from xdsl_tpu.frontend.onnx import nearest_rewrite
from xdsl_tpu.frontend.onnx.compose import COMPOSED
from xdsl_tpu.frontend.onnx.converters import CONVERTERS
from xdsl_tpu.frontend.onnx.rewrites import _table  # pyright: ignore[reportPrivateUsage]


def write(path: Path, model: onnx.ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def test_a_model_that_compiles(call: Run, models: Path, tmp_path: Path) -> None:
    done = call("tpu-compile", "--check", models / "cnn.onnx", "-o", tmp_path / "out")
    assert done.status == 0
    assert "ops can be compiled (F16, BM1684X)" in done.out
    assert not (tmp_path / "out").exists()


def test_all_unknown_ops_at_once(call: Run, tmp_path: Path) -> None:
    """Two kinds, one of them twice and the second of these behind the first."""
    b = Builder(0)
    x = b.node("Det", ["x"], "d0")
    y = b.node("RandomNormalLike", ["x"], "h0")
    b.node("RandomNormalLike", [y], "h1")
    model = write(tmp_path / "m.onnx", b.model({"x": (2, 4, 4)}, {x: (2,), "h1": (2, 4, 4)}))
    done = call("tpu-compile", "--check", model, "--quiet")
    assert done.status == 1
    lines = done.out.splitlines()
    assert "1 x Det: this op is not supported" in lines
    assert f"  instead: {nearest_rewrite('Det')}" in lines
    assert "    d0 (opset 17) of float32[2,4,4]" in lines
    assert "2 x RandomNormalLike: this op is not supported" in lines
    assert "    h0 (opset 17) of float32[2,4,4]" in lines
    assert any(line.startswith("    h1 (opset 17)") for line in lines)
    assert "3 problems of 2 kinds" in done.err
    assert "Traceback" not in done.err


def test_what_lowering_and_kernels_refuse_is_listed_together(
    call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The power of a negative number has no lowering, LeakyRelu here no kernel; Relu is fine."""
    monkeypatch.delitem(LEAVES, tpu.LeakyReluOp)
    b = Builder(1)
    x = b.node("Pow", [b.constant("base", -2.0), "x"], "power")
    b.node("LeakyRelu", [b.node("Relu", [x], "relu")], "leaky")
    model = write(tmp_path / "m.onnx", b.model({"x": (1, 4, 8)}, {"leaky": (1, 4, 8)}))
    done = call("tpu-compile", "--check", model, "--quiet")
    assert done.status == 1
    assert "is not positive" in done.out
    assert "    power (opset 17) of tensor<1x4x8xf32>" in done.out
    assert "tpu.LeakyRelu: no kernel" in done.out
    assert "    leaky (opset 17) of tensor<1x4x8xf32>" in done.out
    assert "2 problems" in done.err


def test_a_shape_that_a_kernel_refuses(call: Run, tmp_path: Path) -> None:
    """Found only by asking the kernel for commands: a window is larger than a lane of this chip."""
    b = Builder(2)
    x = b.node("Relu", ["image"], "relu")
    b.node("MaxPool", [x], "pooled", kernel_shape=[8, 4000])
    model = write(
        tmp_path / "m.onnx", b.model({"image": (1, 4, 8, 4000)}, {"pooled": (1, 4, 1, 1)})
    )
    memory = {"262144": "2048", "banks = 16": "banks = 4"}
    chip = ("--chip", describe(tmp_path / "small.toml", memory))
    assert call("tpu-compile", "--check", model, "--quiet").status == 0
    done = call("tpu-compile", "--check", model, "--quiet", *chip)
    assert done.status == 1
    assert "1 x MaxPool: tpu.Pool2D: " in done.out
    assert "local memory" in done.out
    assert "    pooled (opset 17) of tensor<1x4x8x4000xf32>" in done.out


def test_dynamic_shapes_and_files_that_are_no_models(
    call: Run, models: Path, tmp_path: Path
) -> None:
    done = call("tpu-compile", "--check", models / "dynamic.onnx", "--quiet")
    assert done.status == 1
    assert "--input-shapes x=" in done.out
    shapes = ("--input-shapes", "x=4x16")
    assert call("tpu-compile", "--check", models / "dynamic.onnx", *shapes).status == 0
    (tmp_path / "text.onnx").write_text("no model")
    done = call("tpu-compile", "--check", tmp_path / "text.onnx", "--quiet")
    assert done.status == 1
    assert "not a readable ONNX model" in done.err


@pytest.mark.parametrize("op", sorted(_table()))
def test_rewrites_name_ops_that_exist(op: str) -> None:
    """Every capitalised word of a rewrite that is an ONNX op is one that can be imported."""
    schemas = {schema.name for schema in onnx.defs.get_all_schemas()}
    words = [word.strip(",;()") for word in nearest_rewrite(op).split()]
    named = [word for word in words if word in schemas]
    free = {"Identity", "Constant", "Dropout", "If"}
    assert not [word for word in named if word not in CONVERTERS | COMPOSED and word not in free]
    assert op == "?" or op in schemas | {"Optional"}


def test_the_memory_of_the_chip_that_is_given_counts(call: Run, tmp_path: Path) -> None:
    """A channel that fits a lane of the BM1684X is split for a smaller one."""
    b = Builder(3)
    scale, bias = (b.constant(name, np.array([0.5, 2.0])) for name in ("scale", "bias"))
    y = b.node("InstanceNormalization", ["x", scale, bias], "y")
    shape = (1, 2, 60, 90)
    model = write(tmp_path / "m.onnx", b.model({"x": shape}, {y: shape}))
    chip = describe(tmp_path / "small.toml", {"262144": "65536"}, name="SMALL")
    done = call("tpu-compile", "--check", model, "--chip", chip)
    assert done.status == 0
    assert "ops can be compiled (F16, SMALL)" in done.out
    out = tmp_path / "out"
    assert call("tpu-compile", model, "--chip", chip, "-o", out, "--quiet").status == 0
    file = tmp_path / "report.json"
    compared = ("--compare", model, "--report", file)
    assert call("tpu-run", out, "--chip", chip, "--check", *compared, "--quiet").status == 0
    (figures,) = json.loads(file.read_text())["comparison"]["tensors"].values()
    assert figures["max_abs_error"] < 1e-2  # of numbers up to 8, in F16
    assert (out / "final.mlir").read_text().count("tpu.Reduce") >= 4
    done = call("tpu-compile", "--check", model, "--disable-pass", "split-long-rows", "--quiet")
    assert done.status == 0  # on the BM1684X
    done = call(
        *("tpu-compile", "--check", model, "--chip", chip, "--disable-pass", "split-long-rows")
    )
    assert done.status == 1
    assert "local memory is too small" in done.out


def test_other_options_count(call: Run, models: Path, tmp_path: Path) -> None:
    """What cannot be compiled because of its options is no model that can be compiled."""
    done = call("tpu-compile", "--check", models / "cnn.onnx", "--disable-pass", "canonicalise")
    assert done.status == 1
    assert "did you mean 'canonicalize'" in done.err
    ir = tmp_path / "m.mlir"
    ir.write_text("module {}")
    done = call("tpu-compile", "--check", ir, "--weights", tmp_path / "gone.npz")
    assert done.status == 1
    assert "gone.npz" in done.err
