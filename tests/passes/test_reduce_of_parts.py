"""Sums over the parts of an image's channels: slices that are added, with the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import StringAttr

from xdsl_tpu.dialects import top

OPTIMIZE = "processor-top-optimize"


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("mode", ["ReduceSum", "ReduceMean"])
@pytest.mark.parametrize(
    ("shape", "axis", "moves"),
    [
        ((3, 2, 5, 4, 6), 1, True),
        ((3, 2, 5, 4, 6), -4, True),
        ((2, 3, 4, 5, 2, 3), 2, True),
        ((4, 5, 2, 3), 0, True),
        ((5, 5, 2, 3), 0, False),
        ((2, 3, 4, 5), 2, False),
    ],
)
def test_parts_are_added(
    shape: tuple[int, ...], axis: int, moves: bool, mode: str, keepdims: bool
) -> None:
    net = Net()
    y = net.op(
        top.ReduceOp, "y", (net.input("x", *shape),), axes=[axis], mode=mode, keepdims=keepdims
    )
    after = assert_same_numbers(net.module(y), OPTIMIZE)
    assert bool(ops_of(after, top.ReduceOp)) is not moves
    assert len(ops_of(after, top.AddOp)) == (shape[axis] - 1 if moves else 0)


@pytest.mark.parametrize("mode", ["F16", "INT8"])
@pytest.mark.parametrize("reduce", ["ReduceSum", "ReduceMean"])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize(("outer", "count"), [(3, 2), (1, 2), (2, 3)])
def test_branches_are_weighted_and_added_where_they_are(
    mode: str, reduce: str, joined: bool, outer: int, count: int
) -> None:
    net = Net()
    branches = [net.input(f"b{i}", outer, 5, 4, 6) for i in range(count)]
    whole = net.input("u", outer, count, 5, 4, 6)
    if joined:
        apart = [net.op(top.UnsqueezeOp, f"{i}", (x,), axes=[1]) for i, x in enumerate(branches)]
        whole = net.op(top.ConcatOp, "whole", apart, axis=1)
    product = net.op(top.MulOp, "p", (net.input("w", outer, count, 5, 1, 1), whole))
    total = net.op(top.ReduceOp, "y", (product,), axes=[1], mode=reduce, keepdims=False)
    module = net.module(total)
    module.attributes["module.mode"] = StringAttr(mode)
    after = assert_same_numbers(module, OPTIMIZE)
    moves = mode == "F16" or count == 2
    assert len(ops_of(after, top.MulOp)) == (count if moves else 1)
    assert bool(ops_of(after, top.ReduceOp)) is not moves
    assert bool(ops_of(after, top.ConcatOp)) is (joined and not moves)


def test_products_that_others_want_and_rectified_ones_stay_whole() -> None:
    for relu, also in ((True, False), (False, True)):
        net = Net()
        x = net.input("x", 2, 2, 5, 4, 6)
        product = net.op(top.MulOp, "p", (x, net.input("w", 2, 2, 5, 1, 1)), do_relu=relu)
        total = net.op(top.ReduceOp, "y", (product,), axes=[1], mode="ReduceSum", keepdims=False)
        after = assert_same_numbers(net.module(total, *[product] * also), OPTIMIZE)
        assert len(ops_of(after, top.MulOp)) == 1
        assert len(ops_of(after, top.AddOp)) == 1
