"""NaN, infinity, the guard around a softmax of masked scores, and filters that are computed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

Agree = Callable[..., ModuleOp]
Array = npt.NDArray[Any]
RNG = np.random.default_rng(5)
ROWS, COLUMNS = 6, 8
FALSE_ROW = 2


def random(*shape: int) -> npt.NDArray[np.float32]:
    return RNG.standard_normal(shape).astype(np.float32)


def names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk()]


@pytest.mark.parametrize("signs", [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_infinities_are_told(agree: Agree, signs: tuple[int, int]) -> None:
    """Division by zeros of either sign gives both, 0 / 0 gives NaN, which is not infinite."""
    positive, negative = signs
    nodes = [
        helper.make_node("Div", ["x", "z"], ["q"]),
        helper.make_node("IsInf", ["q"], ["b"], detect_positive=positive, detect_negative=negative),
        helper.make_node("Cast", ["b"], ["y"], to=1),
    ]
    x = np.array([1, -1, 0, 2, -3], np.float32)
    with np.errstate(all="ignore"):
        agree(nodes, {"x": x, "z": np.array([0, 0, 0, 4, 5], np.float32)})


def test_nan_is_told(agree: Agree) -> None:
    nodes = [
        helper.make_node("Div", ["x", "z"], ["q"]),
        helper.make_node("IsNaN", ["q"], ["b"]),
        helper.make_node("Cast", ["b"], ["y"], to=1),
    ]
    x = np.array([1, -1, 0, 2, 0], np.float32)
    with np.errstate(all="ignore"):
        agree(nodes, {"x": x, "z": np.array([0, 0, 0, 4, 5], np.float32)})


def guarded(scores: list[Any]) -> list[Any]:
    """What PyTorch writes around the softmax of `s`, which `scores` compute."""
    return [
        *scores,
        helper.make_node("Softmax", ["s"], ["p"], axis=-1),
        helper.make_node("IsNaN", ["p"], ["n"]),
        helper.make_node("Where", ["n", "zero", "p"], ["y"]),
    ]


CONSTANTS: dict[str, Array] = {
    "zero": np.array(0, np.float32),
    "low": np.array(-np.inf, np.float32),
}


def mask(*shape: int) -> Array:
    """A condition that leaves nothing in one row."""
    keep = RNG.uniform(size=shape) > 0.4
    keep[..., FALSE_ROW, :] = False
    return keep.astype(np.float32)


@pytest.mark.parametrize("shape", [(2, ROWS, COLUMNS), (ROWS, COLUMNS), (ROWS, 1)])
@pytest.mark.parametrize("way", ["add", "add, turned", "where", "where, turned"])
def test_rows_that_are_masked_whole_become_zeros(
    agree: Agree, shape: tuple[int, ...], way: str
) -> None:
    """No step of it is a NaN: the mask is finite."""
    keep = helper.make_node("Greater", ["m", "zero"], ["k"])
    if "turned" in way:
        keep = helper.make_node("LessOrEqual", ["m", "zero"], ["k"])
    kept, gone = ("low", "zero") if "turned" in way else ("zero", "low")
    if way.startswith("add"):
        scores = [
            keep,
            helper.make_node("Where", ["k", kept, gone], ["a"]),
            helper.make_node("Add", ["x", "a"], ["s"]),
        ]
    else:
        branches = ["low", "x"] if "turned" in way else ["x", "low"]
        scores = [keep, helper.make_node("Where", ["k", *branches], ["s"])]
    inputs = {"x": random(2, ROWS, COLUMNS), "m": mask(*shape)}
    module = agree(guarded(scores), inputs, CONSTANTS)
    assert not any("inf" in str(op.attributes) for op in module.walk())


@pytest.mark.parametrize("has_mask", [False, True])
def test_a_guard_without_need_is_dropped(agree: Agree, has_mask: bool) -> None:
    causal = np.triu(np.full((ROWS, ROWS), -np.inf, np.float32), 1)
    product = helper.make_node("MatMul", ["x", "w"], ["q" if has_mask else "s"])
    mask_node = [helper.make_node("Add", ["q", "causal"], ["s"])] if has_mask else []
    module = agree(
        guarded([product, *mask_node]),
        {"x": random(2, ROWS, COLUMNS), "w": random(2, COLUMNS, ROWS)},
        {**CONSTANTS, "causal": causal},
    )
    assert not {"top.Compare", "top.CompareConst", "top.Where", "top.Mul"} & set(names(module))


def test_a_guard_around_finite_masks_is_dropped(agree: Agree) -> None:
    """The lowest number leaves no NaN: a row of nothing else has equal shares."""
    scores = [
        helper.make_node("Greater", ["m", "zero"], ["k"]),
        helper.make_node("Where", ["k", "zero", "lowest"], ["a"]),
        helper.make_node("Unsqueeze", ["a", "first"], ["u"]),
        helper.make_node("MatMul", ["x", "w"], ["q"]),
        helper.make_node("Add", ["q", "u"], ["s"]),
    ]
    lowest, first = np.array(np.finfo(np.float32).min), np.array([0], np.int64)
    module = agree(
        guarded(scores),
        {"x": random(2, ROWS, COLUMNS), "w": random(2, COLUMNS, ROWS), "m": mask(ROWS, ROWS)},
        {**CONSTANTS, "lowest": lowest, "first": first},
    )
    assert names(module).count("top.Where") == 1


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize(("strides", "pads"), [([1, 1], [0, 0, 0, 0]), ([2, 3], [2, 0, 1, 1])])
def test_transposed_convolution_with_a_computed_filter(
    agree: Agree, group: int, strides: list[int], pads: list[int]
) -> None:
    extra = [strides[0] - 1, 0]
    node = helper.make_node(
        "ConvTranspose",
        ["x", "w", "b"],
        ["y"],
        strides=strides,
        pads=pads,
        group=group,
        output_padding=extra,
        dilations=[1, 2],
    )
    agree(node, {"x": random(2, 4, 5, 6), "w": random(4, 3, 3, 2), "b": random(3 * group)})


@pytest.mark.parametrize("pads", [[0, -1, 2, -2], [-1, -1, 0, 0], [-1, 2, -1, 0]])
def test_negative_pads_cut(agree: Agree, pads: list[int]) -> None:
    node = helper.make_node("Pad", ["x", "p", "v"], ["y"])
    agree(node, {"x": random(4, 5)}, {"p": np.array(pads), "v": np.float32(2.5)})


@pytest.mark.parametrize(
    ("starts", "ends", "axes", "steps"),
    [
        ([-1, -1], [-(2**62), -(2**62)], [0, 1], [-1, -1]),
        ([3], [0], [1], [-2]),
        ([-1, 1], [-5, 4], [1, 0], [-1, 2]),
    ],
)
def test_slices_that_go_backwards(
    agree: Agree, starts: list[int], ends: list[int], axes: list[int], steps: list[int]
) -> None:
    node = helper.make_node("Slice", ["x", "s", "e", "a", "t"], ["y"])
    bounds = dict(zip("seat", map(np.array, (starts, ends, axes, steps)), strict=True))
    agree(node, {"x": random(5, 7)}, bounds)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("has_window", [False, True])
def test_transform_of_frames(agree: Agree, onesided: int, has_window: bool) -> None:
    names = ["x", "step", "w" if has_window else "", "n"]
    node = helper.make_node("STFT", names, ["y"], onesided=onesided)
    constants: dict[str, Array] = {"step": np.array(3), "n": np.array(8)}
    if has_window:
        constants["w"] = np.hanning(8).astype(np.float32)
    agree(node, {"x": random(2, 30, 1)}, constants)


def test_a_smooth_resize_without_what_is_outside(agree: Agree) -> None:
    """How PyTorch writes antialiasing: the weights of the border are normalised again."""
    node = helper.make_node(
        "Resize", ["x", "", "", "s"], ["y"], mode="linear", antialias=1, exclude_outside=1
    )
    agree(node, {"x": random(1, 3, 12, 11)}, {"s": np.array([1, 3, 5, 4])}, opset=18)
