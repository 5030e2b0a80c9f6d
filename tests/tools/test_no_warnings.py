"""Numbers beyond a format are no reason for a warning of Python's: none may reach a user.

Here warnings are errors, as in all tests.
"""

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from tests.tools.running import Run
from tests.tools.small_models import Builder

SHAPE = (1, 6, 8, 8)
UNARY = (
    *("Exp", "Log", "Sqrt", "Sigmoid", "Tanh", "Erf", "Reciprocal", "Softplus", "Gelu", "Floor"),
    *("Abs", "Neg", "Relu", "HardSwish", "Elu", "Mish", "Sin", "Cos", "Sign", "Round"),
)


def extreme() -> onnx.ModelProto:
    """Everything that can overflow, of one input; an output for each."""
    b = Builder(2)
    made = [b.node(kind, ["x"], kind) for kind in UNARY]
    large = b.weight("large", 6, 6, 1, 1, scale=1e30)
    made += [
        b.node("Mul", ["x", b.constant("million", 1e6)], "Mul"),
        b.node("Mul", ["Mul", "x"], "Square"),
        b.node("Add", ["x", b.constant("mask", -3e38)], "Add"),
        b.node("Div", ["x", b.constant("least", 1e-30)], "Div"),
        b.node("Sub", ["Mul", "Square"], "Sub"),
        b.node("Div", ["x", "Sub"], "Quotient"),
        b.node("Pow", ["x", b.constant("four", 4.0)], "Pow"),
        b.node("Softmax", ["x"], "Softmax", axis=-1),
        b.node("Conv", ["x", large], "Conv"),
        b.node("MatMul", ["x", "Mul"], "MatMul"),
        b.node("MatMul", ["x", b.weight("w", 8, 8, scale=1e30)], "Linear"),
        b.node("LayerNormalization", ["Square", b.weight("g", 8)], "Norm", axis=-1),
        b.node("ReduceSum", ["Square"], "ReduceSum"),
        b.node("GlobalAveragePool", ["Square"], "Pool"),
        b.node("AveragePool", ["Mul"], "Average", kernel_shape=[2, 2]),
        b.node("MaxPool", ["Square"], "Largest", kernel_shape=[2, 2]),
    ]
    sizes = {"ReduceSum": (1, 1, 1, 1), "Pool": (1, 6, 1, 1)}
    sizes |= dict.fromkeys(("Average", "Largest"), (1, 6, 7, 7))
    model = b.model({"x": SHAPE}, {name: sizes.get(name, SHAPE) for name in made})
    model.opset_import[0].version = 20
    model.ir_version = 9
    return model


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The network, inputs of ordinary and of enormous size, and a calibration table."""
    folder = tmp_path_factory.mktemp("extreme")
    (folder / "net.onnx").write_bytes(extreme().SerializeToString())
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    np.savez(folder / "plain.npz", x=x)
    np.savez(folder / "huge.npz", x=x * np.float32(1e37))
    return folder


@pytest.mark.parametrize(
    ("quantize", "numerics"),
    [("F32", "fast"), ("F16", "fast"), ("F16", "exact"), ("BF16", "fast")],
)
def test_numbers_beyond_a_format(
    quantize: str, numerics: str, files: Path, call: Run, tmp_path: Path
) -> None:
    model, out = files / "net.onnx", tmp_path / "out"
    done = call("tpu-compile", model, "--quantize", quantize, "-o", out, "--quiet")
    assert done.status == 0
    said = "note: constants that F16 cannot hold keep ops in F32: 'Mul_Mul_in_rows' (1e+06), "
    assert done.err.startswith(said) if quantize == "F16" else not done.err
    assert done.err.count("\n") == (quantize == "F16")
    for inputs in ("plain", "huge"):
        arguments = ("--inputs", files / f"{inputs}.npz", "--compare", model, "--compare-layers")
        done = call("tpu-run", out, *arguments, "--numerics", numerics, "--quiet")
        assert done.status == 3, done.err
        assert done.err.startswith("error: ")
        assert "internal error" not in done.err
        assert "NaN or infinite" in done.err


def test_calibration_and_eight_bits(files: Path, call: Run, tmp_path: Path) -> None:
    """Of numbers that are not finite there is no range: said, without a warning."""
    model, table = files / "net.onnx", tmp_path / "table"
    for inputs in ("plain", "huge"):
        arguments = ("--dataset", files / f"{inputs}.npz", "-o", table, "--method", "kl")
        done = call("tpu-calibrate", model, *arguments, "--quiet")
        assert done.status in (0, 1), done.err
        assert "internal error" not in done.err
        if done.status == 0:
            formats = ("--quantize", "INT8", "--calibration-table", table)
            done = call("tpu-compile", model, *formats, "-o", tmp_path / inputs, "--quiet")
            assert "internal error" not in done.err


def test_users_see_none_unless_they_ask(
    tool: Run, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning planted in the process, which the console script alone has to keep quiet."""
    planted = tmp_path / "sitecustomize.py"
    planted.write_text(
        "import sys, warnings\n"
        "from importlib.abc import MetaPathFinder\n"
        "class Plant(MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'xdsl_tpu.tools.tpu_compile_arguments':\n"
        "            warnings.warn('planted', RuntimeWarning)\n"
        "sys.meta_path.insert(0, Plant())\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "planted" not in tool("tpu-compile", "--version").err
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    assert "RuntimeWarning: planted" in tool("tpu-compile", "--version").err
    with pytest.raises(RuntimeWarning):
        warnings.warn("warnings are errors here", RuntimeWarning, stacklevel=1)
