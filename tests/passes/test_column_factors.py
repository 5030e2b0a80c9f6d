"""Factors of a product's columns are part of its matrix: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top


def product(factors: tuple[int, ...], rank: int = 2, bias: bool = True) -> ModuleOp:
    net = Net()
    x = net.input("x", 2, 5, 8)
    right = net.weight("w", *(2, 8, 6)[3 - rank :])
    added = net.weight("b", 6) if bias else net.none
    p = net.op(top.MatMulOp, "p", (x, right, added))
    return net.module(net.op(top.MulOp, "y", (p, net.weight("c", *factors)), do_relu=True))


@pytest.mark.parametrize("factors", [(6,), (1, 6), (1, 1, 6)])
@pytest.mark.parametrize("bias", [True, False])
def test_factors_are_part_of_the_matrix(factors: tuple[int, ...], bias: bool) -> None:
    after = assert_same_numbers(product(factors, bias=bias), "canonicalize")
    assert kinds(after) == ["MatMul"]


@pytest.mark.parametrize("module", [product((5, 6)), product((5, 1)), product((6,), rank=3)])
def test_others_stay(module: ModuleOp) -> None:
    assert "Mul" in kinds(assert_same_numbers(module, "canonicalize"))
