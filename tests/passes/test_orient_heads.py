"""Rows and heads in the order that leaves fewest transpositions: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

ORIENT = "orient-heads"
ROWS, HEADS, SIZE = 25, 3, 8


def permuted(net: Net, name: str, value: SSAValue, *order: int) -> SSAValue:
    return net.op(top.PermuteOp, name, (value,), order=list(order))


def pixels(net: Net, name: str, value: SSAValue) -> SSAValue:
    """All rows of heads but the first."""
    options = {"offset": [0, 0, 1, 0], "ends": [1 << 30] * 4, "steps": [1] * 4}
    return net.op(top.SliceOp, name, (value, net.none, net.none, net.none), axes=[], **options)


def positions(returned: bool = False) -> ModuleOp:
    """q * conv(v) + q of all pixels, as attention with convolutions for positions has it."""
    net = Net()
    q, v = (
        net.op(top.ReshapeOp, f"{name}_rows", (net.input(name, 1, ROWS, HEADS * SIZE),),
               shape=[1, ROWS, HEADS, SIZE])
        for name in "qv"
    )  # fmt: skip
    heads = permuted(net, "heads", q, 0, 2, 1, 3)
    values = pixels(net, "v_pixels", permuted(net, "v_heads", v, 0, 2, 1, 3))
    turned = permuted(net, "turned", values, 0, 1, 3, 2)
    image = net.op(top.ReshapeOp, "image", (turned,), shape=[1, HEADS * SIZE, 4, 6])
    image = net.op(top.AbsOp, "conv", (image,))
    parts = net.op(top.ReshapeOp, "parts", (image,), shape=[1, HEADS, SIZE, 24])
    back = permuted(net, "back", parts, 0, 1, 3, 2)
    both = net.op(top.MulOp, "both", (pixels(net, "q_pixels", heads), back))
    whole = net.op(
        top.PadOp, "whole", (both, net.none), paddings=[0, 0, 1, 0] + [0] * 4, val=0.5,
        mode="constant",
    )  # fmt: skip
    softer = net.op(top.SoftmaxOp, "shares", (whole,), axis=2)
    total = net.op(top.AddOp, "total", (softer, heads))
    rows = permuted(net, "rows", total, 0, 2, 1, 3)
    result = net.op(top.ReshapeOp, "y", (rows,), shape=[1, ROWS, HEADS * SIZE])
    return net.module(result, total) if returned else net.module(result)


def test_transpositions_between_rows_and_heads_are_gone() -> None:
    """Two are left, around the image."""
    after = assert_same_numbers(positions(), ORIENT)
    assert [tuple(shape_of(op.output)) for op in ops_of(after, top.PermuteOp)] == [
        (1, HEADS, SIZE, 24),
        (1, 24, HEADS, SIZE),
    ]
    assert shape_of(ops_of(after, top.AddOp)[0].output) == (1, ROWS, HEADS, SIZE)
    assert ops_of(after, top.SoftmaxOp)[0].axis.value.data == 1


def test_what_is_returned_keeps_its_form_and_its_name() -> None:
    after = assert_same_numbers(positions(returned=True), ORIENT)
    assert (1, HEADS, ROWS, SIZE) in {shape_of(op.output) for op in ops_of(after, top.PermuteOp)}


@pytest.mark.parametrize("order", [(0, 2, 1, 3), (0, 3, 1, 2)])
def test_one_transposition_stays(order: tuple[int, ...]) -> None:
    """There is nothing to gain."""
    net = Net()
    x = permuted(net, "p", net.input("x", 1, ROWS, HEADS, SIZE), *order)
    after = assert_same_numbers(net.module(net.op(top.ReluOp, "y", (x,))), ORIENT)
    assert kinds(after) == ["Permute", "Relu"]


def test_operands_that_are_stretched_follow() -> None:
    """A row for each head is one for all rows."""
    net = Net()
    x = permuted(net, "p", net.input("x", 1, ROWS, HEADS, SIZE), 0, 2, 1, 3)
    both = net.op(top.AddOp, "both", (x, net.input("z", HEADS, 1, SIZE)))
    after = assert_same_numbers(net.module(permuted(net, "y", both, 0, 2, 1, 3)), ORIENT)
    assert kinds(after) == ["Reshape", "Add"]


def test_scores_with_heads_last_are_made_heads_first() -> None:
    """Graph attention over a dense graph: what each pair of rows has for each head is the sum of
    two columns, and the scores are turned for the product."""
    net, rows = Net(), 8 * ROWS
    one = net.op(top.AbsOp, "one", (net.input("a", rows, 1, HEADS),))
    other = net.op(top.AbsOp, "other", (net.input("b", 1, rows, HEADS),))
    both = net.op(top.LeakyReluOp, "both", (net.op(top.AddOp, "s", (one, other)),), alpha=0.2)
    shares = net.op(top.SoftmaxOp, "shares", (both,), axis=1)
    heads = permuted(net, "heads", shares, 2, 0, 1)
    values = permuted(net, "values", net.input("x", rows, HEADS, SIZE), 1, 0, 2)
    y = net.op(top.MatMulOp, "y", (heads, values, net.none))
    before = assert_same_numbers(net.module(y), "orient-products")
    after = assert_same_numbers(before, ORIENT)
    (softmax,) = ops_of(after, top.SoftmaxOp)
    assert shape_of(softmax.output) == (HEADS, rows, rows)
    turned = [shape_of(op.input) for op in ops_of(after, top.PermuteOp)]
    assert (rows, HEADS, rows) not in turned
    assert (rows, rows, HEADS) not in turned


@pytest.mark.parametrize("reads", [1, 2])
def test_permutes_in_a_row_are_one(reads: int) -> None:
    """Where nobody reads what lies between."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", ROWS, HEADS, SIZE),))
    between = permuted(net, "p", x, 0, 2, 1)
    y = permuted(net, "q", between, 2, 0, 1)
    results = [y] if reads == 1 else [y, net.op(top.ReluOp, "r", (between,))]
    after = assert_same_numbers(net.module(*results), ORIENT)
    assert len(ops_of(after, top.PermuteOp)) == reads
