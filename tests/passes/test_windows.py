"""Constants of windows of several images: what they become, and their numbers."""

import math

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of


@pytest.mark.parametrize(
    ("whole", "seen", "constant", "becomes"),
    [
        ((6, 2, 4, 4), (2, 3, 2, 4, 4), (1, 3, 1, 4, 4), (6, 1, 4, 4)),  # a mask for all heads
        ((6, 2, 4, 4), (2, 3, 2, 4, 4), (1, 3, 2, 4, 4), (6, 2, 4, 4)),  # one for each
        ((6, 2, 4, 4), (2, 3, 2, 4, 4), (1, 3, 1, 1, 4), (6, 1, 1, 4)),  # of columns alone
        ((6, 2, 4, 4), (2, 3, 2, 4, 4), (2, 3, 1, 4, 4), None),  # of its own for each image
        ((6, 2, 4, 4), (2, 3, 2, 4, 4), (1, 1, 2, 4, 4), None),  # for all windows
        ((6, 4, 4), (2, 3, 4, 4), (1, 3, 4, 4), None),  # images and channels
        ((3, 2, 4, 4), (1, 3, 2, 4, 4), (1, 3, 1, 4, 4), None),  # one image
        ((6, 8, 4), (2, 3, 2, 4, 4), (1, 3, 1, 4, 4), None),  # other matrices, too
    ],
)
def test_constants_of_windows(
    whole: tuple[int, ...],
    seen: tuple[int, ...],
    constant: tuple[int, ...],
    becomes: tuple[int, ...] | None,
) -> None:
    net = Net()
    x = net.op(top.SinOp, "x", (net.input("in", *whole),))
    windows = net.op(top.ReshapeOp, "seen", (x,), shape=list(seen))
    total = net.op(top.AddOp, "total", (windows, net.weight("w", *constant)))
    y = net.op(top.ReshapeOp, "y", (total,), shape=list(whole))
    after = assert_same_numbers(net.module(net.op(top.CosOp, "z", (y,))), "canonicalize")
    (add,) = ops_of(after, top.AddOp)
    if becomes is None:
        assert math.prod(shape_of(add.inputs[1])) == math.prod(constant)
        return
    assert kinds(after) == ["Sin", "Add", "Cos"]
    assert (shape_of(add.output), shape_of(add.inputs[1])) == (whole, becomes)
