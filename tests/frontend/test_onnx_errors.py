"""What is wrong with a model is said at once, and says where and what to do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.main_function import find_main
from xdsl_tpu.frontend.onnx import check_onnx, import_onnx

ModelOf = Callable[..., onnx.ModelProto]
X = np.zeros((1, 3, 8, 8), np.float32)


def relu(model_of: ModelOf, opset: int = 17) -> onnx.ModelProto:
    return model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": X}, {}, ["y"], opset)


def test_missing_and_foreign_files(tmp_path: Path) -> None:
    with pytest.raises(TpuError, match=r"nothing\.onnx: there is no such file"):
        import_onnx(tmp_path / "nothing.onnx")
    (tmp_path / "text.onnx").write_text("not a model")
    with pytest.raises(TpuError, match="not a readable ONNX model"):
        import_onnx(tmp_path / "text.onnx")
    (tmp_path / "empty.onnx").write_bytes(b"")
    with pytest.raises(TpuError, match="not an ONNX model"):
        import_onnx(tmp_path / "empty.onnx")


def test_old_opsets_are_converted(model_of: ModelOf) -> None:
    node = helper.make_node("Pad", ["x"], ["y"], pads=[0, 0, 1, 1, 0, 0, 2, 2], value=0.5)
    text = str(import_onnx(model_of([node], {"x": X}, {}, ["y"], 7)))
    assert "tensor<1x3x11x11xf32>" in text


def test_old_opset_that_cannot_be_converted(model_of: ModelOf) -> None:
    node = helper.make_node("Upsample", ["x"], ["y"], scales=[1.0, 1.0, 2.0, 2.0], mode="nearest")
    model = model_of([node], {"x": X}, {}, ["y"], 7)
    model.graph.node.append(helper.make_node("Unheard", ["y"], ["z"]))
    with pytest.raises(
        TpuError, match=r"unit: opset 7 cannot be converted to 13 \(.*Unheard.*again"
    ):
        import_onnx(model)


@pytest.mark.parametrize("opset", [9, 11, 21, 28])
def test_opsets_in_range_and_newer_with_known_ops(model_of: ModelOf, opset: int) -> None:
    assert check_onnx(relu(model_of, opset)) == []


def test_invalid_model(model_of: ModelOf) -> None:
    model = relu(model_of)
    model.graph.node[0].input[0] = "ghost"
    with pytest.raises(TpuError, match=r"tensor .ghost., which nothing makes"):
        import_onnx(model)


@pytest.fixture
def dynamic() -> onnx.ModelProto:
    """Relu of images in batches of unknown size."""
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, "W"])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3, 8, "W"])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [value], [result])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            None,
            r"input 'x' \[N, 3, 8, W\]: its shape is not fixed(.|\n)*--input-shapes x=1x3x8x224 ",
        ),
        ({"x": (1, 3, 8)}, "has another rank"),
        ({"x": (1, 4, 8, 8)}, "contradicts the fixed dimensions"),
        ({"x": (0, 3, 8, 8)}, "must all be positive"),
        ({"x": (1, 3, 8, 8), "z": (1,)}, r"no input 'z'\nthe model's inputs are: x \[N, 3, 8, W\]"),
    ],
)
def test_dynamic_dimensions(dynamic: onnx.ModelProto, shapes: Any, message: str) -> None:
    with pytest.raises(TpuError, match=message):
        import_onnx(dynamic, shapes)


def test_advice_fits_the_known_dimensions() -> None:
    """An exporter's NHWC image and its words get shapes that may be typed as they stand."""
    values = [
        helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", "H", "W", 3]),
        helper.make_tensor_value_info("ids", TensorProto.FLOAT, ["N", "S"]),
        helper.make_tensor_value_info("known", TensorProto.FLOAT, [1, 4]),
    ]
    nodes = [helper.make_node("Relu", [value.name], [f"y_{value.name}"]) for value in values]
    outputs = [
        helper.make_tensor_value_info(f"y_{value.name}", TensorProto.FLOAT, ["a", "b"])
        for value in values[1:]
    ]
    graph = helper.make_graph(nodes, "g", values, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    with pytest.raises(TpuError, match="--input-shapes image=1x224x224x3 ids=1x128 "):
        import_onnx(model)


def test_given_dimensions(dynamic: onnx.ModelProto) -> None:
    module = import_onnx(dynamic, {"x": (2, 3, 8, 5)})
    assert "tensor<2x3x8x5xf32>" in str(module)


def test_all_problems_at_once(model_of: ModelOf) -> None:
    nodes = [
        helper.make_node("NonZero", ["x"], ["a"], name="first"),
        helper.make_node("Relu", ["x"], ["b"]),
        helper.make_node("Multinomial", ["b2"], ["c"], name="second"),
        helper.make_node("Reshape", ["b", "s"], ["b2"]),
        helper.make_node("Resize", ["b", "", "f"], ["y"], name="third", mode="sinc"),
    ]
    nodes[2], nodes[3] = nodes[3], nodes[2]
    constants = {"s": np.array([1, -1]), "f": np.array([1, 1, 2, 2], np.float32)}
    model = model_of(nodes, {"x": X}, constants, ["y"], 17)
    problems = [str(problem) for problem in check_onnx(model)]
    assert len(problems) == 2
    assert "node 'first' (NonZero, opset 17; inputs: x: float32[1,3,8,8]): this op" in problems[0]
    assert "node 'second' (Multinomial, opset 17; inputs: b2: float32[1,192])" in problems[1]
    with pytest.raises(TpuError, match=r"(?s)cannot import unit: 2 problems.*first.*second"):
        import_onnx(model)
    del model.graph.node[3], model.graph.node[0]
    with pytest.raises(TpuError, match=r"1 problem\n  - node 'third' \(Resize, .*sinc"):
        import_onnx(model)


def test_sizes_behind_a_bad_node_are_no_problems(model_of: ModelOf) -> None:
    """What is made of the size of something unknown is unknown, not unsupported."""
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], name="bad", perm=[0, 1, 1, 2]),
        helper.make_node("Shape", ["t"], ["s"]),
        helper.make_node("ConstantOfShape", ["s"], ["c"]),
        helper.make_node("Add", ["t", "c"], ["y"]),
    ]
    (problem,) = check_onnx(model_of(nodes, {"x": X}, {}, ["y"], 17))
    assert "node 'bad' (Transpose" in str(problem)


