"""`tpu-run` says when numbers became infinite on the way to outputs that are finite."""

import json
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from tests.tools.running import Run


@pytest.mark.parametrize(
    ("quantize", "last", "said"),
    [
        ("F16", "HardSigmoid", True),
        ("F32", "HardSigmoid", False),
        ("F16", "Softmax", False),
    ],
)
def test_infinities_that_no_output_has(
    quantize: str, last: str, said: bool, call: Run, tmp_path: Path
) -> None:
    """Products beyond 65,504 are bounded behind it; what a Softmax makes on its way is its own
    affair, and small products are no news."""
    model, report = tmp_path / "large.onnx", tmp_path / "report.json"
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Mul", ["x", "y"], ["large"], "large"),
        helper.make_node(last, ["large"], ["z"], "last"),
    ]
    inputs = [value(name, TensorProto.FLOAT, [1, 4, 8]) for name in "xy"]
    graph = helper.make_graph(nodes, "g", inputs, [value("z", TensorProto.FLOAT, [1, 4, 8])])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    model.write_bytes(made.SerializeToString())
    size = 1000 if last == "HardSigmoid" else 200
    x = np.full((1, 4, 8), size, np.float32)
    y = x * np.where(np.arange(8) % 2, 1, -1).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x, y=y)
    out = tmp_path / "out"
    assert call("tpu-compile", model, "--quantize", quantize, "-o", out).status == 0
    done = call("tpu-run", out, "--inputs", tmp_path / "x.npz", "--report", report)
    assert done.status == 0, done.err
    assert ("note: numbers of layer 'large_Mul' (tpu.Mul) became infinite" in done.err) == said
    found = json.loads(report.read_text()).get("overflowed")
    assert found == ({"large_Mul": "tpu.Mul"} if said else None)
    quiet = call("tpu-run", out, "--inputs", tmp_path / "x.npz", "--quiet", "--report", report)
    assert (quiet.status, quiet.err) == (0, "")
