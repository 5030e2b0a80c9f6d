"""Slopes below zero in 8-bit networks: results have ranges of their own where they need them."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from xdsl_tpu import calibrate
from xdsl_tpu import compile as compile_model

SHAPE = (1, 8, 6, 6)


def network(kind: str, slope: float) -> onnx.ModelProto:
    """A function with a slope of a negated value, whose other reader keeps it as it is."""
    nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["r"])]
    weights: list[onnx.TensorProto] = []
    if kind == "PRelu":
        slopes = np.full((8, 1, 1), slope, np.float32)
        weights.append(numpy_helper.from_array(slopes, "slopes"))
        nodes.append(helper.make_node(kind, ["a", "slopes"], ["y"]))
    else:
        nodes.append(helper.make_node(kind, ["a"], ["y"], alpha=slope))
    nodes.append(helper.make_node("MaxPool", ["y"], ["z"], kernel_shape=[2, 2], strides=[2, 2]))
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in named]
        for named in ([("x", SHAPE)], [("r", SHAPE), ("z", (1, 8, 3, 3))])
    )
    graph = helper.make_graph(nodes, "slopes", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize("slope", [0.25, 1.0, 9.0, -9.0])
@pytest.mark.parametrize("kind", ["PRelu", "LeakyRelu"])
def test_steep_slopes_are_not_cut_off(kind: str, slope: float) -> None:
    model = network(kind, slope)
    x = np.random.default_rng(5).uniform(0.2, 1.0, SHAPE).astype(np.float32)
    table = calibrate(model, {"x": x}, progress=False)
    program = compile_model(model, "INT8", calibration=table, progress=False)
    found = program.run({"x": x})["z"]
    wanted = (-slope * x).reshape(1, 8, 3, 2, 3, 2).max(axis=(3, 5))
    step = max(1.0, abs(slope)) / 127
    assert np.abs(found - wanted).max() <= 3 * step