def test_dimensions_counted_from_the_last_one(model_of: ModelOf) -> None:
    """PyTorch writes them as they are in its `permute`; ONNX has none such."""
    from_last, from_first = (
        helper.make_node("Transpose", ["x"], ["y"], perm=perm)
        for perm in ([0, -2, -1, 1], [0, 2, 3, 1])
    )
    models = (model_of([node], {"x": X}, {}, ["y"], 17) for node in (from_last, from_first))
    one, other = (str(import_onnx(model)) for model in models)
    assert one == other


def test_outputs_need_no_types(model_of: ModelOf) -> None:
    """As those of values that were made outputs to look at; the nodes say what they are."""
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["r"], ["y"])]
    model = model_of(nodes, {"x": np.zeros((2, 3), np.float32)}, {}, ["y"], 17)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.graph.output.add().name = "r"
    found = import_onnx(model)
    returned = list(find_main(found)[1].body.block.ops)[-1]
    assert [known_shape(value.type) for value in returned.operands] == [(2, 3), (2, 3)]


def test_shape_mismatch_between_weight_and_node(model_of: ModelOf) -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": X}, {}, ["y"], 17)
    wrong = numpy_helper.from_array(np.zeros((4, 7, 3, 3), np.float32), "w")
    model.graph.initializer.append(wrong)
    model.graph.node[0].CopyFrom(helper.make_node("Conv", ["x", "w"], ["y"], name="conv"))
    problems = [str(problem) for problem in check_onnx(model)]
    assert len(problems) == 1
    assert "w: float32[4,7,3,3]" in problems[0]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_must_be_numbers(model_of: ModelOf, value: float) -> None:
    weight = np.full((4, 3, 1, 1), value, np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv")
    with pytest.raises(TpuError, match=r"node 'conv'.*constant 'w' has (NaN|infinite)"):
        import_onnx(model_of([node], {"x": X}, {"w": weight}, ["y"], 17))


def test_missing_values(model_of: ModelOf) -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    model = model_of([node], {"x": X}, {"w": np.zeros((4, 3, 1, 1), np.float32)}, ["y"], 17)
    model.graph.initializer[0].ClearField("raw_data")
    with pytest.raises(TpuError, match="initializer 'w': its values are missing"):
        import_onnx(model)


def test_integers_beyond_32_bits(model_of: ModelOf) -> None:
    node = helper.make_node("Add", ["x", "c"], ["y"])
    values = {"x": np.zeros(2, np.int64)}
    model = model_of([node], values, {"c": np.array([1, 2**31])}, ["y"], 17)
    with pytest.raises(TpuError, match="integers beyond 32 bits"):
        import_onnx(model)


def test_strings_are_refused(model_of: ModelOf) -> None:
    value = helper.make_tensor_value_info("x", TensorProto.STRING, [2])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [value], [value])
    graph.output[0].name = "y"
    with pytest.raises(TpuError, match=r"input 'x' \[2\]: it holds \w+, not numbers"):
        import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def test_dropout_in_training_is_said_to_be_that(model_of: ModelOf) -> None:
    constants = {"ratio": np.array(0.1, np.float32), "training": np.array(True)}
    node = helper.make_node("Dropout", ["x", "ratio", "training"], ["y"])
    with pytest.raises(TpuError, match=r"Dropout.*at random.*model\.eval\(\)"):
        import_onnx(model_of([node], {"x": X}, constants, ["y"], 17))


