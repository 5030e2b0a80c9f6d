"""The weight file of each stage holds what its text names, and nothing else."""

import re
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.onnx_pb import ModelProto
from tests.tools.running import Run


def assigned_rows() -> ModelProto:
    """Rows 1 and 2 of five are others, and a constant is added to all."""
    at = np.array([[0, 1], [0, 2]], np.int64)
    addend = np.random.default_rng(0).standard_normal((1, 5, 4)).astype(np.float32)
    nodes = [
        helper.make_node("ScatterND", ["x", "at", "rows"], ["assigned"]),
        helper.make_node("Add", ["assigned", "addend"], ["y"]),
    ]
    shapes = {"x": (1, 5, 4), "rows": (2, 4), "y": (1, 5, 4)}
    x, rows, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    )
    known = [numpy_helper.from_array(at, "at"), numpy_helper.from_array(addend, "addend")]
    graph = helper.make_graph(nodes, "assigned", [x, rows], [y], known)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_what_patterns_took_the_place_of_goes(tool: Run, tmp_path: Path) -> None:
    """The places that a ScatterND writes to are those of a Concat; nothing names them any more."""
    model, out = tmp_path / "assigned.onnx", tmp_path / "out"
    model.write_bytes(assigned_rows().SerializeToString())
    assert tool("tpu-compile", model, "-o", out, "--quiet").status == 0
    for stage, file in (("top", "top_f32_all_origin"), ("tpu", "tpu_lowered_bm1684x_f16")):
        text = (out / f"{stage}.mlir").read_text(encoding="utf-8")
        named = re.findall(r'"top.Weight"\(.*loc\("([^"]+)"\)', text)
        with np.load(out / f"assigned_{file}_weight.npz") as kept:
            assert sorted(kept.files) == sorted(named)
        assert len(named) == 1
