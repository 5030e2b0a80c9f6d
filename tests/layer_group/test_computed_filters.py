"""Networks whose filters are computed: convolutions are in layer groups, and values are right."""

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import xdsl_tpu as xt
from xdsl_tpu.dialects import tpu

Nodes = tuple[list[onnx.NodeProto], dict[str, np.ndarray], dict[str, tuple[int, ...]]]


def template() -> Nodes:
    """Features of one image slide over those of another, channel by channel."""
    rng = np.random.default_rng(3)
    weights: dict[str, np.ndarray] = {"w": rng.normal(size=(70, 3, 3, 3)).astype(np.float32)}
    weights["shape"] = np.array([70, 1, 4, 4])
    nodes = [
        helper.make_node("Conv", ["z", "w"], ["features"], kernel_shape=[3, 3], strides=[2, 2]),
        helper.make_node("Conv", ["x", "w"], ["image"], kernel_shape=[3, 3], strides=[2, 2]),
        helper.make_node("Reshape", ["features", "shape"], ["filter"]),
        helper.make_node("Conv", ["image", "filter"], ["found"], kernel_shape=[4, 4], group=70),
        helper.make_node("Relu", ["found"], ["y"]),
    ]
    return nodes, weights, {"z": (1, 3, 9, 9), "x": (1, 3, 25, 25)}


def modulated() -> Nodes:
    """A filter for each of two images, which are groups of one convolution."""
    rng = np.random.default_rng(4)
    weights: dict[str, np.ndarray] = {"w": rng.normal(size=(1, 40, 24, 3, 3)).astype(np.float32)}
    shapes = {"by_input": [2, 1, 24, 1, 1], "filters": [80, 24, 3, 3], "side": [1, 48, 9, 9]}
    weights |= {f"{name}_shape": np.array(shape) for name, shape in shapes.items()}
    nodes = [
        helper.make_node("Reshape", ["style", "by_input_shape"], ["by_input"]),
        helper.make_node("Mul", ["w", "by_input"], ["each"]),
        helper.make_node("Reshape", ["each", "filters_shape"], ["filter"]),
        helper.make_node("Reshape", ["x", "side_shape"], ["side"]),
        helper.make_node("Conv", ["side", "filter"], ["made"], pads=[1, 1, 1, 1], group=2),
        helper.make_node("LeakyRelu", ["made"], ["y"], alpha=0.2),
    ]
    return nodes, weights, {"style": (2, 24), "x": (2, 24, 9, 9)}


def mixed() -> Nodes:
    """A filter that is a mixture, by the mean of an image, of two."""
    rng = np.random.default_rng(5)
    weights: dict[str, np.ndarray] = {
        "w": rng.normal(size=(2, 72 * 35 * 9)).astype(np.float32),
        "r": rng.normal(size=(35, 2)).astype(np.float32),
        "shape": np.array([72, 35, 3, 3]),
    }
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[2, 3], keepdims=0),
        helper.make_node("MatMul", ["mean", "r"], ["share"]),
        helper.make_node("MatMul", ["share", "w"], ["mixture"]),
        helper.make_node("Reshape", ["mixture", "shape"], ["filter"]),
        helper.make_node("Conv", ["x", "filter"], ["made"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["made"], ["y"]),
    ]
    return nodes, weights, {"x": (1, 35, 12, 12)}


def model_of(network: Nodes) -> onnx.ModelProto:
    nodes, weights, shapes = network
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in shapes.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", "c", "h", "w"])
    initializers = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "computed", inputs, [output], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)


@pytest.mark.parametrize("mode", ["F16", "F32"])
@pytest.mark.parametrize("network", [template, modulated, mixed])
def test_it_is_in_a_group_with_what_follows(network: Callable[[], Nodes], mode: str) -> None:
    model = model_of(network())
    program = xt.compile(model, mode, progress=False)
    convolutions = [op for op in program.module().walk() if isinstance(op, tpu.Conv2DOp)]
    assert convolutions
    assert all(isinstance(op.parent_op(), tpu.GroupOp) for op in convolutions)
    inputs = program.random_inputs()
    assert xt.compare(program, model, inputs).cosine > (0.99999 if mode == "F16" else 0.9999999)
