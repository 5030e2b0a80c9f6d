"""Operands that are stretched get fewer dimensions: the same numbers, and where it ends."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.tensors import shape_of

PASS = "merge-stretched"
ANCHORS, LINES, COLUMNS, WIDE = 3, 4, 5, 7


def part(net: Net, name: str, value: SSAValue, first: int, last: int) -> SSAValue:
    size = (1, ANCHORS, LINES, COLUMNS, last)
    options = {"steps": [1] * 5, "axes": list[int](), "ends": [*size]}
    given = (value, net.none, net.none, net.none)
    return net.op(top.SliceOp, name, given, offset=[0, 0, 0, 0, first], **options)


def test_the_head_of_a_detector_has_three_dimensions() -> None:
    """From the image to the boxes: centres by a grid, sizes by anchors, shares as they are. They
    are transposed, and images are all that a transposition leaves."""
    net = Net()
    image = net.op(top.AbsOp, "a", (net.input("x", 1, ANCHORS, WIDE, LINES, COLUMNS),))
    turned = net.op(top.PermuteOp, "turned", (image,), order=[0, 1, 3, 4, 2])
    shares = net.op(top.SigmoidOp, "shares", (turned,))
    centres = net.op(
        top.AddOp,
        "centres",
        (part(net, "xy", shares, 0, 2), net.weight("grid", 1, 1, LINES, COLUMNS, 2)),
    )
    anchors = net.weight("anchors", 1, ANCHORS, 1, 1, 2)
    sizes = net.op(top.MulOp, "sizes", (part(net, "wh", shares, 2, 4), anchors))
    given = (centres, sizes, part(net, "rest", shares, 4, WIDE))
    after = assert_same_numbers(net.module(net.op(top.ConcatOp, "y", given, axis=4)), PASS)
    (concat,) = ops_of(after, top.ConcatOp)
    assert shape_of(concat.output) == (ANCHORS, LINES * COLUMNS, WIDE)
    assert concat.axis.value.data == 2


def test_dimensions_are_merged_until_four_are_left() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 3, 4, 5, 6, 7),))
    scaled = net.op(top.MulOp, "y", (x, net.weight("w", 1, 1, 1, 1, 1, 7)))
    after = assert_same_numbers(net.module(scaled), PASS)
    assert [len(shape_of(one.output)) for one in ops_of(after, top.MulOp)] == [4]


def permuted(shape: tuple[int, ...], order: list[int]) -> list[tuple[int, ...]]:
    """The shapes that transpositions of such a value have before and after the pass."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *shape),))
    y = net.op(top.ReluOp, "y", (net.op(top.PermuteOp, "t", (x,), order=order),))
    after = assert_same_numbers(net.module(y), PASS)
    return [shape_of(one.input) for one in ops_of(after, top.PermuteOp)]


def test_what_a_transposition_keeps_side_by_side_is_one_dimension() -> None:
    assert permuted((2, 3, 4, 5, 6), [0, 1, 3, 4, 2]) == [(6, 4, 30)]
    assert permuted((2, 3, 4, 5, 6), [0, 3, 4, 1, 2]) == [(2, 12, 30)]


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((2, 3, 4, 5), [0, 2, 3, 1]),
        ((2, 3, 4, 5, 6), [4, 3, 2, 1, 0]),
        ((2, 3, 4, 5, 6), [0, 2, 1, 3, 4]),
    ],
)
def test_transpositions_that_stay(shape: tuple[int, ...], order: list[int]) -> None:
    """Of as many dimensions as commands have, and those that do not exchange two at the end."""
    assert permuted(shape, order) == [shape]


@pytest.mark.parametrize("shape", [(2, 1, 4, 1, 6), (1, 3, 1, 5, 1)])
def test_dimensions_that_are_not_stretched_alike_stay(shape: tuple[int, ...]) -> None:
    net = Net()
    x, z = (net.input("x", 2, 3, 4, 5, 6), net.input("z", *shape))
    after = assert_same_numbers(net.module(net.op(top.AddOp, "y", (x, z))), PASS)
    assert kinds(after) == ["Add"]


