"""Rows times the matrices that they chose are one product; the numbers stay."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import Value

CANONICALIZE = "canonicalize"


def _chosen(net: Net, *shape: int) -> SSAValue:
    """Which of the last dimension's elements are the largest two."""
    scores = net.input("scores", *shape)
    return net.ops(top.TopKOp, ("most", "chosen"), (scores,), axis=len(shape) - 1, K=2)[1]


def _seen(net: Net, value: SSAValue, *shape: int) -> SSAValue:
    return net.op(top.ReshapeOp, "seen", (value,), shape=list(shape))


def _after(net: Net, result: SSAValue) -> list[str]:
    after = assert_same_numbers(net.module(result), CANONICALIZE)
    return [kind for kind in kinds(after) if kind != "TopK"]


@pytest.mark.parametrize("rows", [(8,), (4, 2)])
@pytest.mark.parametrize("on_left", [False, True])
def test_rows_of_choices(rows: tuple[int, ...], on_left: bool) -> None:
    net = Net()
    chosen = _seen(net, _chosen(net, 4, 3), *rows)
    matrices = net.op(top.GatherOp, "m", (net.weight("w", 3, 5, 6), chosen), axis=0)
    x = net.input("x", *rows, *((6, 1) if on_left else (1, 5)))
    operands = (matrices, x) if on_left else (x, matrices)
    y = net.op(top.MatMulOp, "y", (*operands, net.none))
    found = _after(net, y)
    assert "Gather" not in found
    assert found.count("MatMul") == 1


def test_rows_that_all_choices_share() -> None:
    """A row of each token, of which all its choices are multiplied."""
    net = Net()
    matrices = net.op(top.GatherOp, "m", (net.weight("w", 3, 5, 6), _chosen(net, 4, 3)), axis=0)
    y = net.op(top.MatMulOp, "y", (net.input("x", 4, 1, 1, 5), matrices, net.none))
    assert "Gather" not in _after(net, y)


def test_gather_nd() -> None:
    net = Net()
    chosen = _seen(net, _chosen(net, 4, 3), 8, 1)
    matrices = net.op(top.GatherNDOp, "m", (net.weight("w", 3, 5, 6), chosen))
    y = net.op(top.MatMulOp, "y", (net.input("x", 8, 1, 5), matrices, net.none))
    assert "GatherND" not in _after(net, y)


@pytest.mark.parametrize(
    ("count", "rows", "columns", "flags"),
    [
        (9, 1, 6, {}),  # fewer rows than there are matrices
        (7, 1, 6, {}),  # rows that are spread are more than the matrices
        (3, 2, 6, {}),  # several rows for one choice
        (3, 1, 6, {"right_transpose": True}),
    ],
)
def test_stays(count: int, rows: int, columns: int, flags: dict[str, Value]) -> None:
    net = Net()
    chosen = _seen(net, _chosen(net, 4, count), 8)
    inner = (columns, 5) if flags else (5, columns)
    weight = net.weight("w", count, *inner)
    matrices = net.op(top.GatherOp, "m", (weight, chosen), axis=0)
    y = net.op(top.MatMulOp, "y", (net.input("x", 8, rows, 5), matrices, net.none), **flags)
    assert "Gather" in _after(net, y)


def test_indices_from_elsewhere_stay() -> None:
    """They may count from the end."""
    net = Net()
    matrices = net.op(top.GatherOp, "m", (net.weight("w", 3, 5, 6), net.input("i", 8)), axis=0)
    y = net.op(top.MatMulOp, "y", (net.input("x", 8, 1, 5), matrices, net.none))
    assert "Gather" in _after(net, y)
