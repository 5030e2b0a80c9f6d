"""The largest row of each set of a product is found over convolutions; the numbers stay."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds

from xdsl_tpu.dialects import top


@pytest.mark.parametrize(
    ("sets", "sums", "mode", "expected"),
    [
        ((5,), 2, "ReduceMax", True),
        ((2, 3), 2, "ReduceMax", True),
        ((5,), 3, "ReduceMax", False),  # turning the operand is not much less than the result
        ((1,), 2, "ReduceMax", False),  # one set
        ((5,), 2, "ReduceMean", False),
    ],
)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_largest_rows(
    sets: tuple[int, ...], sums: int, mode: str, expected: bool, keepdims: bool, bias: bool
) -> None:
    net = Net()
    b = net.weight("b", 8) if bias else net.none
    operands = (net.input("x", *sets, 4, sums), net.weight("w", sums, 8), b)
    product = net.op(top.MatMulOp, "m", operands, do_relu=True)
    y = net.op(top.ReduceOp, "y", (product,), axes=[len(sets)], keepdims=keepdims, mode=mode)
    found = kinds(assert_same_numbers(net.module(y), "canonicalize"))
    assert ("Conv" in found) == expected
    assert ("MatMul" in found) != expected


@pytest.mark.parametrize("axis", [0, 2])
def test_other_dimensions_stay(axis: int) -> None:
    net = Net()
    operands = (net.input("x", 5, 4, 2), net.weight("w", 2, 8), net.none)
    product = net.op(top.MatMulOp, "m", operands)
    y = net.op(top.ReduceOp, "y", (product,), axes=[axis], keepdims=False, mode="ReduceMax")
    assert "MatMul" in kinds(assert_same_numbers(net.module(y), "canonicalize"))
