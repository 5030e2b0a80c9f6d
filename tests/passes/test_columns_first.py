"""Columns of many short rows are computed one by one, with the same numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

PASSES = "processor-top-optimize"
SETS, ROWS = 128, 5


def cut(net: Net, name: str, x: SSAValue, first: int, last: int, sets: int = SETS) -> SSAValue:
    """Columns of sets of rows."""
    options = {"offset": [0, 0, first], "ends": [sets, ROWS, last], "steps": [1, 1, 1]}
    return net.op(top.SliceOp, name, (x, net.none, net.none, net.none), **options)


def turned(net: Net, value: SSAValue, columns: int, sets: int = SETS) -> SSAValue:
    """Columns first, as `PooledRows` asks for them."""
    line = net.op(top.ReshapeOp, "line", (value,), shape=[1, sets * ROWS, columns])
    back = net.op(top.PermuteOp, "turned", (line,), order=[0, 2, 1])
    image = net.op(top.ReshapeOp, "image", (back,), shape=[1, columns, sets, ROWS])
    return net.op(top.SinOp, "s", (image,))


def points(net: Net, sets: int) -> SSAValue:
    """Points of pillars: themselves, less their mean, one coordinate less a centre; with a mask."""
    x = net.input("x", sets, ROWS, 4)
    xyz = cut(net, "xyz", x, 0, 3, sets)
    mean = net.op(top.ReduceOp, "mean", (xyz,), axes=[1], keepdims=True, mode="ReduceMean")
    near = net.op(top.SubOp, "near", (xyz, mean))
    one = net.op(top.SqueezeOp, "one", (cut(net, "first", x, 0, 1, sets),), axes=[2])
    off = net.op(top.SubOp, "off", (one, net.input("centre", sets, 1)))
    column = net.op(top.UnsqueezeOp, "column", (off,), axes=[2])
    all_ = net.op(top.ConcatOp, "all", (x, near, column), axis=2)
    numbers = net.weight("numbers", 1, ROWS)
    mask = net.op(top.CompareOp, "mask", (numbers, net.input("count", sets, 1)), mode="Less")
    wide = net.op(top.UnsqueezeOp, "wide", (mask,), axes=[2])
    return net.op(top.MulOp, "masked", (all_, wide))


@pytest.mark.parametrize(("sets", "lanes"), [(128, 64), (120, 60), (192, 64)])
def test_points(sets: int, lanes: int) -> None:
    net = Net()
    after = assert_same_numbers(net.module(turned(net, points(net, sets), 8, sets)), PASSES)
    (permute,) = ops_of(after, top.PermuteOp)
    assert shape_of(permute.output) == (4, lanes, sets // lanes, ROWS)
    (product,) = ops_of(after, top.MulOp)
    assert shape_of(product.output) == (8, lanes, sets // lanes, ROWS)
    assert not {"Squeeze", "Unsqueeze"} & set(kinds(after))


@pytest.mark.parametrize("sets", [64, 127, 134])  # one for each lane, or no number of lanes
def test_sets_that_stay(sets: int) -> None:
    net = Net()
    after = assert_same_numbers(net.module(turned(net, points(net, sets), 8, sets)), PASSES)
    assert [shape_of(op.output) for op in ops_of(after, top.ConcatOp)] == [(sets, ROWS, 8)]


def test_weights_and_constants() -> None:
    """A factor for each column and one for each row of a set, of lower rank."""
    net = Net()
    x = net.input("x", SETS, ROWS, 3)
    y = net.op(top.MulOp, "y", (x, net.weight("columns", 3)))
    y = net.op(top.AddOp, "z", (y, net.weight("rows", ROWS, 1)))
    y = net.op(top.AddConstOp, "c", (y,), const_val=0.5)
    after = assert_same_numbers(
        net.module(turned(net, net.op(top.ConcatOp, "all", (x, y), axis=2), 6)), PASSES
    )
    assert [shape_of(op.output) for op in ops_of(after, top.ConcatOp)] == [(6, 64, 2, ROWS)]


def test_one_permute_is_enough() -> None:
    """Of sets, rows and columns themselves; a value that is read twice is permuted once."""
    net = Net()
    x = net.input("x", SETS, ROWS, 2)
    y = net.op(top.ConcatOp, "all", (x, net.op(top.AbsOp, "a", (x,))), axis=2)
    back = net.op(top.PermuteOp, "turned", (y,), order=[2, 0, 1])
    after = assert_same_numbers(net.module(net.op(top.SinOp, "s", (back,))), PASSES)
    assert [shape_of(op.output) for op in ops_of(after, top.PermuteOp)] == [(2, 64, 2, ROWS)]


@pytest.mark.parametrize(("columns", "changed"), [(8, True), (9, False)])
def test_as_many_columns_as_are_worth_it(columns: int, changed: bool) -> None:
    net = Net()
    x = net.input("x", SETS, ROWS, columns)
    y = net.op(top.ConcatOp, "all", (x, net.op(top.AbsOp, "a", (x,))), axis=2)
    after = assert_same_numbers(net.module(turned(net, y, 2 * columns)), PASSES)
    expected = (2 * columns, 64, 2, ROWS) if changed else (SETS, ROWS, 2 * columns)
    assert [shape_of(op.output) for op in ops_of(after, top.ConcatOp)] == [expected]


def test_values_that_others_read_are_not_computed_again() -> None:
    net = Net()
    x = net.input("x", SETS, ROWS, 2)
    a = net.op(top.AbsOp, "a", (x,))
    y = net.op(top.ConcatOp, "all", (a, cut(net, "one", a, 0, 1)), axis=2)
    other = net.op(top.CosOp, "other", (a,))
    after = assert_same_numbers(net.module(turned(net, y, 3), other), PASSES)
    (op,) = ops_of(after, top.AbsOp)
    assert shape_of(op.output) == (SETS, ROWS, 2)
    assert [shape_of(op.output) for op in ops_of(after, top.PermuteOp)] == [(2, 64, 2, ROWS)]


def kept(net: Net, value: SSAValue, columns: int) -> None:
    """The Permute stays where it is."""
    after = assert_same_numbers(net.module(turned(net, value, columns)), PASSES)
    assert not [op for op in ops_of(after, top.PermuteOp) if len(shape_of(op.output)) > 3]


def test_as_much_would_be_permuted() -> None:
    net = Net()
    x = net.input("x", SETS, ROWS, 4)
    kept(net, net.op(top.AbsOp, "a", (x,)), 4)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (top.ReduceOp, {"axes": [2], "keepdims": True, "mode": "ReduceSum"}),
        (top.SoftmaxOp, {"axis": 2}),
    ],
)
def test_ops_across_columns_are_not_taken_apart(kind: Any, options: dict[str, Any]) -> None:
    net = Net()
    x = net.input("x", SETS, ROWS, 4)
    y = net.op(kind, "across", (x,), **options)
    y = net.op(top.MulOp, "m", (x, y))
    y = net.op(top.ConcatOp, "all", (y, x), axis=2)
    after = assert_same_numbers(net.module(turned(net, y, 8)), PASSES)
    (op,) = ops_of(after, kind)
    assert shape_of(op.operands[0]) == (SETS, ROWS, 4)


def test_a_slice_of_rows_is_not_taken_apart() -> None:
    net = Net()
    x = net.input("x", SETS, ROWS + 1, 2)
    y = cut(net, "rows", x, 0, 2)
    y = net.op(top.ConcatOp, "all", (y, y), axis=2)
    after = assert_same_numbers(net.module(turned(net, y, 4)), PASSES)
    (op,) = ops_of(after, top.SliceOp)
    assert shape_of(op.output) == (SETS, ROWS, 2)
