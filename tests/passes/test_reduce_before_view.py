"""`ReduceBeforeView`: what is reduced in five dimensions is reduced in the fewer ones before."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds

from xdsl_tpu.dialects import top

MODES = ["ReduceMax", "ReduceMean", "ReduceL2"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    ("source", "seen", "axes"),
    [
        ((4, 12, 5), (1, 4, 3, 4, 5), [4]),
        ((6, 7, 8), (2, 3, 7, 2, 4), [2]),
        ((5, 6, 7, 8), (5, 6, 7, 2, 4), [0, -3]),
    ],
)
def test_the_numbers_are_the_same(
    source: tuple[int, ...], seen: tuple[int, ...], axes: list[int], keepdims: bool, mode: str
) -> None:
    net = Net()
    view = net.op(top.ReshapeOp, "v", (net.input("x", *source),), shape=list(seen))
    y = net.op(top.ReduceOp, "y", (view,), axes=axes, keepdims=keepdims, mode=mode)
    assert kinds(assert_same_numbers(net.module(y), "canonicalize")) == ["Reduce", "Reshape"]


def test_what_takes_a_dimension_apart_stays() -> None:
    net = Net()
    view = net.op(top.ReshapeOp, "v", (net.input("x", 4, 12, 10),), shape=[1, 4, 12, 2, 5])
    y = net.op(top.ReduceOp, "y", (view,), axes=[4], keepdims=False, mode="ReduceMax")
    after = assert_same_numbers(net.module(y), "canonicalize")
    assert kinds(after)[0] == "Reshape"
