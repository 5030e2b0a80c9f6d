"""Elements that are chosen when the network runs: what makes them is done of the chosen alone."""

from collections.abc import Sequence

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.tensors import shape_of

PASS = "cut-early"


def chosen(net: Net, name: str, value: SSAValue, indices: SSAValue, axis: int = 1) -> SSAValue:
    return net.op(top.GatherOp, name, (value, indices), axis=axis)


def best(net: Net, value: SSAValue, count: int) -> SSAValue:
    """The places of the largest of the first numbers of 18 rows."""
    size, ends = 18, [1, 18, 1]
    given = (value, net.none, net.none, net.none)
    first = net.op(top.SliceOp, "f", given, offset=[0, 0, 0], steps=[1, 1, 1], ends=ends, axes=[])
    line = net.op(top.ReshapeOp, "line", (first,), shape=[size])
    turned = net.op(top.SoftmaxOp, "scores", (line,), axis=0)
    options = {"K": count, "axis": 0, "largest": True, "sorted": True}
    return net.ops(top.TopKOp, ("best", "places"), (turned,), **options)[1]


def boxes(net: Net, raw: SSAValue, indices: SSAValue, axis: int = 1) -> SSAValue:
    """Corners of boxes around places, as detectors make them."""
    shape = (1, 18, 2)
    width = net.op(top.ExpOp, "exp", (raw,))
    size = net.op(top.MulOp, "size", (width, net.weight("sizes", *shape)))
    low = net.op(top.SubOp, "low", (net.weight("places", *shape), size))
    both = net.op(top.ConcatOp, "both", (low, size), axis=2)
    return chosen(net, "y", both, indices, axis)


@pytest.mark.parametrize("count", [1, 3])
def test_boxes_of_the_best(count: int) -> None:
    net = Net()
    raw = net.input("raw", 1, 18, 2)
    after = assert_same_numbers(net.module(boxes(net, raw, best(net, raw, count))), PASS)
    gathers = ops_of(after, top.GatherOp)
    assert [shape_of(op.input) for op in gathers] == [(1, 18, 2)] * 3
    assert {shape_of(op.output) for op in ops_of(after, top.ConcatOp)} == {(1, count, 4)}
    assert name_of(ops_of(after, top.ConcatOp)[0]) == "y"


def test_products_of_the_best() -> None:
    """A head of several layers on the best of all places; the rows themselves are read, too."""
    net = Net()
    raw = net.op(top.AbsOp, "abs", (net.input("raw", 1, 18, 8),))
    indices = best(net, raw, 4)
    value = raw
    for index in range(2):
        given = (value, net.weight(f"w{index}", 8, 8), net.weight(f"b{index}", 8))
        value = net.op(top.MatMulOp, f"m{index}", given, do_relu=True)
    after = assert_same_numbers(net.module(chosen(net, "y", value, indices), raw), PASS)
    assert {shape_of(op.output) for op in ops_of(after, top.MatMulOp)} == {(1, 4, 8)}


def unchanged(net: Net, results: Sequence[SSAValue]) -> None:
    module = net.module(*results)
    before = kinds(module)
    assert kinds(assert_same_numbers(module, PASS)) == before


def test_what_is_read_otherwise_stays() -> None:
    net = Net()
    raw = net.input("raw", 1, 18, 2)
    made = net.op(top.ExpOp, "exp", (raw,))
    unchanged(net, [chosen(net, "y", made, best(net, raw, 2)), made])


@pytest.mark.parametrize(("count", "is_early"), [(3, True), (4, False)])
def test_at_most_half_is_gathered(count: int, is_early: bool) -> None:
    """Of three values, 3 of 18 elements each are half as many."""
    net = Net()
    raw = net.input("raw", 1, 18, 2)
    after = assert_same_numbers(net.module(boxes(net, raw, best(net, raw, count))), PASS)
    assert len(ops_of(after, top.GatherOp)) == (3 if is_early else 1)


def test_moves_alone_stay() -> None:
    net = Net()
    raw = net.input("raw", 1, 18, 4)
    indices = best(net, raw, 2)
    unchanged(
        net, [chosen(net, "y", net.op(top.ReshapeOp, "r", (raw,), shape=[1, 18, 2, 2]), indices)]
    )


def test_elements_that_lie_apart_are_not_gathered() -> None:
    net = Net()
    raw = net.input("raw", 1, 4, 18)
    made = net.op(top.ExpOp, "exp", (raw,))
    rows = net.op(top.PermuteOp, "rows", (made,), order=[0, 2, 1])
    unchanged(net, [chosen(net, "y", rows, best(net, rows, 2))])


def test_rows_are_gathered_behind_what_brings_them_together() -> None:
    net = Net()
    raw = net.input("raw", 1, 4, 18)
    rows = net.op(top.PermuteOp, "rows", (raw,), order=[0, 2, 1])
    made = net.op(top.ExpOp, "exp", (rows,))
    indices = best(net, net.input("given", 1, 18, 1), 2)
    after = assert_same_numbers(net.module(chosen(net, "y", made, indices)), PASS)
    assert kinds(after)[-2:] == ["Gather", "Exp"]
    assert isinstance(ops_of(after, top.GatherOp)[0].input.owner, top.PermuteOp)
