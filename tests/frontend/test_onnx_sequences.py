"""Sequences of tensors: the same numbers as onnxruntime's, without a sequence left."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import onnx
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.onnx import import_onnx

Agree = Callable[..., ModuleOp]
ModelOf = Callable[..., onnx.ModelProto]
RNG = np.random.default_rng(5)
PLACES = {f"p{k}" if k >= 0 else f"m{-k}": np.array(k) for k in (-2, -1, 0, 1, 2)}


def random(*shape: int) -> npt.NDArray[np.float32]:
    return RNG.standard_normal(shape).astype(np.float32)


def node(op: str, inputs: Sequence[str], output: str, **attributes: int) -> onnx.NodeProto:
    made = helper.make_node(op, inputs, [output], output)
    made.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
    return made


def ends(name: str, *shape: int) -> tuple[onnx.NodeProto, dict[str, npt.NDArray[np.int64]]]:
    """The output y, in the shape it has, which ONNX does not infer."""
    return node("Reshape", [name, "shape"], "y"), {"shape": np.array(shape)}


THREE = [
    node("SequenceEmpty", [], "none"),
    node("SequenceInsert", ["none", "a"], "one"),
    node("SequenceInsert", ["one", "b"], "two"),
]
"""a and b, one behind the other."""

INPUTS = {"a": random(2, 3), "b": random(2, 3), "c": random(2, 3)}


@pytest.mark.parametrize(
    ("place", "found"), [("p0", "c"), ("p1", "a"), ("m1", "c"), ("p2", "b"), ("", "b")]
)
def test_insert_and_at(agree: Agree, place: str, found: str) -> None:
    """Insertion in front of a place, or at the end; `found` is then the second of the three."""
    where = ["three", "p1"]
    nodes = [
        *THREE,
        node("SequenceInsert", ["two", "c", *([place] if place else [])], "three"),
        node("SequenceAt", where, "at"),
        node("Mul", ["at", "a"], "product"),
    ]
    last, shape = ends("product", 2, 3)
    agree([*nodes, last], INPUTS, PLACES | shape, ["y"])


def test_erase_length_and_construct(agree: Agree) -> None:
    nodes = [
        node("SequenceConstruct", ["a", "b", "c"], "all"),
        node("SequenceErase", ["all"], "first_two"),
        node("SequenceErase", ["first_two", "m2"], "second"),
        node("SequenceLength", ["first_two"], "length"),
        node("Cast", ["length"], "count", to=TensorProto.FLOAT),
        node("SequenceAt", ["second", "m1"], "b_again"),
        node("Mul", ["b_again", "count"], "y"),
    ]
    agree(nodes, INPUTS, PLACES, ["y"])


@pytest.mark.parametrize(("axis", "new_axis"), [(0, 0), (1, 0), (-1, 0), (0, 1), (2, 1), (-1, 1)])
def test_concat(agree: Agree, axis: int, new_axis: int) -> None:
    """Along an axis, or along a new one."""
    concat = node("ConcatFromSequence", ["two"], "both", axis=axis, new_axis=new_axis)
    put = np.stack if new_axis else np.concatenate
    last, shape = ends("both", *put([INPUTS["a"], INPUTS["b"]], axis).shape)
    agree([*THREE, concat, last], INPUTS, shape, ["y"])


SIZES = {"several": np.array([1, 3, 1]), "two": np.array(2), "one": np.array(1)}


@pytest.mark.parametrize(
    ("sizes", "keepdims", "places"),
    [
        ("", 1, "p2"),
        ("", 0, "m1"),
        ("several", 0, "p1"),
        ("two", 1, "m1"),
        ("one", 1, "p2"),
        ("one", 0, "p2"),
    ],
)
def test_split(agree: Agree, sizes: str, keepdims: int, places: str) -> None:
    """Sizes that are given keep the axis, but one of 1; the last part is what is left."""
    inputs = ["x", *([sizes] if sizes else [])]
    nodes = [
        node("SplitToSequence", inputs, "parts", axis=1, keepdims=keepdims),
        node("SequenceAt", ["parts", places], "part"),
        node("Neg", ["part"], "y"),
    ]
    agree(nodes, {"x": random(2, 5)}, {**PLACES, **SIZES}, ["y"])


def test_a_sequence_that_grows_in_a_loop(agree: Agree) -> None:
    body = helper.make_graph(
        [
            node("Identity", ["go"], "more"),
            node("Gather", ["x", "turn"], "row"),
            node("SequenceInsert", ["list", "row"], "longer"),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_sequence_value_info("list", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("more", TensorProto.BOOL, []),
            helper.make_tensor_sequence_value_info("longer", TensorProto.FLOAT, None),
        ],
    )
    nodes = [
        node("SequenceEmpty", [], "start"),
        helper.make_node("Loop", ["n", "", "start"], ["rows"], body=body),
        node("ConcatFromSequence", ["rows"], "all", axis=0, new_axis=1),
    ]
    last, shape = ends("all", 3, 3)
    agree([*nodes, last], {"x": random(4, 3)}, {"n": np.array(3)} | shape, ["y"])


def test_what_is_wrong_is_said(model_of: ModelOf) -> None:
    """A place that is not there, one that is not constant, a sequence in place of a tensor."""
    info = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    for nodes, words in (
        ([node("SequenceAt", ["two", "p2"], "y")], "its position is 2, and there are 2"),
        ([node("SequenceAt", ["two", "where"], "y")], r"its position \('where'\) must be constant"),
        ([node("ConcatFromSequence", ["none"], "y", axis=0)], "its sequence is empty"),
        ([node("SequenceAt", ["a", "p0"], "y")], "its input 'a' is no sequence"),
        ([node("Neg", ["two"], "y")], "its input 'two' is a sequence of tensors"),
        ([node("ConcatFromSequence", ["two"], "y", axis=3, new_axis=1)], "its axis 3 is not one"),
        ([node("Identity", ["two"], "y")], "output 'y': it is a sequence of tensors"),
    ):
        inputs = {**INPUTS, "where": np.array(1)}
        model = model_of([*THREE, *nodes], inputs, PLACES, ["y"], 17)
        if not model.graph.output[0].type.HasField("sequence_type"):
            model.graph.output[0].CopyFrom(info)
        with pytest.raises(TpuError, match=words):
            import_onnx(model)
