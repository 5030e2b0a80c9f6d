"""Inputs without a dimension, which a program has as one of size 1."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from tests.tools.running import Run


@pytest.mark.parametrize(("shape", "runs"), [((), True), ((1,), True), ((2,), False)])
def test_a_number_is_given_as_one(
    shape: tuple[int, ...], runs: bool, call: Run, tmp_path: Path
) -> None:
    model, out, values = tmp_path / "net.onnx", tmp_path / "out", tmp_path / "in.npz"
    value = helper.make_tensor_value_info
    inputs = [value("x", TensorProto.FLOAT, [1, 4, 8]), value("by", TensorProto.FLOAT, [])]
    node = helper.make_node("Mul", ["x", "by"], ["y"], "last")
    graph = helper.make_graph([node], "g", inputs, [value("y", TensorProto.FLOAT, [1, 4, 8])])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    model.write_bytes(made.SerializeToString())
    assert call("tpu-compile", model, "-o", out).status == 0
    x = np.random.default_rng(3).normal(size=(1, 4, 8)).astype(np.float32)
    np.savez(values, x=x, by=np.full(shape, 3.0, np.float32))
    options = ["--inputs", values, "--outputs", tmp_path / "y.npy"]
    done = call("tpu-run", out, *options)
    assert (done.status == 0) is runs, done.err
    if runs:
        assert np.allclose(np.load(tmp_path / "y.npy"), 3 * x, rtol=2e-3)
        if shape == ():
            again = call("tpu-run", out, *options, "--compare", model, "--min-cosine", "0.999")
            assert again.status == 0, again.err
    else:
        assert "input 'by' has shape [2], the program wants [1]" in done.err
