"""Images whose channels come last between convolutions: no Permute is left, the numbers stay."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints

LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)


def conv(net: Net, name: str, x: SSAValue, channels: int = 4, size: int = 3) -> SSAValue:
    """A convolution with channels last on both sides."""
    image = net.op(top.PermuteOp, f"{name}_in", (x,), order=FIRST)
    weight = net.weight(f"{name}_w", channels, 4, size, size)
    options = {"kernel_shape": [size] * 2, "pads": [0] * 4, "strides": [1, 1]}
    made = net.op(top.ConvOp, name, (image, weight, net.none), **options)
    return net.op(top.PermuteOp, f"{name}_out", (made,), order=LAST)


def padded(net: Net, name: str, x: SSAValue) -> SSAValue:
    sides = [0, 1, 2, 0, 0, 1, 0, 0]
    return net.op(top.PadOp, name, (x,), paddings=sides, mode="constant")


def test_bias_function_and_pad_between_convolutions() -> None:
    net = Net()
    x = conv(net, "c1", net.input("x", 1, 6, 6, 4))
    bias = net.weight("b", values=np.arange(4.0).tolist())
    x = net.op(top.AddOp, "sum", (x, bias))
    x = net.op(top.ReluOp, "relu", (x,))
    x = net.op(top.SigmoidOp, "sigmoid", (x,))
    y = conv(net, "c2", padded(net, "pad", x))
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "y", (y,))), "canonicalize")
    assert kinds(after).count("Permute") == 2
    assert not {"Add", "Pad", "Relu"} & set(kinds(after))


@pytest.mark.parametrize("also", ["", "relu", "c1"])
def test_blocks_with_a_way_around(also: str) -> None:
    net = Net()
    values = {"c1": conv(net, "c1", net.input("x", 1, 6, 6, 4))}
    values["relu"] = net.op(top.ReluOp, "relu", (values["c1"],))
    inner = conv(net, "c2", padded(net, "pad", values["relu"]))
    total = net.op(top.AddOp, "sum", (inner, values["relu"]))
    y = conv(net, "c3", net.op(top.SigmoidOp, "sigmoid", (total,)), size=1)
    outputs = [net.op(top.AbsOp, "y", (y,))]
    outputs += [net.op(top.SoftmaxOp, "z", (values[also],), axis=3)] if also else []
    after = assert_same_numbers(net.module(*outputs), "canonicalize")
    left = [ints(op.order) for op in ops_of(after, top.PermuteOp)]
    if not also:
        assert left == [FIRST, LAST]
    assert len(left) <= (2 if not also else 6)


def test_a_constant_that_is_not_of_channels_stays() -> None:
    net = Net()
    x = conv(net, "c1", net.input("x", 1, 6, 6, 4))
    bias = net.weight("b", 1, 1, 4, 1)
    y = net.op(top.AddOp, "sum", (x, bias))
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "y", (y,))), "canonicalize")
    assert "Add" in kinds(after)


def test_a_convolution_with_a_bias_keeps_it() -> None:
    net = Net()
    image = net.input("x", 1, 4, 6, 6)
    operands = (image, net.weight("w", 4, 4, 1, 1), net.weight("wb", 4))
    options = {"kernel_shape": [1, 1], "pads": [0] * 4, "strides": [1, 1]}
    made = net.op(top.ConvOp, "c1", operands, **options)
    rows = net.op(top.PermuteOp, "last", (made,), order=LAST)
    y = net.op(top.AddOp, "y", (rows, net.weight("b", 4)))
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "z", (y,))), "canonicalize")
    assert "Add" in kinds(after)
