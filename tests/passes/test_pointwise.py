"""Products over the channels of resized images: on the small side, with the same numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"


def resized(net: Net, x: SSAValue, name: str, scale: float, mode: str = "linear") -> SSAValue:
    how: dict[str, Any] = {"mode": mode, "coord_mode": "half_pixel"}
    return net.op(top.InterpOp, name, (x, net.none), scale_h=scale, scale_w=scale, **how)


def pointwise(
    net: Net, x: SSAValue, sizes: tuple[int, int], relu: bool = False, limit: float = -1.0
) -> SSAValue:
    """The product y of `sizes` channels, before and after."""
    before, after = sizes
    operands = (x, net.weight("y_w", after, before, 1, 1), net.weight("y_b", after))
    window = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0, 0, 0, 0]}
    return net.op(top.ConvOp, "y", operands, do_relu=relu, relu_limit=limit, **window)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize(
    ("mode", "scale", "channels", "moves"),
    [
        ("linear", 2.0, 6, True),
        ("linear", 1.5, 6, True),
        ("nearest", 2.0, 6, True),
        ("linear", 1.25, 6, False),
        ("linear", 0.5, 6, False),
        ("linear", 2.0, 12, False),
    ],
)
def test_a_product_of_a_resized_image(
    relu: bool, mode: str, scale: float, channels: int, moves: bool
) -> None:
    """1.25 in both directions are less than twice the pixels; 12 channels of 8 want resizing."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 8, 8, 8),))
    y = pointwise(net, resized(net, x, "r", scale, mode), (8, channels), relu, 0.7 if relu else -1)
    after = kinds(assert_same_numbers(net.module(y), CANONICALIZE))
    resize = "Upsample" if mode == "nearest" else "Interp"
    late = ["Relu"] if relu and mode == "linear" else []
    assert after == ["Abs", *(["Conv", resize, *late] if moves else [resize, "Conv"])]


def test_one_that_is_read_twice_stays() -> None:
    net = Net()
    r = resized(net, net.input("x", 1, 8, 4, 4), "r", 2.0)
    after = assert_same_numbers(net.module(pointwise(net, r, (8, 4)), r), CANONICALIZE)
    assert kinds(after) == ["Interp", "Conv"]


def test_larger_windows_stay() -> None:
    net = Net()
    r = resized(net, net.input("x", 1, 8, 4, 4), "r", 2.0)
    operands = (r, net.weight("w", 4, 8, 3, 3), net.none)
    window = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}
    y = net.op(top.ConvOp, "y", operands, **window)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Interp", "Conv"]


@pytest.mark.parametrize("relu", [False, True])
def test_a_product_of_several_images(relu: bool) -> None:
    """What is not resized stays together; each of the others is multiplied while it is small."""
    net = Net()
    large = [net.op(top.AbsOp, f"l{i}", (net.input(f"x{i}", 1, 3 + i, 8, 8),)) for i in range(2)]
    small = net.op(top.AbsOp, "s", (net.input("x2", 1, 5, 4, 4),))
    smaller = net.op(top.AbsOp, "t", (net.input("x3", 1, 4, 2, 2),))
    parts = (large[0], resized(net, small, "r", 2.0), large[1], resized(net, smaller, "q", 4.0))
    joined = net.op(top.ConcatOp, "j", parts, axis=1)
    module = assert_same_numbers(net.module(pointwise(net, joined, (16, 4), relu)), CANONICALIZE)
    convs = sorted(shape_of(op.input)[1:] for op in ops_of(module, top.ConvOp))
    assert convs == [(4, 2, 2), (5, 4, 4), (7, 8, 8)]
    assert kinds(module)[-1] == "Add"


def test_a_product_of_images_as_they_are() -> None:
    net = Net()
    parts = tuple(net.op(top.AbsOp, f"l{i}", (net.input(f"x{i}", 1, 3, 4, 4),)) for i in range(2))
    joined = net.op(top.ConcatOp, "j", parts, axis=1)
    after = kinds(assert_same_numbers(net.module(pointwise(net, joined, (6, 4))), CANONICALIZE))
    assert after == ["Abs", "Abs", "Concat", "Conv"]


def test_linear_layers_of_tokens_merge_with_the_product_of_all() -> None:
    """The head of SegFormer: one product of each stage's own channels, on its own size."""
    net, sizes = Net(), ((6, 8), (10, 4))
    maps: list[SSAValue] = []
    for i, (channels, side) in enumerate(sizes):
        x = net.op(top.AbsOp, f"a{i}", (net.input(f"x{i}", 1, side * side, channels),))
        operands = (x, net.weight(f"w{i}", channels, 12), net.weight(f"b{i}", 12))
        y = net.op(top.MatMulOp, f"m{i}", operands)
        y = net.op(top.PermuteOp, f"p{i}", (y,), order=[0, 2, 1])
        y = net.op(top.ReshapeOp, f"i{i}", (y,), shape=[1, 12, side, side])
        maps.append(y if side == 8 else resized(net, y, f"r{i}", 8 / side))
    y = pointwise(net, net.op(top.ConcatOp, "j", maps, axis=1), (24, 12), True)
    middle = assert_same_numbers(net.module(y), CANONICALIZE)
    after = assert_same_numbers(middle, "processor-top-optimize")
    convs = sorted(shape_of(op.input)[1:] for op in ops_of(after, top.ConvOp))
    assert convs == [(6, 8, 8), (10, 4, 4)]
    assert not ops_of(after, top.MatMulOp)
