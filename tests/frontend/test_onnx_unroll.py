"""Loops whose number of turns is known: the same numbers as onnxruntime's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.onnx import import_onnx

Agree = Callable[..., ModuleOp]
ModelOf = Callable[..., onnx.ModelProto]
RNG = np.random.default_rng(12)
F, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def random(*shape: int) -> npt.NDArray[np.float32]:
    return RNG.standard_normal(shape).astype(np.float32)


def info(name: str, kind: int, *shape: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def doubling(condition: onnx.NodeProto) -> onnx.GraphProto:
    """state = w * state + x, with w its own and x from outside; gives each state."""
    weight = numpy_helper.from_array(np.array([0.5, 2, -1], np.float32), "w")
    nodes = [
        condition,
        helper.make_node("Mul", ["state", "w"], ["scaled"]),
        helper.make_node("Add", ["scaled", "x"], ["next"]),
        helper.make_node("Identity", ["next"], ["seen"]),
    ]
    inputs = [info("turn", I64), info("go", BOOL), info("state", F, 3)]
    outputs = [info("more", BOOL), info("next", F, 3), info("seen", F, 3)]
    return helper.make_graph(nodes, "body", inputs, outputs, [weight])


def loop(count: str, condition: str, body: onnx.GraphProto) -> list[onnx.NodeProto]:
    """A loop whose outputs have the shapes that ONNX does not infer."""
    return [
        helper.make_node("Loop", [count, condition, "start"], ["last", "all"], body=body),
        helper.make_node("Reshape", ["last", "three"], ["y"]),
        helper.make_node("Reshape", ["all", "shape"], ["z"]),
    ]


def shapes(turns: int) -> dict[str, npt.NDArray[np.int64]]:
    return {"three": np.array([3]), "shape": np.array([turns, 3])}


def test_loop_of_constant_count(agree: Agree) -> None:
    body = doubling(helper.make_node("Identity", ["go"], ["more"]))
    inputs = {"x": random(3), "start": random(3)}
    agree(loop("n", "", body), inputs, {"n": np.array(4), **shapes(4)}, ["y", "z"])


def test_loop_that_ends_by_its_condition(agree: Agree) -> None:
    limit = helper.make_node("Constant", [], ["limit"], value_int=2)
    body = doubling(helper.make_node("Less", ["turn", "limit"], ["more"]))
    body.node.insert(0, limit)
    inputs = {"x": random(3), "start": random(3)}
    agree(loop("", "c", body), inputs, {"c": np.array(True), **shapes(3)}, ["y", "z"])


def test_loop_that_depends_on_data(model_of: ModelOf) -> None:
    body = doubling(helper.make_node("Identity", ["go"], ["more"]))
    inputs = {"n": np.array(4), "x": random(3), "start": random(3)}
    model = model_of(loop("n", "", body), inputs, shapes(4), ["y", "z"], 17)
    with pytest.raises(TpuError, match=r"\(Loop, .*its trip count \('n'\) must be constant"):
        import_onnx(model)


def test_loop_that_would_be_too_large(model_of: ModelOf) -> None:
    body = doubling(helper.make_node("Identity", ["go"], ["more"]))
    for place in range(20):
        body.node.append(helper.make_node("Exp", ["next"], [f"e{place}"]))
        body.node.append(helper.make_node("Add", ["next", f"e{place}"], [f"s{place}"]))
    inputs = {"x": random(3), "start": random(3)}
    constants = {"n": np.array(1000), **shapes(1000)}
    model = model_of(loop("n", "", body), inputs, constants, ["y", "z"], 17)
    with pytest.raises(TpuError, match=r"its 1,000 turns of 42 ops would be 42,000 ops"):
        import_onnx(model)


@pytest.mark.parametrize(("axis", "backwards"), [(0, 0), (1, 0), (1, 1)])
def test_scan(agree: Agree, axis: int, backwards: int) -> None:
    nodes = [
        helper.make_node("Add", ["total", "part"], ["sum"]),
        helper.make_node("Mul", ["sum", "part"], ["product"]),
    ]
    inputs = [info("total", F, 4), info("part", F, 4)]
    outputs = [info("sum", F, 4), info("product", F, 4)]
    node = helper.make_node(
        "Scan",
        ["start", "x"],
        ["last", "all"],
        body=helper.make_graph(nodes, "body", inputs, outputs),
        num_scan_inputs=1,
        scan_input_axes=[axis],
        scan_output_axes=[axis],
        scan_input_directions=[backwards],
        scan_output_directions=[backwards],
    )
    shape = [4, 4]
    shape[axis] = 3
    agree(node, {"start": random(4), "x": random(*shape)}, {}, ["last", "all"])


def dropped_output(node: onnx.NodeProto) -> None:
    node.attribute[0].g.output.pop()


def no_outputs(node: onnx.NodeProto) -> None:
    node.attribute[0].g.ClearField("output")


def dropped_input(node: onnx.NodeProto) -> None:
    node.input.pop()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (dropped_output, "its body has 2 outputs where it needs 3: a condition, its states"),
        (no_outputs, "its body has 0 outputs where it needs 3"),
        (dropped_input, "its body has 3 inputs where it needs 2: its turn"),
    ],
)
def test_a_loop_and_its_body_that_differ(
    model_of: ModelOf, damage: Callable[[onnx.NodeProto], None], reason: str
) -> None:
    nodes = loop("n", "go", doubling(helper.make_node("Identity", ["go"], ["more"])))
    damage(nodes[0])
    constants = {"n": np.array(4), "go": np.array(True), **shapes(4)}
    model = model_of(nodes, {"x": random(3), "start": random(3)}, constants, ["y"], 17)
    with pytest.raises(TpuError, match=rf"'last' \(Loop.*{reason}"):
        import_onnx(model)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"num_scan_inputs": 3}, "its num_scan_inputs is 3, of 2 inputs"),
        ({"num_scan_inputs": 0}, "its num_scan_inputs is 0, of 2 inputs"),
        ({"num_scan_inputs": 1, "scan_input_axes": [2]}, "its axis 2 is not one of a tensor"),
        ({"num_scan_inputs": 1, "scan_output_axes": [-3]}, "its axis -3 is not one of a tensor"),
        ({"num_scan_inputs": 1, "scan_output_axes": [0, 0]}, "axes are .0, 0., not 1 numbers"),
        ({"num_scan_inputs": 2}, r"its scanned inputs have .3, 4. turns"),
    ],
)
def test_a_scan_and_its_body_that_differ(
    model_of: ModelOf, attributes: dict[str, Any], reason: str
) -> None:
    nodes = [helper.make_node("Add", ["total", "part"], ["sum"])]
    nodes.append(helper.make_node("Identity", ["sum"], ["seen"]))
    outputs = [info("sum", F, 4), info("seen", F, 4)]
    body = helper.make_graph(nodes, "body", [info("total", F, 4), info("part", F, 4)], outputs)
    node = helper.make_node("Scan", ["start", "x"], ["last", "all"], body=body, **attributes)
    model = model_of([node], {"start": random(4), "x": random(3, 4)}, {}, ["all"], 17)
    with pytest.raises(TpuError, match=rf"'last' \(Scan.*{reason}"):
        import_onnx(model)
