"""Ids, indices, positions and masks keep their integers in every number format."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.integers.on_chip import MODES, Array, Feeds, cosine, expected, found, model, notes

from xdsl_tpu.backend.execute import checked_input
from xdsl_tpu.backend.program import IoTensor
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.errors import TpuError

BIG = (1 << 31) - 1
A = np.array([[BIG, 8194, -7, 9915], [49406, 49407, -BIG, 16777217]])
B = np.array([[3, -5, 2, 4], [-16777217, 70000, 7, -1]])


def node(op: str, given: str, result: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, given.split(), result.split(), result, **attributes)


def wrapped(values: Array) -> Array:
    """As 32 bits hold them."""
    return values.astype(np.int32)


@pytest.mark.parametrize("mode", MODES)
def test_arithmetic_on_integers(mode: str, tmp_path: Path) -> None:
    binary = ("Add", "Sub", "Mul", "Div", "Mod", "Max", "Min")
    feeds: Feeds = {"a": A, "b": B, "x": np.ones((2, 4), np.float32)}
    nodes = [
        *(node(op, "a b", op.lower()) for op in binary),
        node("Less", "a b", "less"),
        node("Equal", "a same", "equal"),
        node("Where", "less a b", "where"),
        node("Concat", "a same b", "concat", axis=1),
        node("Gather", "ids three", "gather"),
        node("ReduceSum", "b axis", "reduce", keepdims=0),
        node("CumSum", "b one", "cumsum"),
        node("ArgMax", "a", "best", axis=1),
        node("Abs", "b", "abs"),
        node("Neg", "b", "neg"),
        node("Mod", "b thousand", "small"),
        node("Pow", "small three_times", "cube"),
        node("TopK", "a two", "largest top", axis=1),
        node("Trilu", "a", "half", upper=0),
        node("ReduceProd", "small", "product", axes=[1], keepdims=1),
        node("Relu", "x", "floats"),
    ]
    constants: Feeds = {
        "same": A[:, :1],
        "ids": A[1],
        "three": np.array([3, -4, 1]),
        "axis": np.array([1]),
        "one": np.array(1),
        "two": np.array([2]),
        "thousand": np.array(1000),
        "three_times": np.array(3),
    }
    names = [name for one in nodes for name in one.output]
    truths = {"less": "bool", "equal": "bool", "floats": "float32"}
    made = model(nodes, feeds, constants, {n: truths.get(n, "int64") for n in names})
    values = found(made, feeds, mode, tmp_path)
    for name, reference, value in zip(names, expected(made, feeds), values, strict=True):
        if name != "floats":
            assert np.array_equal(value.astype(np.int32), wrapped(reference)), (name, value)


@pytest.mark.parametrize("mode", MODES)
def test_tokens_of_a_large_table(mode: str, tmp_path: Path) -> None:
    """As CLIP: the last two of 49408 tokens differ, and the row of the largest id is taken."""
    random = np.random.default_rng(0)
    ids = np.array([[49406, 320, 9915, 9912, 49407, 49407]])
    nodes = [
        node("Reshape", "ids flat", "row"),
        node("Gather", "table row", "embedded"),
        node("Add", "embedded places", "hidden"),
        node("ArgMax", "ids", "last", axis=1, keepdims=0),
        node("Squeeze", "hidden zero", "first"),
        node("Gather", "first last", "pooled", axis=0),
    ]
    constants: Feeds = {
        "table": random.standard_normal((49408, 16)).astype(np.float32),
        "places": random.standard_normal((6, 16)).astype(np.float32),
        "flat": np.array([1, 6]),
        "zero": np.array([0]),
    }
    made = model(nodes, {"ids": ids}, constants, {"hidden": "float32", "pooled": "float32"})
    least = {"BF16": 0.9999, "INT8": 0.999}.get(mode, 0.999999)
    values = found(made, {"ids": ids}, mode, tmp_path)
    for reference, value in zip(expected(made, {"ids": ids}), values, strict=True):
        assert cosine(reference, value) >= least


@pytest.mark.parametrize("mode", MODES)
def test_rotation_by_large_positions(mode: str, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    feeds: Feeds = {
        "positions": 30000 + np.arange(8)[None],
        "q": random.standard_normal((1, 8, 32)).astype(np.float32),
    }
    nodes = [
        node("Unsqueeze", "positions one", "column"),
        node("Cast", "column", "floats", to=1),
        node("MatMul", "frequencies floats", "turned"),
        node("Transpose", "turned", "angles", perm=[0, 2, 1]),
        node("Concat", "angles angles", "both", axis=-1),
        node("Cos", "both", "cos"),
        node("Sin", "both", "sin"),
        node("Mul", "q cos", "left"),
        node("Mul", "q sin", "right"),
        node("Add", "left right", "y"),
    ]
    frequencies = (10000.0 ** -(np.arange(16) / 16)).astype(np.float32).reshape(1, 16, 1)
    constants: Feeds = {"one": np.array([1]), "frequencies": frequencies}
    made = model(nodes, feeds, constants, {"y": "float32"})
    (reference,), (value,) = expected(made, feeds), found(made, feeds, mode, tmp_path)
    assert cosine(reference, value) >= {"BF16": 0.9999, "INT8": 0.999}.get(mode, 0.99999)
    assert notes(made, "F16") == []


def test_what_is_rounded_is_said_once() -> None:
    """An input as it is, and twice itself; not what a table of 100 rows is read by, nor a mask."""
    feeds: Feeds = {"ids": A, "x": np.ones((2, 4), np.float32)}
    nodes = [
        node("Cast", "ids", "floats", to=1),
        node("Mul", "x floats", "y"),
        node("Sub", "x floats", "z"),
        node("Less", "ids hundred", "less"),
        node("Cast", "less", "mask", to=1),
        node("Mul", "x mask", "w"),
    ]
    outputs = {"y": "float32", "z": "float32", "w": "float32"}
    made = model(nodes, feeds, {"hundred": np.array(100)}, outputs)
    assert notes(made, "F32") == []
    line = "integers are rounded to F16, which is exact up to 2048: 'floats_Cast'"
    assert notes(made, "F16") == [line]


def _lookup(index: Array, op: str = "Gather") -> tuple[onnx.ModelProto, Feeds]:
    feeds: Feeds = {"x": np.arange(30, dtype=np.float32).reshape(10, 3), "i": index}
    legal = feeds | {"i": 0 * index}
    return model([node(op, "x i", "y")], legal, {}, {"y": "float32"}), feeds


@pytest.mark.parametrize(
    ("op", "index", "message"),
    [
        ("Gather", [10], r"layer 'y_Gather' \(tpu.Gather\).*index 10 is outside its table of 10 "),
        ("Gather", [3, -11], "index -11 is outside its table of 10 rows"),
        ("GatherElements", [[0, 1, 10]], "index 10 is outside dimension 0 of its table"),
        ("GatherElements", [[-11, 1, 2]], "index -11 is outside dimension 0 "),
        ("GatherND", [[9, 3]], "index 3 is outside dimension 1 of its table, which has 30 "),
        ("GatherND", [[-12, 1]], "index -12 is outside dimension 0 "),
        ("GatherND", [[1, 0], [BIG, 0]], "index 67108863 or beyond is outside dimension 0 "),
        ("GatherND", [[0, 2], [0, -BIG]], "index -67108864 or beyond is outside dimension 1 "),
    ],
)  # fmt: skip
def test_an_index_outside_its_table_is_named(
    op: str, index: list[int], message: str, tmp_path: Path
) -> None:
    made, feeds = _lookup(np.array(index), op)
    with pytest.raises(TpuError, match=message):
        found(made, feeds, "F16", tmp_path)


@pytest.mark.parametrize(
    ("op", "index", "message"),
    [
        ("Gather", [3, 10], r"'y' .*: index 10 is outside dimension 0 of its table \[10, 3\]"),
        ("GatherElements", [[0, -11, 9]], "index -11 is outside dimension 0"),
        ("GatherND", [[8, 3]], r"index 3 is outside dimension 1 of its table \[10, 3\]"),
    ],
)
def test_a_constant_index_outside_its_table_is_refused(
    op: str, index: list[int], message: str, tmp_path: Path
) -> None:
    feeds: Feeds = {"x": np.arange(30, dtype=np.float32).reshape(10, 3)}
    legal = model([node(op, "x i", "y")], feeds, {"i": 0 * np.array(index)}, {"y": "float32"})
    legal.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array(index), "i"))
    with pytest.raises(TpuError, match=message):
        found(legal, feeds, "F16", tmp_path)


@pytest.mark.parametrize("op", ["Gather", "GatherElements"])
def test_indices_may_count_from_the_end(op: str, tmp_path: Path) -> None:
    made, feeds = _lookup(np.array([[-10, 9, -1]]), op)
    (reference,) = expected(made, feeds)
    (value,) = found(made, feeds, "F16", tmp_path)
    assert np.array_equal(reference, value)


def test_what_may_need_more_than_32_bits_is_said() -> None:
    """Ids below 10 times 2^28 may wrap, times 2^27 not; of `n` nothing is known."""
    feeds: Feeds = {"i": np.array([1, 2]), "n": np.array([1, 2])}
    nodes = [
        node("Gather", "table i", "y"),
        node("Mul", "i large", "wide"),
        node("Mul", "i less", "narrow"),
        node("Mul", "n large", "unknown"),
        node("Add", "wide one", "behind"),
    ]
    constants: Feeds = {
        "table": np.ones((10, 4), np.float32),
        "large": np.array([1 << 28]),
        "less": np.array([1 << 27]),
        "one": np.array([1]),
    }
    outputs = {"y": "float32", "narrow": "int64", "unknown": "int64", "behind": "int64"}
    made = model(nodes, feeds, constants, outputs)
    assert notes(made, "F16") == ["integers may need more than 32 bits, and wrap then: 'wide_Mul'"]


def test_inputs_beyond_32_bits_are_refused(tmp_path: Path) -> None:
    made, feeds = _lookup(np.array([1 << 31]))
    with pytest.raises(TpuError, match="input 'i' has 2147483648, which i32 does not hold"):
        found(made, feeds, "F16", tmp_path)


@pytest.mark.filterwarnings("error")
def test_whole_numbers_in_f16_are_integers() -> None:
    """Its own limits are below those of 32 bits."""
    ids = IoTensor("i", 0, (2,), DType.I32)
    given = {"i": np.array([3, 65504], np.float16)}
    assert checked_input(ids, given).tolist() == [3, 65504]
