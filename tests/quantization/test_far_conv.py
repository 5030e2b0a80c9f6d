"""Convolutions in 8 bits whose padding or taps are farther than a command says, on the machine."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from xdsl_tpu import calibrate
from xdsl_tpu import compile as compile_model

SHAPE = (1, 16, 20, 24)


def network(limit: float | None, **window: Any) -> onnx.ModelProto:
    """A convolution behind another one, with a ReLU that may have a limit."""
    rng = np.random.default_rng(1)
    near, far = (rng.standard_normal(shape) / 8 for shape in ((16, 16, 1, 1), (16, 16, 3, 3)))
    weights = [
        numpy_helper.from_array(array.astype(np.float32), name)
        for name, array in (("near", near), ("far", far), ("low", np.zeros(())))
    ]
    nodes = [
        helper.make_node("Conv", ["x", "near"], ["a"], kernel_shape=[1, 1]),
        helper.make_node("Conv", ["a", "far"], ["b"], kernel_shape=[3, 3], **window),
    ]
    if limit is None:
        nodes.append(helper.make_node("Relu", ["b"], ["y"]))
    else:
        weights.append(numpy_helper.from_array(np.array(limit, np.float32), "high"))
        nodes.append(helper.make_node("Clip", ["b", "low", "high"], ["y"]))
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", SHAPE), ("y", None))
    )
    graph = helper.make_graph(nodes, "far", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("limit", [None, 1.0])
@pytest.mark.parametrize(
    "window",
    [
        {"pads": [17, 16, 20, 0]},
        {"pads": [18] * 4, "dilations": [18, 18]},
        {"pads": [20, 1, 20, 1], "dilations": [20, 1], "strides": [2, 1]},
    ],
    ids=["padding", "taps", "both"],
)
def test_far_windows_are_in_8_bits(window: dict[str, Any], limit: float | None) -> None:
    model = network(limit, **window)
    x = np.random.default_rng(5).standard_normal(SHAPE).astype(np.float32)
    table = calibrate(model, {"x": x}, progress=False)
    program = compile_model(model, "INT8", calibration=table, progress=False)
    wanted = compile_model(model, "F32", progress=False).run({"x": x})["y"]
    found = program.run({"x": x})["y"]
    assert np.abs(found - wanted).max() <= 10 * wanted.max() / 255
    assert np.abs(found - wanted).max() > 1e-4 * wanted.max()  # floats would be nearer
