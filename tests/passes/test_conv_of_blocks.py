"""Convolutions over blocks of pixels become those over pixels, with the same numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints

CANONICALIZE = "canonicalize"
CHANNELS, HEIGHT, WIDTH = 3, 12, 18
QUARTERS = ((0, 0), (1, 0), (0, 1), (1, 1))


def quarter(
    net: Net, name: str, x: SSAValue, row: int, column: int, width: int = WIDTH
) -> SSAValue:
    ends = [2, CHANNELS, HEIGHT, width]
    cuts: dict[str, Any] = {"offset": [0, 0, row, column], "ends": ends, "steps": [1, 1, 2, 2]}
    operands = (x, net.none, net.none, net.none)
    return net.op(top.SliceOp, name, operands, axes=[], **cuts)


def focused(net: Net, x: SSAValue, quarters: tuple[tuple[int, int], ...] = QUARTERS) -> SSAValue:
    parts = [quarter(net, f"q{row}{column}", x, row, column) for row, column in quarters]
    return net.op(top.ConcatOp, "focus", parts, axis=1)


def convolved(net: Net, x: SSAValue, channels: int, **window: Any) -> SSAValue:
    how: dict[str, Any] = {"kernel_shape": [3, 2], "strides": [1, 2], "pads": [1, 0, 2, 1]}
    how |= window
    weight = net.weight("y_w", 5, channels // how.get("group", 1), *how["kernel_shape"])
    return net.op(top.ConvOp, "y", (x, weight, net.weight("y_b", 5)), do_relu=True, **how)


@pytest.mark.parametrize("quarters", [QUARTERS, QUARTERS[::-1], QUARTERS[:3]])
def test_slices(quarters: tuple[tuple[int, int], ...]) -> None:
    """In any order, and also when a place in the block is not read."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, CHANNELS, HEIGHT, WIDTH),))
    y = convolved(net, focused(net, x, quarters), CHANNELS * len(quarters))
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Abs", "Conv"]
    (conv,) = ops_of(after, top.ConvOp)
    assert ints(conv.kernel_shape) == (6, 4)
    assert (ints(conv.strides), ints(conv.pads)) == ((2, 4), (2, 0, 4, 2))


@pytest.mark.parametrize("crd", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
def test_depth_to_space(crd: bool, swapped: bool) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, CHANNELS, HEIGHT, WIDTH),))
    blocks: dict[str, Any] = {"block_h": 2, "block_w": 3, "swap_cr": swapped, "is_CRD": crd}
    deep = net.op(top.Depth2SpaceOp, "deep", (x,), is_inversed=True, **blocks)
    after = assert_same_numbers(net.module(convolved(net, deep, 6 * CHANNELS)), CANONICALIZE)
    assert kinds(after) == ["Abs", "Conv"]


@pytest.mark.parametrize("case", ["also read", "a group", "dilated", "part of a row"])
def test_what_stays(case: str) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, CHANNELS, HEIGHT, WIDTH),))
    width = WIDTH - 2 if case == "part of a row" else WIDTH
    parts = [quarter(net, f"q{row}", x, row, 0, width) for row in (0, 1)]
    blocks = net.op(top.ConcatOp, "focus", parts, axis=1)
    window = {"a group": {"group": 1}, "dilated": {"dilations": [2, 1]}}.get(case, {})
    if case == "a group":
        weight = net.weight("y_w", 6, 1, 3, 2)
        how: dict[str, Any] = {"kernel_shape": [3, 2], "strides": [1, 2], "pads": [1, 0, 2, 1]}
        results = [net.op(top.ConvOp, "y", (blocks, weight, net.none), group=6, **how)]
    else:
        results = [convolved(net, blocks, 2 * CHANNELS, **window)]
    results += [net.op(top.AbsOp, "z", (blocks,))] if case == "also read" else []
    after = assert_same_numbers(net.module(*results), CANONICALIZE)
    assert kinds(after).count("Concat") == 1


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_convolution_in_the_order_of_blocks(swapped: bool, biased: bool) -> None:
    """Filters change places, where channels of a place do not follow each other."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, CHANNELS, HEIGHT, WIDTH),))
    bias = net.weight("y_b", 24) if biased else net.none
    how: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}
    y = net.op(top.ConvOp, "y", (x, net.weight("y_w", 24, CHANNELS, 3, 3), bias), **how)
    blocks: dict[str, Any] = {"block_h": 2, "block_w": 3, "swap_cr": swapped, "is_CRD": True}
    wide = net.op(top.Depth2SpaceOp, "wide", (y,), is_inversed=False, **blocks)
    after = assert_same_numbers(net.module(wide), CANONICALIZE)
    assert kinds(after) == ["Abs", "Conv", "Depth2Space"]
    (op,) = ops_of(after, top.Depth2SpaceOp)
    assert not op.is_CRD.value.data


def test_convolution_that_others_read_keeps_its_order() -> None:
    net = Net()
    x = net.input("x", 2, CHANNELS, HEIGHT, WIDTH)
    how: dict[str, Any] = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0, 0, 0, 0]}
    y = net.op(top.ConvOp, "y", (x, net.weight("y_w", 12, CHANNELS, 1, 1), net.none), **how)
    blocks: dict[str, Any] = {"block_h": 2, "block_w": 2, "is_CRD": True}
    wide = net.op(top.Depth2SpaceOp, "wide", (y,), is_inversed=False, **blocks)
    after = assert_same_numbers(net.module(wide, net.op(top.AbsOp, "z", (y,))), CANONICALIZE)
    assert all(op.is_CRD.value.data for op in ops_of(after, top.Depth2SpaceOp))
