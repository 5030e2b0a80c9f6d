"""`tpu-run --compare` says when the model is not as it was when the program was compiled."""

import shutil
from pathlib import Path

import pytest
from onnx import TensorProto, helper
from tests.tools.running import Run


def model_of(kind: str) -> bytes:
    value = helper.make_tensor_value_info
    node = helper.make_node(kind, ["x"], ["y"], "last")
    x, y = (value(name, TensorProto.FLOAT, [1, 4, 8]) for name in "xy")
    graph = helper.make_graph([node], "g", [x], [y])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return made.SerializeToString()


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [("net", "Relu", False), ("net", "Abs", True), ("other", "Abs", False)],
)
def test_a_model_that_has_changed(
    name: str, kind: str, said: bool, call: Run, tmp_path: Path
) -> None:
    """A model of another name is compared with on purpose, and a copy is the same."""
    model, out, reference = tmp_path / "net.onnx", tmp_path / "out", tmp_path / "now"
    model.write_bytes(model_of("Relu"))
    assert call("tpu-compile", model, "-o", out).status == 0
    reference.mkdir()
    (reference / f"{name}.onnx").write_bytes(model_of(kind))
    done = call("tpu-run", out, "--compare", reference / f"{name}.onnx")
    assert done.status == 0, done.err
    note = f"note: {reference / name}.onnx is not the file that {out} was compiled from"
    assert (note in done.err) is said


def test_a_program_of_unknown_origin(call: Run, tmp_path: Path) -> None:
    model, out = tmp_path / "net.onnx", tmp_path / "out"
    model.write_bytes(model_of("Relu"))
    assert call("tpu-compile", model, "-o", out).status == 0
    alone = shutil.copy(out / "model.bmodel", tmp_path / "alone.bmodel")
    model.write_bytes(model_of("Abs"))
    done = call("tpu-run", alone, "--compare", model)
    assert done.status == 0, done.err
    assert "note" not in done.err
