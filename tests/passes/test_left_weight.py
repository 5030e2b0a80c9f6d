"""Constants that mix the rows of many images are matrices from the right; the numbers stay."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import is_weight, shape_of


@pytest.mark.parametrize(
    ("left", "right", "is_turned"),
    [
        ((8, 5), (1, 32, 5, 7), True),
        ((1, 1, 8, 5), (2, 40, 5, 7), True),
        ((8, 5), (3, 2, 64, 5, 1), True),
        ((8, 5), (1, 31, 5, 7), False),
        ((40, 8, 5), (2, 40, 5, 7), False),  # a matrix for each channel
        ((8, 5), (40, 5, 7), False),  # rows become channels
    ],
)
def test_transforms_of_rows(left: tuple[int, ...], right: tuple[int, ...], is_turned: bool) -> None:
    net = Net()
    y = net.op(top.MatMulOp, "y", (net.weight("w", *left), net.input("x", *right), net.none))
    after = assert_same_numbers(net.module(y), "shape-infer,canonicalize")
    turned = [op for op in ops_of(after, top.MatMulOp) if is_weight(op.right)]
    assert [shape_of(op.right) for op in turned] == [left[-2:][::-1]] * is_turned


def test_a_bias_stays_with_its_columns() -> None:
    net = Net()
    operands = net.weight("w", 8, 5), net.input("x", 1, 32, 5, 7), net.weight("b", 7)
    after = assert_same_numbers(
        net.module(net.op(top.MatMulOp, "y", operands)), "shape-infer,canonicalize"
    )
    assert not ops_of(after, top.PermuteOp)
