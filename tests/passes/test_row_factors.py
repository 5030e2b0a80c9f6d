"""Factors of rows behind products with shares, and conditions chosen before they are repeated."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

BATCH, HEADS, ROWS, KEYS = 2, 3, 6, 8
Shape = tuple[int, ...]


def attention(factors: Shape, width: int = 4, same_shape: bool = False) -> ModuleOp:
    """Shares times factors, times values, heads put beside each other."""
    net = Net()
    scores = net.input("s", BATCH, HEADS, ROWS, KEYS)
    values = net.input("v", BATCH, HEADS, KEYS, width)
    shares = net.op(top.SoftmaxOp, "p", (scores,), axis=3)
    scaled = net.op(top.MulOp, "m", (shares, net.input("f", *factors)))
    value = net.op(top.MatMulOp, "y", (scaled, values, net.none))
    if same_shape:
        value = net.op(top.ReshapeOp, "again", (value,), shape=(BATCH, HEADS, ROWS, width))
    value = net.op(top.PermuteOp, "t", (value,), order=[0, 2, 1, 3])
    return net.module(net.op(top.ReshapeOp, "r", (value,), shape=(BATCH, ROWS, HEADS * width)))


@pytest.mark.parametrize("same_shape", [False, True])
@pytest.mark.parametrize(
    "factors", [(1,), (1, 1, 1, 1), (BATCH, 1, 1, 1), (ROWS, 1), (BATCH, 1, ROWS, 1)], ids=str
)
def test_factors_of_rows_are_last(factors: Shape, same_shape: bool) -> None:
    after = assert_same_numbers(attention(factors, same_shape=same_shape), "canonicalize")
    (product,) = ops_of(after, top.MulOp)
    assert shape_of(product.output) == (BATCH, ROWS, HEADS * 4)


@pytest.mark.parametrize("factors", [(HEADS, 1, 1), (BATCH, HEADS, ROWS, 1)], ids=str)
def test_factors_of_heads_stay_with_heads(factors: Shape) -> None:
    after = assert_same_numbers(attention(factors), "canonicalize")
    (product,) = ops_of(after, top.MulOp)
    assert len(shape_of(product.output)) == 4
    assert shape_of(product.output)[-1] == 4


@pytest.mark.parametrize(("factors", "width"), [((ROWS, 1), KEYS + 1), ((KEYS,), 4)], ids=str)
def test_others_stay_in_front(factors: Shape, width: int) -> None:
    after = assert_same_numbers(attention(factors, width), "canonicalize")
    (product,) = ops_of(after, top.MulOp)
    assert shape_of(product.output)[-1] == KEYS


def masked(repeated: Shape, number: bool = True) -> ModuleOp:
    """Scores and a mask made of a condition that is repeated for all rows."""
    net = Net()
    scores = net.input("s", BATCH, HEADS, ROWS, KEYS)
    keep = net.op(top.ReluOp, "k", (net.input("keep", BATCH, 1, 1, KEYS),))
    whole = net.op(top.TileOp, "t", (keep,), tile=list(repeated))
    other = net.none if number else net.input("z", BATCH, 1, ROWS, KEYS)
    numbers = {"x_is_const": True, "x_const_val": 0.0, "y_is_const": number, "y_const_val": -9.0}
    mask = net.op(top.WhereOp, "w", (whole, net.none, other), **numbers)
    return net.module(net.op(top.AddOp, "y", (scores, mask)))


def test_conditions_are_repeated_by_the_sum() -> None:
    after = assert_same_numbers(masked((1, 1, ROWS, 1)), "canonicalize")
    assert not list(ops_of(after, top.TileOp))
    (mask,) = ops_of(after, top.WhereOp)
    assert shape_of(mask.output) == (BATCH, 1, 1, KEYS)


def test_other_branches_repeat_by_themselves() -> None:
    after = assert_same_numbers(masked((1, 1, ROWS, 1), number=False), "canonicalize")
    (mask,) = ops_of(after, top.WhereOp)
    assert shape_of(mask.output) == (BATCH, 1, ROWS, KEYS)
