"""Linear layers beside images: convolutions, with the same numbers and no more permuted."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

OPTIMIZE = "processor-top-optimize"
N, H, W = 2, 4, 6


def linear(net: Net, x: SSAValue, name: str, depth: int, width: int, bias: bool) -> SSAValue:
    b = net.weight(f"{name}_b", width) if bias else net.none
    return net.op(top.MatMulOp, name, (x, net.weight(f"{name}_w", depth, width), b))


def to_image(net: Net, x: SSAValue, name: str, channels: int) -> SSAValue:
    turned = net.op(top.PermuteOp, f"{name}_p", (x,), order=[0, 2, 1])
    return net.op(top.ReshapeOp, name, (turned,), shape=[N, channels, H, W])


def to_rows(net: Net, x: SSAValue, name: str, channels: int) -> SSAValue:
    flat = net.op(top.ReshapeOp, f"{name}_f", (x,), shape=[N, channels, H * W])
    return net.op(top.PermuteOp, name, (flat,), order=[0, 2, 1])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("function", [None, top.GELUOp, top.SiLUOp])
@pytest.mark.parametrize(("width", "moves"), [(8, True), (5, True), (4, False)])
def test_rows_become_an_image_before_the_product(
    bias: bool, function: type[top.GELUOp] | type[top.SiLUOp] | None, width: int, moves: bool
) -> None:
    """5 numbers of a pixel are permuted rather than 8, or than 5."""
    net = Net()
    y = linear(net, net.input("x", N, H * W, 5), "y", 5, width, bias)
    if function is not None:
        y = net.op(function, "g", (y,))
    y = net.op(top.ReluOp, "z", (to_image(net, y, "image", width),))
    after = kinds(assert_same_numbers(net.module(y), OPTIMIZE))
    middle = [] if function is None else [function.name.removeprefix("top.")]
    conv = ["Permute", "Reshape", "Conv", *middle, "Relu"]
    assert after == (conv if moves else ["MatMul", *middle, "Permute", "Reshape", "Relu"])


def test_a_function_that_others_read_stays_with_the_rows() -> None:
    net = Net()
    y = linear(net, net.input("x", N, H * W, 5), "y", 5, 8, True)
    g = net.op(top.GELUOp, "g", (y,))
    after = assert_same_numbers(net.module(to_image(net, g, "image", 8), g), OPTIMIZE)
    assert not ops_of(after, top.ConvOp)


@pytest.mark.parametrize("function", [None, top.GELUOp, top.SiLUOp])
@pytest.mark.parametrize(("width", "moves"), [(8, True), (5, True), (9, False)])
def test_an_image_becomes_rows_behind_the_product(
    function: type[top.GELUOp] | type[top.SiLUOp] | None, width: int, moves: bool
) -> None:
    net = Net()
    x = to_rows(net, net.input("x", N, 8, H, W), "rows", 8)
    if function is not None:
        x = net.op(function, "g", (x,))
    after = kinds(assert_same_numbers(net.module(linear(net, x, "y", 8, width, True)), OPTIMIZE))
    middle = [] if function is None else [function.name.removeprefix("top.")]
    before = ["Reshape", "Permute", *middle, "MatMul"]
    assert after == ([*middle, "Conv", "Reshape", "Permute"] if moves else before)


def test_a_feed_forward_with_a_convolution_permutes_its_ends() -> None:
    """As SegFormer has it: the wide values stay images."""
    net = Net()
    y = linear(net, net.input("x", N, H * W, 5), "up", 5, 20, True)
    operands = (to_image(net, y, "image", 20), net.weight("dw", 20, 1, 3, 3), net.weight("db", 20))
    window = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1], "group": 20}
    y = to_rows(net, net.op(top.ConvOp, "c", operands, **window), "rows", 20)
    y = linear(net, net.op(top.GELUOp, "g", (y,)), "down", 20, 5, True)
    after = assert_same_numbers(net.module(y), OPTIMIZE)
    assert [shape_of(op.input)[1:] for op in ops_of(after, top.PermuteOp)] == [(24, 5), (5, 24)]
    assert not ops_of(after, top.MatMulOp)


def test_values_that_others_read_stay_where_they_are() -> None:
    net = Net()
    x = to_rows(net, net.input("x", N, 8, H, W), "rows", 8)
    first, second = (linear(net, x, name, 8, 8, True) for name in "yz")
    after = assert_same_numbers(net.module(first, second), OPTIMIZE)
    assert not ops_of(after, top.ConvOp)
    net = Net()
    y = linear(net, net.input("x", N, H * W, 5), "y", 5, 8, True)
    after = assert_same_numbers(net.module(to_image(net, y, "image", 8), y), OPTIMIZE)
    assert not ops_of(after, top.ConvOp)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("shape", "width", "moves"),
    [((1, 6), 10, True), ((1, 1, 6), 3, True), ((1, 6), 1, False), ((2, 6), 10, False)],
)
def test_one_row_is_an_image_of_one_pixel(
    shape: tuple[int, ...], width: int, moves: bool, bias: bool
) -> None:
    """A result of one number keeps one lane busy either way."""
    net = Net()
    pooled = net.input("x", shape[0], 6, 1, 1)
    row = net.op(top.ReshapeOp, "row", (pooled,), shape=list(shape))
    after = kinds(assert_same_numbers(net.module(linear(net, row, "y", 6, width, bias)), OPTIMIZE))
    assert ("Conv" in after) is moves
    assert ("MatMul" in after) is not moves


def test_pooled_features_are_a_pixel_and_tokens_are_not() -> None:
    net = Net()
    image = net.input("x", 1, 6, 4, 4)
    pooled = net.op(top.ReduceOp, "pool", (image,), axes=[2, 3], keepdims=False, mode="ReduceMean")
    after = assert_same_numbers(net.module(linear(net, pooled, "y", 6, 10, True)), OPTIMIZE)
    assert ops_of(after, top.ConvOp)
    net = Net()
    token = net.op(top.AbsOp, "a", (net.input("x", 1, 1, 6),))
    after = assert_same_numbers(net.module(linear(net, token, "y", 6, 10, True)), OPTIMIZE)
    assert kinds(after) == ["Abs", "MatMul"]


@pytest.mark.parametrize(("depth", "moves"), [(3072, True), (3073, False)])
def test_a_large_matrix_is_streamed(depth: int, moves: bool) -> None:
    """Up to 6 MiB of f16 may stay in local memory."""
    net = Net()
    row = net.op(top.ReshapeOp, "row", (net.input("x", 1, depth, 1, 1),), shape=[1, depth])
    y = linear(net, row, "y", depth, 1024, False)
    after = kinds(assert_same_numbers(net.module(y), OPTIMIZE, tolerance=1e-4))
    assert ("Conv" in after) is moves
