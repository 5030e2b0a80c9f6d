"""Sums over the parts of an image's channels: slices that are added, with the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of

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
