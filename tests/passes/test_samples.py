"""Weighted sums of samples of images: read in rows of pixels however they are put together."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top

HEADS, CHANNELS, QUERIES = 2, 3, 5


def sampled(net: Net, number: int, points: int, size: int) -> SSAValue:
    """Samples of one image, HEADS x CHANNELS x QUERIES x points."""
    image = net.input(f"image{number}", HEADS, CHANNELS, size, size)
    grid = net.input(f"grid{number}", HEADS, QUERIES, points, 2)
    attributes = {"mode": 0, "padding_mode": 0, "align_corners": False}
    return net.op(top.GridSamplerOp, f"samples{number}", (image, grid), **attributes)


def summed(net: Net, samples: SSAValue, points: int, *, keepdims: bool = False) -> ModuleOp:
    weights = net.input("weights", HEADS, 1, QUERIES, points)
    product = net.op(top.MulOp, "product", (samples, weights))
    attributes = {"axes": [3], "keepdims": keepdims, "mode": "ReduceSum"}
    return net.module(net.op(top.ReduceOp, "y", (product,), **attributes))


@pytest.mark.parametrize("keepdims", [False, True])
def test_one_image(keepdims: bool) -> None:
    net = Net()
    after = assert_same_numbers(
        summed(net, sampled(net, 0, 4, 6), 4, keepdims=keepdims), "canonicalize"
    )
    found = kinds(after)
    assert "GridSampler" not in found
    assert "Permute" in found[found.index("SampledSum") :]


def test_positions_of_images_side_by_side() -> None:
    net = Net()
    parts = [sampled(net, number, points, 6 - number) for number, points in enumerate((4, 2))]
    whole = net.op(top.ConcatOp, "whole", parts, axis=3)
    found = kinds(assert_same_numbers(summed(net, whole, 6), "canonicalize"))
    assert "Concat" not in found
    assert found.count("SampledSum") == 2


def test_images_stacked_in_front_of_positions() -> None:
    net = Net()
    parts = [
        net.op(top.UnsqueezeOp, f"u{number}", (sampled(net, number, 4, 6 - number),), axes=[-2])
        for number in range(3)
    ]
    stack = net.op(top.ConcatOp, "stack", parts, axis=3)
    flat = net.op(top.ReshapeOp, "flat", (stack,), shape=[HEADS, CHANNELS, QUERIES, 12])
    found = kinds(assert_same_numbers(summed(net, flat, 12), "canonicalize"))
    assert "Concat" not in found
    assert found.count("SampledSum") == 3


def test_images_side_by_side_in_queries_stay() -> None:
    """What follows along the queries is no position of the same query."""
    net = Net()
    parts = [sampled(net, number, 4, 6 - number) for number in range(2)]
    whole = net.op(top.ConcatOp, "whole", parts, axis=2)
    weights = net.input("weights", HEADS, 1, 2 * QUERIES, 4)
    product = net.op(top.MulOp, "product", (whole, weights))
    attributes = {"axes": [3], "keepdims": False, "mode": "ReduceSum"}
    module = net.module(net.op(top.ReduceOp, "y", (product,), **attributes))
    assert "Concat" in kinds(assert_same_numbers(module, "canonicalize"))


def test_weights_of_each_channel_stay() -> None:
    net = Net()
    weights = net.input("weights", HEADS, CHANNELS, QUERIES, 4)
    product = net.op(top.MulOp, "product", (sampled(net, 0, 4, 6), weights))
    attributes = {"axes": [3], "keepdims": False, "mode": "ReduceSum"}
    module = net.module(net.op(top.ReduceOp, "y", (product,), **attributes))
    assert "Permute" not in kinds(assert_same_numbers(module, "canonicalize"))


def test_samples_that_others_read_stay() -> None:
    net = Net()
    samples = sampled(net, 0, 4, 6)
    weights = net.input("weights", HEADS, 1, QUERIES, 4)
    product = net.op(top.MulOp, "product", (samples, weights))
    attributes = {"axes": [3], "keepdims": False, "mode": "ReduceSum"}
    total = net.op(top.ReduceOp, "y", (product,), **attributes)
    module = net.module(total, net.op(top.AbsOp, "z", (samples,)))
    assert "Permute" not in kinds(assert_same_numbers(module, "canonicalize"))
