"""Norms over channels become norms of rows: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.tensors import shape_of

LARGE = (1, 6, 128, 129)

LONGEST = 16383
"""Eight times as many numbers of 16 bits, and eight more, fill a lane."""


@pytest.mark.parametrize("shape", [(2, 6, 3, 5), (2, 6, 7), (1, 6, 2, 3, 4)])
@pytest.mark.parametrize("given", ["both", "weight", "bias", "none"])
def test_channels_are_turned_there_and_back(shape: tuple[int, ...], given: str) -> None:
    net = Net()
    size = (1, shape[1], *(1 for _ in shape[2:]))
    weight = net.weight("w", *size) if given in ("both", "weight") else net.none
    bias = net.weight("b", *size) if given in ("both", "bias") else net.none
    x = net.op(top.AbsOp, "a", (net.input("x", *shape),))
    normed = net.op(top.PixelNormOp, "y", (x, weight, bias), eps=1e-6)
    after = assert_same_numbers(net.module(normed), "processor-top-optimize")
    assert kinds(after) == ["Abs", "Permute", "LayerNorm", "Permute"]


def test_a_large_image_keeps_its_lines() -> None:
    net = Net()
    rows = net.op(top.PermuteOp, "rows", (net.input("x", *LARGE),), order=[0, 2, 3, 1])
    given = (rows, net.weight("w", LARGE[1]), net.none)
    normed = net.op(top.LayerNormOp, "n", given, axis=3, eps=1e-6, normalized_shape=[LARGE[1]])
    y = net.op(top.PermuteOp, "y", (normed,), order=[0, 3, 1, 2])
    after = assert_same_numbers(net.module(y), "processor-top-optimize")
    assert [ints(one.order) for one in ops_of(after, top.PermuteOp)] == [(0, 3, 2, 1)] * 2


@pytest.mark.parametrize("columns", [64, 128])
def test_columns_that_fill_the_lanes_take_the_place_of_channels(columns: int) -> None:
    """Lines stay where they are, however small the image."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, 6, 2, columns),))
    y = net.op(top.PixelNormOp, "y", (x, net.weight("w", 6), net.none), eps=1e-6)
    after = assert_same_numbers(net.module(y), "processor-top-optimize")
    assert [ints(one.order) for one in ops_of(after, top.PermuteOp)] == [(0, 3, 2, 1)] * 2


@pytest.mark.parametrize("given", ["both", "none"])
def test_a_long_signal_is_normed_as_it_lies(given: str) -> None:
    """Local memory does not hold what a block of layers has of it."""
    net, channels = Net(), 130
    size = LONGEST // 3 + 1
    weights = [net.weight(name, channels) if given == "both" else net.none for name in "wb"]
    rows = net.op(top.PermuteOp, "rows", (net.input("x", 1, channels, size),), order=[0, 2, 1])
    norm = {"axis": 2, "eps": 1e-6, "normalized_shape": [channels]}
    normed = net.op(top.LayerNormOp, "n", (rows, *weights), **norm)
    y = net.op(top.PermuteOp, "y", (normed,), order=[0, 2, 1])
    after = assert_same_numbers(net.module(y), "processor-top-optimize")
    assert kinds(after) == ["PixelNorm"]


@pytest.mark.parametrize(
    ("longer", "found"), [(0, ["Permute", "LayerNorm", "Permute"]), (1, ["PixelNorm"])]
)
def test_a_signal_stays_where_it_fills_an_eighth_of_local_memory(
    longer: int, found: list[str]
) -> None:
    net = Net()
    x = net.input("x", 1, 6, LONGEST + longer)
    y = net.op(top.PixelNormOp, "y", (x, net.weight("w", 1, 6, 1), net.none), eps=1e-6)
    after = assert_same_numbers(net.module(y), "processor-top-optimize")
    assert kinds(after) == found
    (weight,) = ops_of(after, top.WeightOp)
    assert shape_of(weight.output) == (1, 1, 6)
