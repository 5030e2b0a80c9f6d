"""Rows in several dimensions become those of a matrix: the same numbers, and where it ends."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import is_weight, shape_of

PASS = "merge-rows"
CHANNELS, HEIGHT, WIDTH = 4, 3, 5
IMAGE = (2, CHANNELS, HEIGHT, WIDTH)


def permuted(net: Net, name: str, value: SSAValue, *order: int) -> SSAValue:
    return net.op(top.PermuteOp, name, (value,), order=[*order])


def product(net: Net, name: str, value: SSAValue, columns: int, rows: int = CHANNELS) -> SSAValue:
    right = net.weight(f"{name}.w", rows, columns)
    return net.op(top.MatMulOp, name, (value, right, net.weight(f"{name}.b", 1, 1, 1, columns)))


def normed(net: Net, name: str, value: SSAValue, first: int) -> SSAValue:
    size = (2, HEIGHT, WIDTH, CHANNELS)[first:]
    given = (value, net.weight(f"{name}.w", *size), net.weight(f"{name}.b", *size))
    return net.op(top.LayerNormOp, name, given, axis=first, eps=1e-5, normalized_shape=[*size])


def test_a_block_of_pixels_with_channels_last() -> None:
    """LayerNorm, product, slices of its columns, activation, product, and back to an image."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *IMAGE),))
    rows = permuted(net, "rows", x, 0, 2, 3, 1)
    wide = product(net, "fc1", normed(net, "norm", rows, 3), 6)
    options = {"steps": [1] * 4, "axes": list[int]()}
    gate, most = (
        net.op(
            top.SliceOp, name, (wide, *[net.none] * 3), offset=[0, 0, 0, a], ends=[2, 3, 5, b],
            **options,
        )
        for name, a, b in (("gate", 0, 3), ("most", 3, 6))
    )  # fmt: skip
    gated = net.op(top.MulOp, "gated", (net.op(top.GELUOp, "act", (gate,)), most))
    again = net.op(top.ConcatOp, "again", (gated, wide), axis=-1)
    shares = net.op(top.SoftmaxOp, "shares", (again,), axis=3)
    shifted = net.op(top.AddOp, "s", (product(net, "fc2", shares, CHANNELS, rows=9), rows))
    placed = net.op(top.AddOp, "p", (shifted, net.weight("places", 1, HEIGHT, WIDTH, CHANNELS)))
    scaled = net.op(top.MulOp, "g", (placed, net.weight("gamma", CHANNELS)))
    y = net.op(top.AddOp, "y", (permuted(net, "back", scaled, 0, 3, 1, 2), x))
    after = assert_same_numbers(net.module(y), PASS)
    assert {len(shape_of(one.output)) for one in ops_of(after, top.MatMulOp)} == {3}
    assert {len(shape_of(one.output)) for one in ops_of(after, top.LayerNormOp)} == {3}
    orders = [len(shape_of(one.output)) for one in ops_of(after, top.PermuteOp)]
    assert orders == [3, 3]
    outside = [one for one in ops_of(after, top.ReshapeOp) if not is_weight(one.input)]
    assert len(outside) == 2


def test_one_dimension_after_the_other_until_three_are_left() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 3, 4, 5, 6),))
    after = assert_same_numbers(net.module(product(net, "y", x, 7, rows=6)), PASS)
    assert shape_of(ops_of(after, top.MatMulOp)[0].output) == (2, 60, 7)


@pytest.mark.parametrize("rank", [2, 3])
def test_matrices_stay(rank: int) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *(2, 3, 4)[-rank:]),))
    after = assert_same_numbers(net.module(product(net, "y", x, 7)), PASS)
    assert kinds(after) == ["Abs", "MatMul"]


@pytest.mark.parametrize("shape", [(WIDTH, CHANNELS), (1, HEIGHT, 1, CHANNELS), (1, WIDTH, 1)])
def test_what_is_repeated_along_one_of_them_ends_it(shape: tuple[int, ...]) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, HEIGHT, WIDTH, CHANNELS),))
    added = net.op(top.AddOp, "s", (x, net.op(top.AbsOp, "b", (net.input("z", *shape),))))
    after = assert_same_numbers(net.module(product(net, "y", added, 7)), PASS)
    assert kinds(after) == ["Abs", "Abs", "Add", "Reshape", "MatMul", "Reshape"]


@pytest.mark.parametrize("kind", ["norm", "slice", "permute"])
def test_ops_that_tell_the_dimensions_apart_end_it(kind: str) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, HEIGHT, WIDTH, CHANNELS),))
    match kind:
        case "norm":
            made = normed(net, "m", x, 2)
        case "slice":
            given = {"offset": [0, 1, 0, 0], "ends": [2, 3, 5, 4], "steps": [1] * 4}
            made = net.op(top.SliceOp, "m", (x, *[net.none] * 3), axes=[], **given)
        case _:
            made = permuted(net, "m", x, 0, 2, 1, 3)  # lines of columns
    after = assert_same_numbers(net.module(product(net, "y", made, 7)), PASS)
    assert kinds(after)[2:] == ["Reshape", "MatMul", "Reshape"]


def test_products_of_two_computed_matrices_follow_but_do_not_ask() -> None:
    """A batch of two dimensions is one where a product with a weight is linked to it."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 3, 4, 5, 6),))
    z = net.op(top.AbsOp, "b", (net.input("z", 2, 3, 4, 6, 5),))
    scores = net.op(top.MatMulOp, "m", (x, z, net.none))
    after = assert_same_numbers(net.module(scores), PASS)
    assert kinds(after) == ["Abs", "Abs", "MatMul"]


@pytest.mark.parametrize("behind", [True, False])
def test_heads_of_scores_are_mixed_as_they_are(behind: bool) -> None:
    """Talking heads: rows and keys are no rows of one matrix to who fuses the attention."""
    net = Net()
    q, k = (net.op(top.AbsOp, f"a{n}", (net.input(n, 1, 2, 5, 6),)) for n in "qk")
    scores = net.op(top.MatMulOp, "s", (q, k, net.none), right_transpose=True)
    before = net.op(top.SoftmaxOp, "p", (scores,), axis=3) if behind else scores
    mixed = net.op(
        top.MatMulOp,
        "mix",
        (permuted(net, "last", before, 0, 2, 3, 1), net.weight("w", 2, 2), net.none),
    )
    after = assert_same_numbers(net.module(permuted(net, "y", mixed, 0, 3, 1, 2)), PASS)
    assert not ops_of(after, top.ReshapeOp)
