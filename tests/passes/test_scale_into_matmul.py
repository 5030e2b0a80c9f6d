"""A norm's scale behind a product of rows becomes part of the product."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top

OPTIMIZE = "processor-top-optimize"


def scaled(net: Net, x: SSAValue, *shape: int) -> SSAValue:
    operands = (x, net.weight("scale", *shape), net.weight("shift", *shape))
    return net.op(top.ScaleOp, "y", operands, do_relu=True)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_rows_are_scaled_by_the_product(bias: bool, flat: bool) -> None:
    net = Net()
    x = net.input("x", *((2, 3, 5) if flat else (6, 5)))
    b = net.weight("b", 7) if bias else net.none
    y = net.op(top.MatMulOp, "m", (x, net.weight("w", 5, 7), b))
    if flat:
        y = net.op(top.ReshapeOp, "flat", (y,), shape=[6, 7])
    after = kinds(assert_same_numbers(net.module(scaled(net, y, 1, 7)), OPTIMIZE))
    assert after == (["MatMul", "Reshape"] if flat else ["MatMul"])


def test_channels_that_are_no_columns_are_scaled_by_themselves() -> None:
    net = Net()
    y = net.op(top.MatMulOp, "m", (net.input("x", 2, 7, 5), net.weight("w", 5, 7), net.none))
    after = kinds(assert_same_numbers(net.module(scaled(net, y, 1, 7, 1)), OPTIMIZE))
    assert after == ["MatMul", "Reshape", "Conv", "Reshape"]
