"""Matrices that meet several others each: one product for each, and the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

Shape = tuple[int, ...]


@pytest.mark.parametrize(
    ("left", "right", "product"),
    [
        ((4, 3, 1, 5), (1, 3, 5, 6), (3, 4, 6)),
        ((4, 3, 2, 5), (3, 5, 6), (3, 8, 6)),
        ((3, 4, 2, 5), (3, 1, 5, 6), (3, 8, 6)),
        ((2, 3, 4, 2, 5), (1, 3, 1, 5, 6), (3, 16, 6)),
        ((2, 3, 4, 2, 5), (2, 1, 4, 5, 6), (8, 6, 6)),
        ((4, 3, 2, 1), (1, 3, 1, 6), (3, 8, 6)),
        ((1, 3, 2, 5), (4, 3, 5, 6), (3, 2, 24)),
        ((3, 2, 5), (4, 3, 5, 1), (3, 2, 4)),
        ((3, 1, 1, 5), (3, 4, 5, 6), (3, 1, 24)),
        ((2, 1, 3, 1, 5), (2, 4, 3, 5, 6), (6, 1, 24)),
    ],
)
@pytest.mark.parametrize("known", ["none", "left", "right"])
def test_one_product_for_each_matrix(left: Shape, right: Shape, product: Shape, known: str) -> None:
    net = Net()
    x = net.weight("x", *left) if known == "left" else net.input("x", *left)
    y = net.weight("y", *right) if known == "right" else net.input("y", *right)
    z = net.op(top.MatMulOp, "z", (x, y, net.none), do_relu=True)
    after = assert_same_numbers(net.module(z), "canonicalize")
    (found,) = ops_of(after, top.MatMulOp)
    assert shape_of(found.output) == product


def test_matrices_that_are_read_elsewhere() -> None:
    net = Net()
    x, w = net.input("x", 4, 3, 1, 5), net.weight("w", 1, 3, 5, 6)
    z = net.op(top.MatMulOp, "z", (x, w, net.none))
    sums = net.op(top.AddOp, "sums", (net.input("y", 1, 3, 5, 6), w))
    after = assert_same_numbers(net.module(z, sums), "canonicalize")
    (found,) = ops_of(after, top.MatMulOp)
    assert shape_of(found.output) == (3, 4, 6)


@pytest.mark.parametrize("flag", ["right_transpose", "left_transpose"])
def test_transposed_operands_stay(flag: str) -> None:
    net = Net()
    x, y = net.input("x", 4, 3, 5, 5), net.input("y", 1, 3, 5, 5)
    z = net.op(top.MatMulOp, "z", (x, y, net.none), **{flag: True})
    after = assert_same_numbers(net.module(z), "canonicalize")
    (found,) = ops_of(after, top.MatMulOp)
    assert shape_of(found.output) == (4, 3, 5, 5)
