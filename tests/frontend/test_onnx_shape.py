"""Converters that move data: reshapes, slices, joins, padding, indices."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

Agree = Callable[..., ModuleOp]
RNG = np.random.default_rng(3)
X = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)


def ints(*values: int) -> np.typing.NDArray[np.int64]:
    return np.array(values, np.int64)


@pytest.mark.parametrize("target", [(2, -1), (0, 12, 5), (-1,), (6, 1, 20)])
def test_reshape(agree: Agree, target: tuple[int, ...]) -> None:
    agree(helper.make_node("Reshape", ["x", "s"], ["y"]), {"x": X}, {"s": ints(*target)})


@pytest.mark.parametrize("axis", [0, 1, 2, 4, -1])
def test_flatten(agree: Agree, axis: int) -> None:
    agree(helper.make_node("Flatten", ["x"], ["y"], axis=axis), {"x": X})


def test_squeeze_and_unsqueeze(agree: Agree) -> None:
    nodes = [
        helper.make_node("Unsqueeze", ["x", "a"], ["u"]),
        helper.make_node("Squeeze", ["u", "b"], ["y"]),
    ]
    agree(nodes, {"x": X[:, :1]}, {"a": ints(0, -1), "b": ints(2)})


def test_squeeze_all(agree: Agree) -> None:
    agree(helper.make_node("Squeeze", ["x"], ["y"]), {"x": X[:1, :, :1]})


def test_scalar_becomes_one_element(agree: Agree) -> None:
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        helper.make_node("Unsqueeze", ["s", "a"], ["u"]),
        helper.make_node("Add", ["u", "s"], ["y"]),
    ]
    agree(nodes, {"x": X}, {"a": ints(0)})


@pytest.mark.parametrize("perm", [(0, 2, 3, 1), (3, 1, 0, 2), None])
def test_transpose(agree: Agree, perm: tuple[int, ...] | None) -> None:
    attributes: dict[str, Any] = {"perm": perm} if perm else {}
    agree(helper.make_node("Transpose", ["x"], ["y"], **attributes), {"x": X})


@pytest.mark.parametrize(
    ("starts", "ends", "axes", "steps"),
    [((1,), (3,), (2,), (1,)), ((-3,), (2**63 - 1,), (3,), (2,)), ((0, 1), (1, -1), (0, 3), (1, 1)),
     ((-1,), (-(2**63),), (1,), (-1,)), ((3,), (0,), (-1,), (-1,))],
)  # fmt: skip
def test_slice(agree: Agree, starts: Any, ends: Any, axes: Any, steps: Any) -> None:
    constants = {"s": ints(*starts), "e": ints(*ends), "a": ints(*axes), "t": ints(*steps)}
    agree(helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"]), {"x": X}, constants)


def test_slice_without_axes(agree: Agree) -> None:
    constants = {"s": ints(0, 1), "e": ints(1, 3)}
    agree(helper.make_node("Slice", ["x", "s", "e"], ["y"]), {"x": X}, constants)


def test_concat_joins_constants(agree: Agree) -> None:
    node = helper.make_node("Concat", ["c", "d", "x", "c"], ["y"], axis=-2)
    module = agree(node, {"x": X}, {"c": X[:, :, :1] * 2, "d": X[:, :, :2] * 3})
    assert len([op for op in module.walk() if op.name == "top.Weight"]) == 2


@pytest.mark.parametrize("sizes", [(1, 4), (2, 2, 1)])
def test_split(agree: Agree, sizes: Sequence[int]) -> None:
    outputs = [f"y{i}" for i in range(len(sizes))]
    node = helper.make_node("Split", ["x", "s"], outputs, axis=-1)
    agree(node, {"x": X}, {"s": ints(*sizes)}, outputs)


def test_split_into_equal_parts(agree: Agree) -> None:
    node = helper.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2)
    agree(node, {"x": X}, {}, ["a", "b"], opset=18)


def test_expand_and_tile(agree: Agree) -> None:
    nodes = [
        helper.make_node("Expand", ["x", "s"], ["e"]),
        helper.make_node("Tile", ["e", "t"], ["y"]),
    ]
    agree(nodes, {"x": X[:, :1]}, {"s": ints(1, 3, 1, 1), "t": ints(1, 2, 1, 3)})


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad(agree: Agree, mode: str) -> None:
    constants: dict[str, Any] = {"p": ints(0, 0, 1, 2, 0, 0, 3, 1), "v": np.float32(1.5)}
    names = ["x", "p", "v"] if mode == "constant" else ["x", "p"]
    constants = {name: np.asarray(constants[name]) for name in names[1:]}
    agree(helper.make_node("Pad", names, ["y"], mode=mode), {"x": X}, constants)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_depth_to_space(agree: Agree, mode: str) -> None:
    x = RNG.standard_normal((1, 8, 2, 3)).astype(np.float32)
    agree(helper.make_node("DepthToSpace", ["x"], ["y"], blocksize=2, mode=mode), {"x": x})


def test_space_to_depth(agree: Agree) -> None:
    x = RNG.standard_normal((1, 3, 4, 6)).astype(np.float32)
    agree(helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2), {"x": x})


@pytest.mark.parametrize("index", [ints(2), ints(0, -1, 1), np.array(-1, np.int64)])
@pytest.mark.parametrize("constant", [True, False])
def test_gather(agree: Agree, index: np.typing.NDArray[np.int64], constant: bool) -> None:
    node = helper.make_node("Gather", ["x", "i"], ["y"], axis=1)
    if constant:
        agree(node, {"x": X}, {"i": index})
    else:
        agree(node, {"x": X, "i": index})


def test_gather_from_constant_table(agree: Agree) -> None:
    agree(helper.make_node("Gather", ["t", "i"], ["y"]), {"i": ints(1, 0, 1)}, {"t": X})


def test_gather_elements_and_nd(agree: Agree) -> None:
    index = RNG.integers(-4, 4, (2, 3, 2, 5))
    agree(helper.make_node("GatherElements", ["x", "i"], ["y"], axis=2), {"x": X, "i": index})
    pairs = ints(0, 1, 1, 2).reshape(2, 2)
    agree(helper.make_node("GatherND", ["x", "i"], ["y"]), {"x": X, "i": pairs})


@pytest.mark.parametrize("reduction", ["none", "add"])
def test_scatter(agree: Agree, reduction: str) -> None:
    index = np.stack([RNG.permutation(4)[:2] for _ in range(30)]).reshape(2, 3, 5, 2)
    index = index.transpose(0, 1, 3, 2)
    node = helper.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=2, reduction=reduction)
    agree(node, {"x": X, "u": X[:, :, :2] * 2}, {"i": np.ascontiguousarray(index)})
    node = helper.make_node("ScatterND", ["x", "i", "u"], ["y"], reduction=reduction)
    pairs = ints(0, 1, 1, 2).reshape(2, 2)
    agree(node, {"x": X, "u": X[0, :2] * 3}, {"i": pairs})


@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(agree: Agree, largest: int) -> None:
    node = helper.make_node("TopK", ["x", "k"], ["v", "i"], axis=-1, largest=largest)
    agree(node, {"x": X}, {"k": ints(3)}, ["v", "i"])


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(agree: Agree, axis: int) -> None:
    node = helper.make_node("OneHot", ["i", "d", "v"], ["y"], axis=axis)
    constants = {"d": ints(4), "v": np.array([-1.0, 2.0], np.float32)}
    agree(node, {"i": ints(0, 3, -2, 1, 0, 2).reshape(2, 3)}, constants)


@pytest.mark.parametrize(("upper", "k"), [(0, 0), (1, 1), (0, -1)])
def test_trilu(agree: Agree, upper: int, k: int) -> None:
    node = helper.make_node("Trilu", ["x", "k"], ["y"], upper=upper)
    agree(node, {"x": X}, {"k": np.array(k, np.int64)})


def test_reverse_sequence(agree: Agree) -> None:
    node = helper.make_node("ReverseSequence", ["x", "n"], ["y"], time_axis=0, batch_axis=1)
    agree(node, {"x": X}, {"n": ints(2, 2, 2)})
