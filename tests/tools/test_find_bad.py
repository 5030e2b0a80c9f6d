"""`tpu-run --find-bad`: statuses, table, report, and advice that helps."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.tools.running import Done, Run
from tests.tools.small_models import Builder

FOUND = 5


def too_large(scale: float = 3e4) -> onnx.ModelProto:
    """A convolution, a scale that F16 cannot hold, its root, and a softmax of what is left."""
    b = Builder(3)
    x = b.node("Conv", ["image", b.weight("w0", 8, 3, 3, 3)], "conv0", kernel_shape=[3, 3])
    x = b.node("Relu", [x], "relu0")
    x = b.node("Mul", [x, b.constant("scale", scale)], "scaled")
    x = b.node("Sqrt", [x], "root")
    x = b.node("Mul", [x, b.constant("back", scale**-0.5)], "small")
    b.node("Softmax", [x], "y", axis=3)
    return b.model({"image": (1, 3, 10, 10)}, {"y": (1, 8, 8, 8)})


def masked() -> onnx.ModelProto:
    """Attention whose mask is -inf above the diagonal."""
    b = Builder(4)
    mask = np.triu(np.full((12, 12), -np.inf, np.float32), 1)
    scores = b.node("MatMul", ["q", "k"], "scores")
    x = b.node("Add", [scores, b.constant("mask", mask)], "masked")
    x = b.node("Softmax", [x], "attention", axis=-1)
    b.node("MatMul", [x, "q"], "y")
    return b.model({"q": (1, 12, 16), "k": (1, 16, 12)}, {"y": (1, 12, 16)})


@pytest.fixture
def compile_(call: Run, tmp_path: Path) -> Callable[..., Path]:
    """Compiles a model into a folder of its own."""

    def compile_model(model: onnx.ModelProto, *options: object) -> Path:
        (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
        done = call("tpu-compile", tmp_path / "net.onnx", "-o", tmp_path / "out", *options)
        assert done.status == 0, done.err
        return tmp_path / "out"

    return compile_model


def test_cause_and_what_helps(call: Run, compile_: Callable[..., Path], tmp_path: Path) -> None:
    """The line that it gives is a line of a quantize table, and with it nothing is found."""
    report = tmp_path / "bad.json"
    program = compile_(too_large())
    done = call("tpu-run", program, "--find-bad", "--report", report)
    assert done.status == FOUND
    found = json.loads(report.read_text())
    first = found["found"][0]
    assert (first["fault"], first["type"], first["causes"]) == ("overflow", "f16", [])
    assert first["layer"].startswith("scaled")
    assert all(one["inf"] == one["nan"] == 0 for one in first["operands"])
    assert max(one["absmax"] for one in first["operands"]) < 65504
    assert found["outputs_not_finite"]
    assert "infinite from finite numbers (beyond 65,504" in done.err
    assert "what helps: layer 'scaled" in done.out
    lines: list[str] = []
    while found["found"]:
        lines += [one.split("line '")[1].split("'")[0] for one in found["advice"]]
        assert len(lines) == len(set(lines)) <= 3
        (tmp_path / "table").write_text("\n".join(lines))
        program = compile_(too_large(), "--quantize-table", tmp_path / "table")
        call("tpu-run", program, "--find-bad", "--quiet", "--report", report)
        found = json.loads(report.read_text())
    assert lines[0].split()[0] == first["layer"]
    assert call("tpu-run", program, "--find-bad", "--quiet") == Done(0, "", "")


def test_masks_are_clean(call: Run, compile_: Callable[..., Path]) -> None:
    done = call("tpu-run", compile_(masked()), "--find-bad")
    assert done.status == 0
    assert done.out.startswith("nothing found in the outputs: ")
    assert "what helps" not in done.out


def test_hidden_numbers_are_in_the_first_line(call: Run, compile_: Callable[..., Path]) -> None:
    """Logarithms of negative numbers that a Where leaves aside are no finding, and are there."""
    b = Builder(6)
    positive = b.node("Greater", ["x", b.constant("zero", 0.0)], "positive")
    x = b.node("Where", [positive, b.node("Log", ["x"], "log"), "x"], "y")
    assert x == "y"
    done = call("tpu-run", compile_(b.model({"x": (1, 64)}, {"y": (1, 64)})), "--find-bad")
    assert done.status == 0
    assert done.out.startswith("nothing found in the outputs: ")
    assert "infinities and NaNs that no output comes from" in done.out
    assert "NaN from finite" in done.out


def test_bad_threshold_saturates(call: Run, compile_: Callable[..., Path], tmp_path: Path) -> None:
    """A threshold of a tenth of what it should be, in a table whose others are right."""
    b = Builder(5)
    x = b.node("Conv", ["image", b.weight("w0", 8, 3, 3, 3)], "conv0", kernel_shape=[3, 3])
    b.node("Conv", [x, b.weight("w1", 8, 8, 1, 1)], "y", kernel_shape=[1, 1])
    model = b.model({"image": (1, 3, 10, 10)}, {"y": (1, 8, 8, 8)})
    names = {"image": 4.0, "conv0_Conv": 4.0, "y_Conv": 4.0}
    for narrow, layers in ((1.0, []), (0.1, ["conv0_Conv"])):
        names["conv0_Conv"] = 4.0 * narrow
        lines = (f"{name} {end} {-end} {end}" for name, end in names.items())
        (tmp_path / "cali").write_text("\n".join(lines) + "\n")
        options = ("--quantize", "INT8", "--calibration-table", tmp_path / "cali")
        report = tmp_path / "bad.json"
        program = compile_(model, *options)
        done = call("tpu-run", program, "--find-bad", "--quiet", "--report", report)
        found = json.loads(report.read_text())["found"]
        assert [row["layer"] for row in found] == layers
        assert done.status == (FOUND if layers else 0)
    assert "saturation: integers at the limits of their type" in done.err
    assert "a larger threshold for layer 'conv0_Conv' in the calibration table" in done.err
    done = call("tpu-run", program, "--find-bad", "--quiet", "--saturated", "1")
    assert done.status == 0


def test_index_outside_its_table(call: Run, compile_: Callable[..., Path], tmp_path: Path) -> None:
    table = numpy_helper.from_array(np.ones((10, 4), np.float32), "table")
    node = helper.make_node("Gather", ["table", "ids"], ["y"], "y", axis=0)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [3])
    rows = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 4])
    graph = helper.make_graph([node], "look", [ids], [rows], [table])
    program = compile_(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
    np.savez(tmp_path / "ids.npz", ids=np.array([1, 12, 3]))
    done = call("tpu-run", program, "--find-bad", "--inputs", tmp_path / "ids.npz", "--quiet")
    assert done.status == FOUND
    assert "index 12 is outside its table of 10 rows" in done.err
    assert done.err.endswith("check the ids or positions that the network is given\n")


def test_outputs_are_those_of_a_run(
    call: Run, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    written = [tmp_path / "a.npz", tmp_path / "b.npz"]
    for path, option in zip(written, ("--find-bad", "--quiet"), strict=True):
        done = call("tpu-run", compiled("cnn"), option, "--quiet", "--outputs", path)
        assert done.status == 0, done.err
    first, second = (dict(np.load(path)) for path in written)
    assert first.keys() == second.keys()
    assert all((first[name] == second[name]).all() for name in first)


def test_wrong_usage(call: Run, compiled: Callable[[str], Path]) -> None:
    done = call("tpu-run", compiled("cnn"), "--find-bad", "--html", "x.html")
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: --find-bad runs by itself: leave out --html\n"
    done = call("tpu-run", compiled("cnn"), "--find-bad", "--saturated", "2")
    assert done.status == 2
    assert "'2' is not a number from 0 to 1" in done.err
    done = call("tpu-run", compiled("cnn"), "--saturated", "0.2")
    assert done.status == 2
    assert "--saturated is for --find-bad, which is missing" in done.err
