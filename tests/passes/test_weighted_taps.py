"""Sums of patches times factors: one shifted image for each tap, wherever factors come from."""

from collections.abc import Sequence

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top

CHANNELS, HEIGHT, WIDTH = 6, 5, 7


def indices(net: Net, name: str, taps: int, count: int, stride: int, dilation: int) -> SSAValue:
    found = np.arange(taps)[:, None] * dilation + np.arange(count) * stride
    return net.weight(name, taps, count, values=found)


def unfolded(
    net: Net,
    shape: Sequence[int],
    *,
    taps: tuple[int, int] = (3, 2),
    images: int = 1,
    stride: int = 1,
    dilation: int = 1,
) -> SSAValue:
    """Patches as an exporter of ONNX takes them, under `shape`."""
    size = [
        (count - 1) * stride + (tap - 1) * dilation + 1
        for count, tap in zip((HEIGHT, WIDTH), taps, strict=True)
    ]
    x = net.input("x", images, CHANNELS, *size)
    rows = indices(net, "rows", taps[0], HEIGHT, stride, dilation)
    columns = indices(net, "columns", taps[1], WIDTH, stride, dilation)
    down = net.op(top.GatherOp, "down", (x, rows), axis=2)
    across = net.op(top.GatherOp, "across", (down, columns), axis=4)
    turned = net.op(top.PermuteOp, "turned", (across,), order=[0, 1, 2, 4, 3, 5])
    return net.op(top.ReshapeOp, "patches", (turned,), shape=list(shape))


def summed(net: Net, a: SSAValue, b: SSAValue, *axes: int, mode: str = "ReduceSum") -> ModuleOp:
    product = net.op(top.MulOp, "product", (a, b))
    attributes = {"axes": list(axes), "keepdims": False, "mode": mode}
    return net.module(net.op(top.ReduceOp, "y", (product,), **attributes))


PIXELS = (HEIGHT, WIDTH)


@pytest.mark.parametrize(
    ("patches", "factors", "axes"),
    [
        ((1, 2, 3, 6, *PIXELS), (1, 2, 1, 6, *PIXELS), (3,)),  # channels share factors: involution
        ((1, 6, 6, *PIXELS), (1, 1, 6, *PIXELS), (2,)),  # all of them: CARAFE
        ((2, 3, 6, *PIXELS), (2, 3, 1, *PIXELS), (1,)),  # queries by the keys around them
        ((2, 3, 6, *PIXELS), (2, 1, 6, *PIXELS), (2,)),  # their weights by values
        ((1, 6, 6, *PIXELS), (1, 6, 1, *PIXELS), (1, 2)),  # channels and taps
        ((1, 6, 6, 1, *PIXELS), (1, 1, 6, 4, *PIXELS), (2,)),  # pixels share: convex upsampling
        ((1, 6, 6, HEIGHT * WIDTH), (6, 1, HEIGHT * WIDTH), (2,)),  # rows and columns are one
    ],
)
def test_forms(patches: Sequence[int], factors: Sequence[int], axes: Sequence[int]) -> None:
    net = Net()
    taken = unfolded(net, patches)
    weights = net.input("factors", *factors)
    found = kinds(assert_same_numbers(summed(net, weights, taken, *axes), "canonicalize"))
    assert "Gather" not in found
    assert "Reduce" not in found
    assert found.count("Mul") == 6


@pytest.mark.parametrize(("stride", "dilation"), [(2, 1), (1, 2), (2, 3)])
def test_steps(stride: int, dilation: int) -> None:
    net = Net()
    taken = unfolded(net, (1, 6, 6, *PIXELS), stride=stride, dilation=dilation)
    weights = net.input("factors", 1, 1, 6, *PIXELS)
    found = kinds(assert_same_numbers(summed(net, taken, weights, 2), "canonicalize"))
    assert "Gather" not in found


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(("channels", "convs"), [(3, 6), (13, 7)])
def test_factors_of_a_convolution(channels: int, convs: int, has_bias: bool) -> None:
    """It makes those of each tap for all channels that share them, unless it sums over more than
    it makes."""
    net = Net()
    taken = unfolded(net, (1, 2, 3, 6, *PIXELS))
    given = net.input("given", 1, channels, *PIXELS)
    bias = net.weight("b", 12) if has_bias else net.none
    window = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0, 0, 0, 0]}
    made = net.op(top.ConvOp, "made", (given, net.weight("w", 12, channels, 1, 1), bias), **window)
    factors = net.op(top.ReshapeOp, "factors", (made,), shape=[1, 2, 1, 6, *PIXELS])
    found = kinds(assert_same_numbers(summed(net, factors, taken, 3), "canonicalize"))
    assert "Reduce" not in found
    assert found.count("Conv") == convs


def test_several_images() -> None:
    net = Net()
    taken = unfolded(net, (6, 2, 6, *PIXELS), images=2)
    weights = net.input("factors", 6, 1, 6, *PIXELS)
    found = kinds(assert_same_numbers(summed(net, taken, weights, 2), "canonicalize"))
    assert "Gather" not in found


def test_pixels_that_become_blocks() -> None:
    net = Net()
    taken = unfolded(net, (1, 36, *PIXELS))
    enlarged = net.op(top.UpsampleOp, "enlarged", (taken,), scale_h=2, scale_w=3)
    shape = (1, 6, 6, 2 * HEIGHT, 3 * WIDTH)
    patches = net.op(top.ReshapeOp, "seen", (enlarged,), shape=list(shape))
    weights = net.input("factors", 1, 1, *shape[2:])
    found = kinds(assert_same_numbers(summed(net, patches, weights, 2), "canonicalize"))
    assert "Gather" not in found
    assert found.count("Upsample") == 1


@pytest.mark.parametrize(
    ("patches", "factors", "axes", "mode"),
    [
        ((1, 6, 6, *PIXELS), (1, 1, 6, *PIXELS), (2,), "ReduceMax"),
        ((1, 6, 6, *PIXELS), (1, 1, 6, 1, 1), (2,), "ReduceSum"),  # all pixels share
        ((1, 6, 6, *PIXELS), (1, 1, 6, *PIXELS), (3,), "ReduceSum"),  # over rows
        ((1, 6, 6, *PIXELS), (1, 6, 6, *PIXELS), (2,), "ReduceSum"),  # large filters
    ],
)
def test_what_stays(
    patches: Sequence[int], factors: Sequence[int], axes: Sequence[int], mode: str
) -> None:
    net = Net()
    taken = unfolded(net, patches)
    module = summed(net, taken, net.input("factors", *factors), *axes, mode=mode)
    assert "Gather" in kinds(assert_same_numbers(module, "canonicalize"))


def test_several_images_summed_stay() -> None:
    net = Net()
    taken = unfolded(net, (2, 6, 6, *PIXELS), images=2)
    module = summed(net, taken, net.input("factors", 2, 1, 6, *PIXELS), 0, 2)
    assert "Gather" in kinds(assert_same_numbers(module, "canonicalize"))
