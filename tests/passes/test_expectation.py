"""The mean of a distribution over bins along rows: what it becomes, and its numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top

CANONICALIZE = "canonicalize"
POINTWISE: dict[str, Any] = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0] * 4}
ROWS = ["Permute", "Reshape", "Softmax", "Mul", "Reduce", "Permute", "Reshape"]
CHANNELS = ["Reshape", "Permute", "Softmax", "Conv"]


def head(
    net: Net,
    shape: tuple[int, ...] = (1, 12, 5),
    parts: tuple[int, ...] = (1, 3, 4, 5),
    order: tuple[int, ...] = (0, 2, 1, 3),
    softmax_first: bool = False,
    bias: bool = False,
    sums: int = 1,
    **attributes: Any,
) -> SSAValue:
    """Bins in channels, their softmax, and its product with a constant for each bin."""
    y = net.op(top.ReshapeOp, "r", (net.input("x", *shape),), shape=list(parts))
    if softmax_first:
        y = net.op(top.SoftmaxOp, "s", (y,), axis=2, beta=0.5)
        y = net.op(top.PermuteOp, "p", (y,), order=list(order))
    else:
        y = net.op(top.PermuteOp, "p", (y,), order=list(order))
        y = net.op(top.SoftmaxOp, "s", (y,), axis=1, beta=0.5)
    operands = (
        y,
        net.weight("w", sums, parts[2], 1, 1),
        net.weight("b", sums) if bias else net.none,
    )
    return net.op(top.ConvOp, "c", operands, **POINTWISE | attributes)


@pytest.mark.parametrize("softmax_first", [False, True])
@pytest.mark.parametrize(
    ("shape", "order", "expected"),
    [
        ((1, 12, 5), (0, 2, 1, 3), ROWS),
        ((1, 12, 1, 5), (0, 2, 1, 3), ["Reshape", *ROWS]),
        ((1, 12, 5), (0, 2, 3, 1), [*ROWS[:5], "Reshape"]),  # places before sides
        ((2, 12, 5), (0, 2, 1, 3), ROWS),  # two images
    ],
)
def test_bins_go_into_rows(
    shape: tuple[int, ...], order: tuple[int, ...], expected: list[str], softmax_first: bool
) -> None:
    net = Net()
    parts = (shape[0], 3, 4, 5)
    y = head(net, shape, parts, order=order, softmax_first=softmax_first)
    after = assert_same_numbers(net.module(net.op(top.SinOp, "y", (y,))), CANONICALIZE)
    assert kinds(after) == [*expected, "Sin"]


@pytest.mark.parametrize(
    "changes",
    [
        {"bias": True},
        {"sums": 2},
        {"do_relu": True},
        {"strides": [1, 2]},
        {"shape": (1, 3, 20), "parts": (1, 3, 4, 5)},  # bins that were no channels
    ],
)
def test_other_sums_stay(changes: dict[str, Any]) -> None:
    net = Net()
    y = head(net, **changes)
    assert "Mul" not in kinds(assert_same_numbers(net.module(y), CANONICALIZE))


def test_a_softmax_over_places_stays() -> None:
    net = Net()
    y = net.op(top.ReshapeOp, "r", (net.input("x", 1, 15, 4),), shape=[1, 3, 5, 4])
    y = net.op(top.PermuteOp, "p", (y,), order=[0, 3, 1, 2])
    y = net.op(top.SoftmaxOp, "s", (y,), axis=1)
    y = net.op(top.ConvOp, "c", (y, net.weight("w", 1, 4, 1, 1), net.none), **POINTWISE)
    assert "Mul" not in kinds(assert_same_numbers(net.module(y), CANONICALIZE))


@pytest.mark.parametrize(("bins", "expected"), [(64, "Reduce"), (65, "Conv")])
def test_long_sums_are_products(bins: int, expected: str) -> None:
    net = Net()
    y = head(net, (1, 2 * bins, 5), (1, 2, bins, 5))
    assert expected in kinds(assert_same_numbers(net.module(y), CANONICALIZE))


@pytest.mark.parametrize(
    ("shape", "columns", "is_sum"),
    [((1, 5, 4, 16), 1, True), ((1, 5, 4, 65), 1, False), ((1, 5, 4, 16), 2, False)],
)
def test_one_column_behind_a_softmax(shape: tuple[int, ...], columns: int, is_sum: bool) -> None:
    net = Net()
    y = net.op(top.SoftmaxOp, "s", (net.input("x", *shape),), axis=3)
    y = net.op(top.MatMulOp, "y", (y, net.weight("w", shape[-1], columns), net.none))
    after = kinds(assert_same_numbers(net.module(y), CANONICALIZE))
    assert ("Reduce" in after) == is_sum
    assert ("MatMul" in after) != is_sum
