"""Pools of one dimension after the other: the same numbers, and when it is worth it."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints

Sizes = tuple[int, ...]


def kernels(
    kind: type[top.AvgPoolOp] | type[top.MaxPoolOp],
    shape: Sizes,
    kernel: Sizes,
    strides: Sizes = (1, 1),
    pads: Sizes = (0, 0, 0, 0),
    relu: bool = False,
    keepdims: bool = True,
) -> list[Sizes]:
    net = Net()
    window = {"kernel_shape": [*kernel], "strides": [*strides], "pads": [*pads]}
    y = net.op(kind, "y", (net.input("x", *shape),), do_relu=relu, keepdims=keepdims, **window)
    after = assert_same_numbers(net.module(y), "processor-top-optimize")
    return [ints(one.kernel_shape) for one in ops_of(after, kind)]


@pytest.mark.parametrize("kind", [top.AvgPoolOp, top.MaxPoolOp])
def test_whole_images(kind: type[top.AvgPoolOp] | type[top.MaxPoolOp]) -> None:
    assert kernels(kind, (2, 5, 14, 13), (14, 13), relu=True) == [(14, 1), (1, 13)]
    assert kernels(kind, (1, 5, 32, 20), (32, 20)) == [(8, 1), (4, 1), (1, 20)]
    assert kernels(kind, (1, 5, 17, 20), (17, 20)) == [(17, 1), (1, 20)]
    assert kernels(kind, (1, 5, 17, 20), (17, 20), keepdims=False) == [(17, 1), (1, 20)]


def test_windows_that_overlap_or_lie_apart() -> None:
    pads = (1, 0, 1, 2)
    assert kernels(top.MaxPoolOp, (1, 6, 33, 40), (3, 5), (2, 3), pads) == [(3, 1), (1, 5)]
    assert kernels(top.MaxPoolOp, (1, 6, 20, 20), (5, 5), pads=(2, 2, 2, 2)) == [(5, 1), (1, 5)]
    assert kernels(top.AvgPoolOp, (1, 6, 40, 40), (4, 4), (4, 4)) == [(4, 1), (1, 4)]


def test_means_with_padding_and_small_windows_stay() -> None:
    assert kernels(top.AvgPoolOp, (1, 6, 20, 20), (5, 5), pads=(2, 2, 2, 2)) == [(5, 5)]
    assert kernels(top.MaxPoolOp, (1, 6, 3, 3), (2, 2)) == [(2, 2)]
