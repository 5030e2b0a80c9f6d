"""Columns of products that no constant index reads are not made; the numbers stay."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(
    ("low", "high", "columns", "left"),
    [(257, 767, 1024, 512), (3, 5, 256, 64), (250, 255, 300, 64), (0, 999, 1024, 1024)],
)
def test_distances_within_a_text(
    low: int, high: int, columns: int, left: int, biased: bool
) -> None:
    net = Net()
    x, weight = net.input("x", 2, 7, 5), net.weight("w", 5, columns)
    bias = net.weight("b", columns) if biased else net.none
    product = net.op(top.MatMulOp, "product", (x, weight, bias))
    indices = np.random.default_rng(0).integers(low, high + 1, (2, 7, 40))
    indices[0, 0, :2] = low, high
    which = net.weight("which", 2, 7, 40, values=indices)
    y = net.op(top.GatherElementsOp, "y", (product, which), axis=2)
    after = assert_same_numbers(net.module(y), "canonicalize")
    (made,) = ops_of(after, top.MatMulOp)
    assert shape_of(made.output) == (2, 7, left)


@pytest.mark.parametrize(("axis", "first"), [(1, 1), (2, -3)])
def test_rows_and_indices_from_the_end_stay(axis: int, first: int) -> None:
    net = Net()
    product = net.op(
        top.MatMulOp, "product", (net.input("x", 2, 300, 5), net.weight("w", 5, 300), net.none)
    )
    which = net.weight("which", 2, 300, 300, values=np.full((2, 300, 300), first))
    y = net.op(top.GatherElementsOp, "y", (product, which), axis=axis)
    (made,) = ops_of(assert_same_numbers(net.module(y), "canonicalize"), top.MatMulOp)
    assert shape_of(made.output) == (2, 300, 300)
