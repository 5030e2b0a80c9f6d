"""Reshapes and permutes: what becomes of them, and that numbers stay."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.permute_order import Permutation, cancel, two_steps

CANONICALIZE = "canonicalize"


def test_reshapes_in_a_row_are_one() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 6),))
    for name, shape in (("r1", [24]), ("r2", [2, 12]), ("r3", [0, 3, 4])):
        x = net.op(top.ReshapeOp, name, (x,), shape=shape)
    after = assert_same_numbers(net.module(x), CANONICALIZE)
    assert kinds(after) == ["Abs", "Reshape"]
    uses = [use for op in after.walk() for result in op.results for use in result.uses]
    assert all(use.operation.parent is not None for use in uses)  # none from what was discarded


def test_reshape_used_twice_stays() -> None:
    net = Net()
    first = net.op(top.ReshapeOp, "r1", (net.input("x", 4, 6),), shape=[24])
    second = net.op(top.ReshapeOp, "r2", (first,), shape=[2, 12])
    after = assert_same_numbers(net.module(first, second), CANONICALIZE)
    assert kinds(after) == ["Reshape", "Reshape"]


def test_reshape_back_goes_though_the_first_is_used() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 6),))
    flat = net.op(top.ReshapeOp, "flat", (x,), shape=[24])
    back = net.op(top.ReshapeOp, "back", (flat,), shape=[4, 6])
    y = net.op(top.SinOp, "y", (back,))
    assert kinds(assert_same_numbers(net.module(flat, y), CANONICALIZE)) == [
        "Abs",
        "Reshape",
        "Sin",
    ]


def test_flatten_is_a_reshape() -> None:
    net = Net()
    y = net.op(top.FlattenOp, "y", (net.input("x", 2, 3, 4, 5),), start_dim=1)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    (reshape,) = ops_of(after, top.ReshapeOp)
    assert ints(reshape.shape) == (2, 60)


def test_leading_one_around_an_add_goes() -> None:
    net = Net()
    x = net.op(top.ReshapeOp, "r1", (net.input("x", 8, 3, 5, 5),), shape=[1, 8, 3, 5, 5])
    total = net.op(top.AddOp, "a", (x, net.weight("w", 1, 8, 1, 5, 5)))
    y = net.op(top.ReshapeOp, "y", (total,), shape=[8, 3, 5, 5])
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Add"]


def test_leading_two_around_an_add_stays() -> None:
    net = Net()
    x = net.op(top.ReshapeOp, "r1", (net.input("x", 8, 3, 5, 5),), shape=[2, 4, 3, 5, 5])
    total = net.op(top.AddOp, "a", (x, net.weight("w", 2, 4, 1, 5, 5)))
    y = net.op(top.ReshapeOp, "y", (total,), shape=[8, 3, 5, 5])
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Reshape", "Add", "Reshape"]


def layer_norm(net: Net, x: SSAValue) -> SSAValue:
    return net.op(
        top.LayerNormOp, "ln", (x, net.none, net.none), normalized_shape=[], axis=-1, eps=1e-5
    )


def test_reshape_moves_before_an_add_that_a_layer_norm_reads() -> None:
    net = Net()
    values = [net.op(top.AbsOp, f"a{i}", (net.input(f"x{i}", 1, 4, 4, 6),)) for i in range(2)]
    flat = net.op(top.ReshapeOp, "r", (net.op(top.AddOp, "sum", values),), shape=[1, -1, 6])
    after = assert_same_numbers(net.module(layer_norm(net, flat)), CANONICALIZE)
    assert kinds(after) == ["Abs", "Abs", "Reshape", "Reshape", "Add", "LayerNorm"]


def test_reshape_stays_behind_an_add_of_a_matmul() -> None:
    net = Net()
    product = net.op(top.MatMulOp, "p", (net.input("x", 1, 16, 6), net.weight("w", 6, 6), net.none))
    total = net.op(top.AddOp, "sum", (net.input("y", 1, 16, 6), product))
    flat = net.op(top.ReshapeOp, "r", (total,), shape=[1, 4, 4, 6])
    after = assert_same_numbers(net.module(layer_norm(net, flat)), CANONICALIZE)
    assert kinds(after) == ["MatMul", "Add", "Reshape", "LayerNorm"]


# Permute


def test_permute_that_moves_only_ones_is_a_reshape() -> None:
    net = Net()
    y = net.op(top.PermuteOp, "y", (net.input("x", 1, 6, 1, 1),), order=[0, 2, 3, 1])
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Reshape"]


@pytest.mark.parametrize(
    ("second", "expected"), [([0, 3, 1, 2], ["Abs"]), ([0, 2, 3, 1], ["Abs", "Permute", "Permute"])]
)
def test_permutes_cancel_only_when_inverse(second: list[int], expected: list[str]) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 3, 4, 5),))
    x = net.op(top.PermuteOp, "p1", (x,), order=[0, 2, 3, 1])
    y = net.op(top.PermuteOp, "p2", (x,), order=second)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == expected


def test_permutes_cancel_across_a_reshape() -> None:
    """NCHW -> NHWC, H and W merged, back to N, C, HW: one Reshape."""
    net = Net()
    x = net.op(top.PermuteOp, "p1", (net.input("x", 2, 3, 4, 5),), order=[0, 2, 3, 1])
    x = net.op(top.ReshapeOp, "r", (x,), shape=[2, 20, 3])
    y = net.op(top.PermuteOp, "p2", (x,), order=[0, 2, 1])
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Reshape"]


def test_permutes_around_a_reshape_that_mixes_stay() -> None:
    net = Net()
    x = net.op(top.PermuteOp, "p1", (net.input("x", 2, 3, 4, 5),), order=[0, 2, 3, 1])
    x = net.op(top.ReshapeOp, "r", (x,), shape=[2, 15, 4])
    y = net.op(top.PermuteOp, "p2", (x,), order=[0, 2, 1])
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Permute", "Reshape", "Permute"]


def test_first_permute_stays_for_its_other_user() -> None:
    net = Net()
    x = net.op(top.PermuteOp, "p1", (net.input("x", 2, 3, 4, 5),), order=[0, 2, 3, 1])
    y = net.op(top.SinOp, "y", (net.op(top.PermuteOp, "p2", (x,), order=[0, 3, 1, 2]),))
    after = assert_same_numbers(net.module(x, y), CANONICALIZE)
    assert sorted(kinds(after)) == ["Permute", "Permute", "Sin"]


@pytest.mark.parametrize(
    ("shape", "order"),
    [((4, 5, 3, 2, 6), [2, 0, 3, 1, 4]), ((2, 3, 2, 4, 3, 4), [0, 2, 4, 1, 3, 5])],
)
def test_order_of_many_dimensions_is_done_in_two_steps(
    shape: tuple[int, ...], order: list[int]
) -> None:
    net = Net()
    y = net.op(top.PermuteOp, "y", (net.input("x", *shape),), order=order)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    orders = [
        Permutation(op.input.type.get_shape(), ints(op.order))
        for op in ops_of(after, top.PermuteOp)
    ]
    assert len(orders) == 2
    assert all(order.at_rank(4) is not None for order in orders)


@pytest.mark.parametrize(
    ("split", "order", "crd"),
    [
        ((1, 3, 2, 2, 4, 5), [0, 1, 4, 2, 5, 3], True),
        ((1, 2, 2, 3, 4, 5), [0, 3, 4, 1, 5, 2], False),
    ],
)
def test_pixel_shuffle(split: tuple[int, ...], order: list[int], crd: bool) -> None:
    net = Net()
    x = net.op(top.ReshapeOp, "r1", (net.input("x", 1, 12, 4, 5),), shape=list(split))
    x = net.op(top.PermuteOp, "p", (x,), order=order)
    y = net.op(top.ReshapeOp, "y", (x,), shape=[1, 3, 8, 10])
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Depth2Space"]
    assert bool(ops_of(after, top.Depth2SpaceOp)[0].is_CRD.value.data) is crd


@pytest.mark.parametrize(
    ("order", "crd"), [([0, 1, 3, 5, 2, 4], True), ([0, 3, 5, 1, 2, 4], False)]
)
def test_pixel_unshuffle(order: list[int], crd: bool) -> None:
    net = Net()
    x = net.op(top.ReshapeOp, "r1", (net.input("x", 2, 3, 8, 15),), shape=[2, 3, 4, 2, 5, 3])
    x = net.op(top.PermuteOp, "p", (x,), order=order)
    y = net.op(top.ReshapeOp, "y", (x,), shape=[2, 18, 4, 5])
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Depth2Space"]
    (found,) = ops_of(after, top.Depth2SpaceOp)
    assert (bool(found.is_CRD.value.data), bool(found.is_inversed.value.data)) == (crd, True)


def test_transpose_is_a_permute() -> None:
    net = Net()
    y = net.op(top.TransposeOp, "y", (net.input("x", 2, 3, 4),), dim0=-1, dim1=1)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Permute"]


@pytest.mark.parametrize("seed", range(20))
def test_reduced_permutations_move_data_alike(seed: int) -> None:
    """At whatever rank, the same elements end up at the same places."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.integers(1, 4, size=5))
    whole = Permutation(shape, tuple(int(axis) for axis in rng.permutation(5)))
    data = np.arange(np.prod(shape))
    expected = data.reshape(shape).transpose(whole.order).ravel()
    for rank in range(1, 8):
        if (reduced := whole.at_rank(rank)) is not None:
            moved = data.reshape(reduced.shape).transpose(reduced.order).ravel()
            np.testing.assert_array_equal(moved, expected)
    for first, second in two_steps(whole, 4):
        stepped = data.reshape(shape).transpose(first.order).transpose(second.order).ravel()
        np.testing.assert_array_equal(stepped, expected)


@pytest.mark.parametrize("seed", range(20))
def test_only_inverse_permutations_cancel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.integers(1, 4, size=4))
    first = Permutation(shape, tuple(int(axis) for axis in rng.permutation(4)))
    second = Permutation(first.result, tuple(int(axis) for axis in rng.permutation(4)))
    data = np.arange(np.prod(shape))
    moved = data.reshape(shape).transpose(first.order).transpose(second.order).ravel()
    if cancel(first, second):
        np.testing.assert_array_equal(moved, data)
    inverse = Permutation(first.result, tuple(int(axis) for axis in np.argsort(first.order)))
    assert cancel(first, inverse)
