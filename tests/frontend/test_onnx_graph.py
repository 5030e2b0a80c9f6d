"""Before conversion: weights from files, refilling, folding, aliases, shared constants."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.frontend.refill import is_stripped, refill

ModelOf = Callable[..., onnx.ModelProto]
Agree = Callable[..., ModuleOp]
RNG = np.random.default_rng(7)
X = RNG.standard_normal((2, 3, 4, 4)).astype(np.float32)
WEIGHT = RNG.standard_normal((5, 3, 1, 1)).astype(np.float32)


@pytest.fixture
def conv(model_of: ModelOf) -> onnx.ModelProto:
    """A convolution with one weight, `w`."""
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    return model_of([node], {"x": X}, {"w": WEIGHT}, ["y"], 17)


def ops(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk() if op.name.startswith("top.")]


def test_external_data(conv: onnx.ModelProto, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save_model(  # pyright: ignore[reportUnknownMemberType]  (a parameter has no type)
        conv, path, save_as_external_data=True, location="weights.bin", size_threshold=0
    )
    assert (tmp_path / "weights.bin").stat().st_size == WEIGHT.nbytes
    module = import_onnx(path)
    assert np.array_equal(weights_of(module)["w"], WEIGHT)
    (tmp_path / "weights.bin").write_bytes(b"short")
    with pytest.raises(TpuError, match="initializer 'w': cannot read"):
        import_onnx(path)
    model = onnx.ModelProto.FromString(path.read_bytes())
    model.graph.initializer[0].external_data[0].value = "../weights.bin"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(TpuError, match="outside of the model's directory"):
        import_onnx(path)


def test_refill_is_reproducible(conv: onnx.ModelProto) -> None:
    """First values of Philox keyed by crc32("w"); they may never change."""
    assert refill(conv) is conv
    conv.graph.initializer[0].ClearField("raw_data")
    entry = conv.metadata_props.add()
    entry.key, entry.value = "stripped_weights", json.dumps({"w": [[5, 3, 1, 1], 0.5, 2.0]})
    other = conv.metadata_props.add()
    other.key, other.value = "author", "somebody"
    assert is_stripped(conv)
    full = refill(conv)
    values = numpy_helper.to_array(full.graph.initializer[0])
    assert values.shape == (5, 3, 1, 1)
    assert values.dtype == np.float32
    expected = [-2.2602916, 2.7492990]
    assert np.allclose(values.reshape(-1)[:2], expected, rtol=0, atol=1e-6)
    assert not is_stripped(full)
    assert [entry.key for entry in full.metadata_props] == ["author"]
    assert is_stripped(conv)
    assert np.array_equal(weights_of(import_onnx(conv))["w"], values)


@pytest.mark.parametrize("text", ["not json", "[1, 2]", '{"w": [3]}'])
def test_damaged_metadata(conv: onnx.ModelProto, text: str) -> None:
    entry = conv.metadata_props.add()
    entry.key, entry.value = "stripped_weights", text
    with pytest.raises(TpuError, match="metadata entry 'stripped_weights' is damaged"):
        import_onnx(conv)


def test_shape_arithmetic_vanishes(agree: Agree) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "i"], ["n"]),
        helper.make_node("Div", ["n", "two"], ["half"]),
        helper.make_node("Unsqueeze", ["half", "z"], ["h"]),
        helper.make_node("Concat", ["h", "minus"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    constants = {"i": np.array(1), "two": np.array(2), "z": np.array([0]), "minus": np.array([-1])}
    module = agree(nodes, {"x": X}, constants)
    assert ops(module) == ["top.None", "top.Input", "top.Reshape"]


def test_constant_generators_fold(agree: Agree) -> None:
    nodes = [
        helper.make_node("ConstantOfShape", ["n"], ["zeros"]),
        helper.make_node("Range", ["a", "b", "c"], ["r"]),
        helper.make_node("Cast", ["r"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["zeros", "f"], ["k"]),
        helper.make_node("Add", ["x", "k"], ["y"]),
    ]
    constants = {"n": np.array([4, 4])} | {
        name: np.array(value, np.int64) for name, value in zip("abc", (0, 4, 1), strict=True)
    }
    module = agree(nodes, {"x": X}, constants)
    assert ops(module) == ["top.None", "top.Input", "top.Weight", "top.Add"]


def test_folded_integer_division_cuts_the_fraction(agree: Agree) -> None:
    nodes = [
        helper.make_node("Div", ["a", "b"], ["q"]),
        helper.make_node("Mod", ["a", "b"], ["r"]),
        helper.make_node("Sub", ["q", "r"], ["d"]),
        helper.make_node("Add", ["x", "d"], ["y"]),
    ]
    constants = {"a": np.array([-7, 7, -8, 8]), "b": np.array([2, -2, 3, 3])}
    agree(nodes, {"x": np.arange(4)}, constants)


def test_what_does_nothing_is_left_out(agree: Agree) -> None:
    nodes = [
        helper.make_node("Identity", ["x"], ["a"]),
        helper.make_node("Dropout", ["a"], ["b"]),
        helper.make_node("Cast", ["b"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Pad", ["c", "p"], ["d"]),
        helper.make_node("Mul", ["one", "d"], ["e"]),
        helper.make_node("Expand", ["e", "s"], ["f"]),
        helper.make_node("Relu", ["f"], ["y"]),
    ]
    constants = {"p": np.zeros(8, np.int64), "one": np.ones(1, np.float32), "s": np.ones(4, int)}
    assert ops(agree(nodes, {"x": X}, constants)) == ["top.None", "top.Input", "top.Relu"]


def test_unread_branches_are_left_out(agree: Agree) -> None:
    nodes = [
        helper.make_node("Exp", ["x"], ["unused"]),
        helper.make_node("Add", ["unused", "c"], ["also_unused"]),
        helper.make_node("Relu", ["x"], ["y"]),
    ]
    module = agree(nodes, {"x": X}, {"c": X})
    assert ops(module) == ["top.None", "top.Input", "top.Relu"]


def test_equal_constants_are_one_weight(agree: Agree) -> None:
    nodes = [
        helper.make_node("Add", ["x", "b"], ["u"]),
        helper.make_node("Mul", ["u", "a"], ["y"]),
    ]
    module = agree(nodes, {"x": X}, {"a": X * 2, "b": X * 2})
    assert list(weights_of(module)) == ["a"]
    module = agree(nodes, {"x": X}, {"a": X * 2, "b": X * 2 + (np.arange(4) == 3)})
    assert len(weights_of(module)) == 2


def test_constants_that_differ_in_one_place_stay_two(agree: Agree) -> None:
    one = np.zeros(1000, np.float32)
    other = one.copy()
    other[777] = 1
    nodes = [
        helper.make_node("Add", ["x", "a"], ["u"]),
        helper.make_node("Sub", ["u", "b"], ["y"]),
    ]
    assert len(weights_of(agree(nodes, {"x": one}, {"a": one, "b": other}))) == 2


@pytest.mark.parametrize("taken", [True, False])
def test_constant_if_is_decided(model_of: ModelOf, taken: bool) -> None:
    branches: dict[str, Any] = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(op, ["x"], [name])],
            name,
            [],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, X.shape)],
        )
        for name, op in (("then", "Relu"), ("else", "Exp"))
    }
    node = helper.make_node("If", ["c"], ["y"], **branches)
    model = model_of([node], {"x": X}, {"c": np.array(taken)}, ["y"], 17)
    module = import_onnx(model)
    assert ops(module)[2:] == ["top.Relu" if taken else "top.Exp"]


def test_several_inputs_and_outputs_keep_their_order(model_of: ModelOf) -> None:
    nodes = [
        helper.make_node("Sub", ["a", "b"], ["d"]),
        helper.make_node("Relu", ["b"], ["e"]),
    ]
    model = model_of(nodes, {"b": X, "a": X * 2, "i": np.zeros(3, np.int64)}, {}, ["e", "d"], 17)
    found = run_module(import_onnx(model), {"a": X * 3, "b": X, "i": np.zeros(3, np.float32)})
    assert list(found) == ["e_Relu", "d_Sub"]
    assert np.allclose(found["d_Sub"], X * 2)


def test_ranks_other_than_four_are_no_images(model_of: ModelOf) -> None:
    node = helper.make_node("Relu", ["x"], ["y"])
    text = str(import_onnx(model_of([node], {"x": X[0]}, {}, ["y"], 17)))
    assert "do_preprocess = false" in text
    assert "resize_dims" not in text


@pytest.mark.parametrize(
    ("op", "opset", "attributes"),
    [("Celu", 17, {"alpha": 0.7}), ("Selu", 18, {}), ("ThresholdedRelu", 18, {"alpha": 0.4}),
     ("Shrink", 18, {"lambd": 0.3, "bias": 0.1}),
     ("MeanVarianceNormalization", 17, {"axes": [1, 2]})],
)  # fmt: skip
def test_ops_defined_by_others_are_written_out(
    agree: Agree, op: str, opset: int, attributes: dict[str, Any]
) -> None:
    nodes = [
        helper.make_node(op, ["x"], ["m"], **attributes),
        helper.make_node(op, ["m"], ["y"], **attributes),
    ]
    agree(nodes, {"x": X}, opset=opset)


def test_attention_of_newer_opsets(agree: Agree) -> None:
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"])
    heads = {name: RNG.standard_normal((1, 2, 5, 8)).astype(np.float32) for name in "qkv"}
    agree(node, heads, opset=23)


def test_rms_norm_of_newer_opsets(agree: Agree) -> None:
    node = helper.make_node("RMSNormalization", ["x", "w"], ["y"], epsilon=1e-3)
    agree(node, {"x": X}, {"w": X[0, 0, 0].copy()}, opset=23)
