"""Depthwise convolutions over three dimensions as those of images: the same numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints

OPTIMIZE = "processor-top-optimize"


def volume(
    images: int = 1, group: int = 6, channels: int = 6, depth: int = 7, **options: Any
) -> ModuleOp:
    given = {"kernel_shape": [3, 3, 3], "strides": [1, 1, 1], "pads": [1] * 6} | options
    net = Net()
    x = net.input("x", images, channels, depth, 8, 9)
    weight = net.weight("w", 6, channels // group, *given["kernel_shape"])
    given = {"dilations": [1, 1, 1], "do_relu": True} | given
    return net.module(
        net.op(top.ConvOp, "y", (x, weight, net.weight("b", 6)), group=group, **given)
    )


@pytest.mark.parametrize("images", [1, 2])
@pytest.mark.parametrize(
    ("options", "convolutions"),
    [
        ({}, 2 + 3 + 2),
        ({"pads": [0, 1, 1, 0, 1, 1]}, 3),
        ({"strides": [1, 2, 2]}, 2 + 3 + 2),
        ({"strides": [2, 1, 1]}, 2 + 3 + 2),
        ({"strides": [3, 1, 2], "pads": [2, 0, 0, 1, 1, 1]}, 1 + 3),
        ({"dilations": [2, 1, 1], "pads": [2, 1, 1, 2, 1, 1]}, 2 + 3 + 2),
        ({"kernel_shape": [1, 3, 3], "pads": [0, 1, 1, 0, 1, 1]}, 1),
        ({"kernel_shape": [7, 3, 3], "pads": [0, 1, 1, 0, 1, 1]}, 7),
    ],
)
def test_planes_are_images(images: int, options: dict[str, Any], convolutions: int) -> None:
    found = ops_of(assert_same_numbers(volume(images, **options), OPTIMIZE), top.ConvOp)
    assert {len(ints(conv.kernel_shape)) for conv in found} == {2}
    assert len(found) == convolutions * images


@pytest.mark.parametrize("images", [1, 2])
def test_lines_along_the_depth_are_one_convolution(images: int) -> None:
    module = volume(
        images, kernel_shape=[5, 1, 1], pads=[2, 0, 0, 1, 0, 0], strides=[2, 1, 1], depth=9
    )
    after = assert_same_numbers(module, OPTIMIZE)
    assert kinds(after) == ["Reshape", "Conv", "Reshape"]
    (conv,) = ops_of(after, top.ConvOp)
    assert (ints(conv.kernel_shape), ints(conv.pads)) == ((5, 1), (2, 0, 1, 0))


@pytest.mark.parametrize(("heads", "kernel"), [(2, [3, 3, 3]), (3, [5, 1, 1])])
def test_heads_are_channels(heads: int, kernel: list[int]) -> None:
    """What is a batch only as seen has one convolution for all, with filters for each."""
    net = Net()
    x = net.input("x", 1, heads, 6, 7 * 8 * 9)
    x = net.op(top.ReshapeOp, "seen", (x,), shape=(heads, 6, 7, 8, 9))
    given = (x, net.weight("w", 6, 1, *kernel), net.weight("b", 6))
    pads = [size // 2 for size in kernel] * 2
    options = {"kernel_shape": kernel, "strides": [1] * 3, "pads": pads, "dilations": [1] * 3}
    y = net.op(top.ConvOp, "y", given, group=6, do_relu=True, **options)
    found = ops_of(assert_same_numbers(net.module(y), OPTIMIZE), top.ConvOp)
    assert len(found) == (1 if kernel[1] == 1 else 2 + 3 + 2)
    assert {conv.group.value.data for conv in found} == {6 * heads}


REFUSED = {
    "several channels a group": volume(group=3),
    "planes that see nothing": volume(pads=[4, 1, 1, 1, 1, 1]),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_stays(why: str) -> None:
    (conv,) = ops_of(assert_same_numbers(REFUSED[why], OPTIMIZE), top.ConvOp)
    assert len(ints(conv.kernel_shape)) == 3
