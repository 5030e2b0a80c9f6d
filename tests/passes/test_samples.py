"""Weighted sums of samples of images: read in rows of pixels however they are put together."""

import math

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
    assert "Permute" in found[: found.index("SampledSum")]


def test_positions_of_images_side_by_side() -> None:
    net = Net()
    parts = [sampled(net, number, points, 6 - number) for number, points in enumerate((4, 2))]
    whole = net.op(top.ConcatOp, "whole", parts, axis=3)
    after = assert_same_numbers(summed(net, whole, 6), "canonicalize")
    found = kinds(after)
    assert "Concat" not in found
    assert found.count("SampledSum") == 2
    sources = [op.weights.owner for op in after.walk() if isinstance(op, top.SampledSumOp)]
    assert len({op.operands[0] for op in sources if isinstance(op, top.SliceOp)}) == 1


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


def of_tokens(*, cut: tuple[int, int] = (0, 25), pixels_last: bool = False) -> ModuleOp:
    """Samples of images of which `cut` pixels are taken of tokens with all heads' channels."""
    net = Net()
    value = net.input("value", 1, 40, HEADS * CHANNELS)
    start, end = cut
    size = math.isqrt(end - start)
    bounds = {"offset": [0, start, 0], "ends": [1, end, HEADS * CHANNELS], "steps": [1, 1, 1]}
    taken = net.op(top.SliceOp, "taken", (value, *[net.none] * 3), axes=[], **bounds)
    if pixels_last:
        split = (1, CHANNELS, HEADS, size * size)
        pixels = net.op(top.ReshapeOp, "heads", (taken,), shape=list(split))
        turned = net.op(top.PermuteOp, "turned", (pixels,), order=[0, 2, 1, 3])
    else:
        turned = net.op(top.PermuteOp, "turned", (taken,), order=[0, 2, 1])
    shape = [HEADS, CHANNELS, size, size]
    image = net.op(top.ReshapeOp, "image", (turned,), shape=shape)
    grid = net.input("grid", HEADS, QUERIES, 4, 2)
    attributes = {"mode": 0, "padding_mode": 0, "align_corners": False}
    samples = net.op(top.GridSamplerOp, "samples", (image, grid), **attributes)
    return summed(net, samples, 4)


@pytest.mark.parametrize("cut", [(0, 25), (4, 40)])
def test_pixels_of_tokens_are_rows_of_all_of_them(cut: tuple[int, int]) -> None:
    found = kinds(assert_same_numbers(of_tokens(cut=cut), "canonicalize"))
    before = found[: found.index("SampledSum")]
    assert before.count("Permute") == 2  # of the places and of the weights
    assert "Slice" not in before


def test_channels_apart_are_no_rows() -> None:
    found = kinds(assert_same_numbers(of_tokens(pixels_last=True), "canonicalize"))
    assert found[: found.index("SampledSum")].count("Permute") > 2


@pytest.mark.parametrize(("axis", "passed_by"), [(3, True), (0, False)])
def test_columns_that_a_grid_is_put_together_of(axis: int, passed_by: bool) -> None:
    net = Net()
    image, (x, y) = net.input("image", 2, 3, 6, 5), (net.input(name, 1, 4, 4, 2) for name in "xy")
    if passed_by:
        x, y = (net.input(f"{name}_column", 2, 4, 4, 1) for name in "xy")
    grid = net.op(top.ConcatOp, "grid", (x, y), axis=axis)
    attributes = {"mode": 0, "padding_mode": 0, "align_corners": True}
    module = net.module(net.op(top.GridSamplerOp, "samples", (image, grid), **attributes))
    lowering = "processor-assign{mode=F32 chip=bm1684x},import-calibration-table,convert-top-to-tpu"
    found = kinds(assert_same_numbers(module, lowering))
    assert ("Slice" in found) == (not passed_by)