@pytest.mark.parametrize(
    ("node", "constants", "message"),
    [
        (
            helper.make_node("MaxPool", ["x"], ["y"], name="op", kernel_shape=[9, 9]),
            {},
            "output 'y': it has no numbers",
        ),
        (
            helper.make_node("MaxPool", ["x"], ["y"], name="op", kernel_shape=[12, 12]),
            {},
            "node 'op'.*its output 'y' would have a size of -3",
        ),
        (
            helper.make_node("Pad", ["x", "p"], ["y"], name="op"),
            {"p": np.array([0, 0, -9, 0, 0, 0, 0, 0])},
            "node 'op'.*its output 'y' would have a size of -1",
        ),
        (
            helper.make_node("Slice", ["x", "p", "p", "p"], ["y"], name="op"),
            {"p": np.array([1])},
            "output 'y': it has no numbers",
        ),
        (
            helper.make_node("Cast", ["x"], ["y"], name="op", to=TensorProto.STRING),
            {},
            "node 'op'.*a cast to strings is not supported",
        ),
        (
            helper.make_node("LayerNormalization", ["x", "g"], ["y"], name="op"),
            {"g": np.ones(5, np.float32)},
            "node 'op'.*its parameter 'g' needs 8 elements",
        ),
    ],
)
def test_results_that_cannot_be(
    model_of: ModelOf, node: onnx.NodeProto, constants: dict[str, Any], message: str
) -> None:
    with pytest.raises(TpuError, match=message):
        import_onnx(model_of([node], {"x": X}, constants, ["y"], 17))


def test_a_name_of_a_dimension_is_one_size() -> None:
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", size])
        for name, size in (("a", 4), ("b", "M"), ("y", 4))
    ]
    node = helper.make_node("Add", ["a", "b"], ["y"])
    model = helper.make_model(helper.make_graph([node], "g", values[:2], values[2:]))
    import_onnx(model, {"a": (2, 4), "b": (2, 1)})
    with pytest.raises(TpuError, match="input 'b': 'N' is 1 here, and 2 in input 'a'"):
        import_onnx(model, {"a": (2, 4), "b": (1, 4)})