@pytest.mark.parametrize("own", [False, True])
def test_frames_of_one_video_are_images(own: bool) -> None:
    """The first channels of each frame come from the next, as a temporal shift has it: between
    images the video is not there, unless the network is given one."""
    net = Net()
    frames = net.op(top.AbsOp, "a", (net.input("x", *([1] if own else []), 4, 6, 3, 5),))
    video = frames if own else net.op(top.ReshapeOp, "v", (frames,), shape=[1, 4, 6, 3, 5])

    def part(name: str, first: list[int], ends: list[int]) -> SSAValue:
        given = (video, net.none, net.none, net.none)
        options = {"steps": [1] * 5, "axes": list[int](), "ends": [*ends, 3, 5]}
        return net.op(top.SliceOp, name, given, offset=[*first, 0, 0], **options)

    early, last = part("next", [0, 1, 0], [1, 4, 2]), net.weight("none", 1, 1, 2, 3, 5)
    moved = net.op(top.ConcatOp, "moved", (early, last), axis=1)
    whole = net.op(top.ConcatOp, "whole", (moved, part("rest", [0, 0, 2], [1, 4, 6])), axis=2)
    after = assert_same_numbers(net.module(net.op(top.ReluOp, "y", (whole,))), PASS)
    sizes = [shape_of(one.output) for one in ops_of(after, top.ConcatOp)]
    dropped = [(4, 2, 3, 5), (4, 6, 3, 5)]
    assert sizes == ([(1, 4, 2, 15), (1, 4, 6, 15)] if own else dropped)


def test_norms_of_volumes_are_of_images() -> None:
    """Rows and columns, which what is around them keeps side by side; frames stay."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 3, 8, 5, 6),))
    turned = net.op(top.PermuteOp, "t", (x,), order=[0, 2, 1, 3, 4])
    given = (turned, net.weight("w", 1, 8, 1, 1, 1), net.weight("b", 1, 8, 1, 1, 1))
    normed = net.op(top.GroupNormOp, "n", given, num_groups=4, eps=1e-5)
    y = net.op(top.SiLUOp, "s", (normed,))
    after = assert_same_numbers(net.module(net.op(top.AddOp, "y", (turned, y))), PASS)
    (norm,) = ops_of(after, top.GroupNormOp)
    assert [shape_of(one) for one in norm.operands] == [(2, 8, 3, 30), (1, 8, 1, 1), (1, 8, 1, 1)]
    assert {len(shape_of(one.output)) for one in ops_of(after, top.AddOp)} == {4}
    (permute,) = ops_of(after, top.PermuteOp)
    assert shape_of(permute.output) == (2, 8, 3, 30)


@pytest.mark.parametrize("shape", [(2, 8, 5, 6), (2, 8, 30)])
def test_norms_of_images_stay(shape: tuple[int, ...]) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *shape),))
    normed = net.op(top.GroupNormOp, "n", (x, net.none, net.none), num_groups=4, eps=1e-5)
    after = assert_same_numbers(net.module(net.op(top.SiLUOp, "s", (normed,))), PASS)
    assert kinds(after) == ["Abs", "GroupNorm", "SiLU"]


@pytest.mark.parametrize(
    ("axes", "mode", "shapes"),
    [
        ([2, 3, 4], "ReduceMean", [(2, 4, 3, 30), (2, 4, 1, 1)]),
        ([-1, -2], "ReduceMax", [(2, 4, 3, 30), (2, 4, 3, 1)]),
        ([1], "ReduceSum", [(2, 4, 3, 30), (2, 1, 3, 30)]),
        ([2], "ReduceSum", [(2, 4, 3, 30), (2, 4, 1, 30)]),
        ([3], "ReduceMean", [(2, 12, 5, 6), (2, 12, 1, 6)]),
        ([2, 4], "ReduceMean", [(2, 4, 3, 5, 6), (2, 4, 1, 5, 1)]),
    ],
)
def test_reductions_of_volumes_are_of_images(
    axes: list[int], mode: str, shapes: list[tuple[int, ...]]
) -> None:
    """Of what lies side by side and is reduced together, or not at all."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 4, 3, 5, 6),))
    mean = net.op(top.ReduceOp, "m", (x,), axes=axes, mode=mode, keepdims=True)
    gate = net.op(top.SigmoidOp, "g", (mean,))
    y = net.op(top.ReluOp, "y", (gate,))
    after = assert_same_numbers(net.module(y), PASS)
    (one,) = ops_of(after, top.ReduceOp)
    assert [shape_of(one.input), shape_of(one.output)] == shapes


def test_a_reduction_over_one_element_keeps_it() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 1, 3, 8, 6),))
    mean = net.op(top.ReduceOp, "m", (x,), axes=[1], mode="ReduceSum", keepdims=True)
    other = net.op(top.AbsOp, "b", (net.input("y", 2, 1, 3, 6, 8),))
    product = net.op(top.MatMulOp, "p", (mean, other, net.none))
    after = assert_same_numbers(net.module(product), "drop-unit-dims")
    assert all(ints(op.axes) for op in ops_of(after, top.ReduceOp))
