"""Products of matrices with one vector each are sums of products of elements: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.func import ReturnOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes.tensors import shape_of


@pytest.mark.parametrize(
    ("left", "right", "turned", "result", "is_rewritten"),
    [
        ((70, 5, 9), (70, 9, 1), False, (70, 5, 1), True),
        ((70, 5, 9), (70, 1, 9), True, (70, 5, 1), True),
        ((64, 99, 9), (64, 9, 1), False, (64, 99, 1), True),
        ((63, 99, 9), (63, 9, 1), False, (63, 99, 1), False),
        ((70, 1, 9), (70, 9, 6), False, (70, 1, 6), True),
        ((70, 1, 9), (70, 6, 9), True, (70, 1, 6), True),
        ((5, 1, 9), (5, 9, 6), False, (5, 1, 6), False),
        ((70, 2, 9), (70, 9, 6), False, (70, 2, 6), False),
        ((70, 1, 9), (70, 9, 1), False, (70, 1, 1), True),
    ],
)
def test_one_vector_for_each_matrix(
    left: tuple[int, ...],
    right: tuple[int, ...],
    turned: bool,
    result: tuple[int, ...],
    is_rewritten: bool,
) -> None:
    net = Net()
    x, y = net.input("x", *left), net.input("y", *right)
    operands = (x, y, net.none, net.none, net.none)
    product = net.op(tpu.MatMulOp, "z", operands, right_transpose=turned)
    after = assert_same_numbers(net.module(product), "shape-infer,processor-tpu-optimize")
    (returned,) = ops_of(after, ReturnOp)
    assert shape_of(returned.arguments[0]) == result
    assert bool(ops_of(after, tpu.MulOp)) == is_rewritten
    assert bool(ops_of(after, tpu.MatMulOp)) != is_rewritten
