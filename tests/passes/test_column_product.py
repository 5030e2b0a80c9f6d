"""Products of matrices with one vector each are sums of products of elements: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.func import ReturnOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.pipeline import make_pass
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
        ((70, 3, 5, 9), (70, 1, 9, 1), False, (70, 3, 5, 1), True),
        ((2, 40, 3, 5, 9), (40, 1, 9, 1), False, (2, 40, 3, 5, 1), False),
        ((70, 1, 5, 9), (70, 3, 9, 1), False, (70, 3, 5, 1), False),
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
    product = net.op(tpu.MatMulOp, "z", operands, right_transpose=turned, do_relu=turned)
    after = assert_same_numbers(net.module(product), "shape-infer,processor-tpu-optimize")
    (returned,) = ops_of(after, ReturnOp)
    assert shape_of(returned.arguments[0]) == result
    assert bool(ops_of(after, tpu.MulOp)) == is_rewritten
    assert bool(ops_of(after, tpu.MatMulOp)) != is_rewritten


@pytest.mark.parametrize(("count", "is_rewritten"), [(70, True), (1, False)])
def test_matrices_of_weights(count: int, is_rewritten: bool) -> None:
    """Each has a lane of its own; a single one is loaded as the unit reads it."""
    net = Net()
    x = net.input("x", count, 1, 9)
    operands = (net.weight("w", count, 1, 9), x, net.none, net.none, net.none)
    product = net.op(tpu.MatMulOp, "z", operands, right_transpose=True)
    after = assert_same_numbers(net.module(product), "shape-infer,processor-tpu-optimize")
    assert bool(ops_of(after, tpu.MulOp)) == is_rewritten


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ((4, 8, 6, 3), (4, 1, 3, 5), [(4, 48)]),
        ((4, 8, 6, 3), (4, 8, 3, 5), [(32, 6)]),
        ((2, 4, 8, 6, 3), (2, 4, 1, 3, 5), [(8, 48)]),
        ((2, 4, 8, 6, 3), (1, 1, 3, 5), [(1, 384), (64, 6)]),
        ((2, 4, 8, 6, 3), (4, 1, 3, 5), []),
        ((4, 1, 6, 3), (4, 8, 3, 5), []),
        ((6, 3), (8, 3, 5), []),
    ],
)
def test_rows_that_meet_the_same_matrix_lie_together(
    left: tuple[int, ...], right: tuple[int, ...], wanted: list[tuple[int, int]]
) -> None:
    net = Net()
    operands = (net.input("x", *left), net.input("y", *right), net.none, net.none, net.none)
    product = net.op(tpu.MatMulOp, "z", operands)
    module = net.module(product)
    make_pass("shape-infer").apply(make_context(), module)
    (op,) = ops_of(module, tpu.MatMulOp)
    assert [*op.lanes_wanted()] == wanted
    for lanes in op.lanes_wanted():
        seen = op.viewed(lanes)
        assert seen is not None
        assert seen.result == (*lanes, right[-1])
