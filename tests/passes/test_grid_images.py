"""Grids that are images of positions, put last, are read as images; the numbers stay."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.tensors import shape_of

PASSES = "shape-infer,canonicalize,convert-top-to-tpu{mode=F32 chip=bm1684x},canonicalize"


@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize(("sizes", "order"), [((6, 5), (0, 2, 3, 1)), ((3, 4, 5), (0, 2, 3, 4, 1))])
def test_positions_from_channels(
    images: int, sizes: tuple[int, ...], order: tuple[int, ...]
) -> None:
    net = Net()
    image, flow = net.input("image", images, 2, *sizes), net.input("flow", images, 2, *sizes)
    if len(sizes) > 2:
        flow = net.input("flow3", images, len(sizes), *sizes)
    grid = net.op(top.PermuteOp, "grid", (flow,), order=order)
    attributes = {"mode": 0, "padding_mode": 1, "align_corners": True}
    y = net.op(top.GridSamplerOp, "y", (image, grid), **attributes)
    after = assert_same_numbers(net.module(y), PASSES, tolerance=1e-4)
    assert order not in [ints(op.order) for op in ops_of(after, tpu.PermuteOp)]


def test_other_orders_are_grids_as_they_are() -> None:
    """Height and width change places, too."""
    net = Net()
    image, flow = net.input("image", 1, 2, 6, 5), net.input("flow", 1, 2, 5, 6)
    grid = net.op(top.PermuteOp, "grid", (flow,), order=(0, 3, 2, 1))
    attributes = {"mode": 0, "padding_mode": 1, "align_corners": True}
    y = net.op(top.GridSamplerOp, "y", (image, grid), **attributes)
    after = assert_same_numbers(net.module(y), PASSES, tolerance=1e-4)
    assert (0, 3, 2, 1) in [ints(op.order) for op in ops_of(after, tpu.PermuteOp)]


def test_one_image_that_is_sampled_twice_is_turned_once() -> None:
    net = Net()
    image = net.input("image", 1, 3, 6, 5)
    attributes = {"mode": 0, "padding_mode": 1, "align_corners": True}
    ys = [
        net.op(top.GridSamplerOp, f"y{n}", (image, net.input(f"g{n}", 1, 6, 5, 2)), **attributes)
        for n in range(2)
    ]
    total = net.op(top.AddOp, "total", ys)
    after = assert_same_numbers(net.module(total), PASSES, tolerance=1e-4)
    assert [shape_of(op.output) for op in ops_of(after, tpu.PermuteOp)].count((1, 30, 3)) == 1
