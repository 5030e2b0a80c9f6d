"""Pools at strides beyond what a command can say: the same numbers, with strides that it can."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints

PASS = "processor-top-optimize{disable=PoolByLines}"
FAR = LIMITS.window_stride + 1
POOLS = [top.AvgPoolOp, top.MaxPoolOp]


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize(
    ("sizes", "kernel", "strides", "pads", "expected"),
    [
        ((64, 40), (FAR, FAR), (FAR, FAR), (0,) * 4, ["Pool", "Pool"]),
        ((130, 9), (4 * FAR, 3), (4 * FAR, 3), (0,) * 4, ["Pool", "Pool"]),
        ((90,), (30,), (30,), (0, 0), ["Pool", "Pool"]),
        ((70,), (17,), (17,), (0, 0), ["Pool", "Slice"]),
        ((40, 40), (3, 3), (17, 2), (1, 1, 1, 1), ["Pool", "Slice"]),
        ((60,), (20,), (20,), (10, 10), ["Pool", "Pool"]),
        ((64, 40), (5, 5), (18, FAR), (0,) * 4, ["Pool", "Slice"]),
        ((150,), (100,), (100,), (0, 50), ["Pool", "Pool"]),
        ((151,), (100,), (100,), (0, 49), ["Pool", "Slice"]),
        ((48, 9), (32, 3), (32, 3), (16, 0, 0, 0), ["Pool", "Pool"]),
        ((40, 40), (20, 20), (20, 20), (0, 10, 0, 10), ["Pool", "Pool"]),
        ((45, 45), (15, 15), (FAR - 1, FAR - 1), (0,) * 4, ["Pool"]),
    ],
)
def test_strides_become_near(
    pool: type[top.AvgPoolOp] | type[top.MaxPoolOp],
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    expected: list[str],
) -> None:
    net = Net()
    options = {"kernel_shape": [*kernel], "strides": [*strides], "pads": [*pads], "do_relu": True}
    y = net.op(pool, "y", (net.input("x", 2, 3, *sizes),), **options)
    after = assert_same_numbers(net.module(y), PASS)
    assert [kind.removeprefix("Avg").removeprefix("Max") for kind in kinds(after)] == expected
    for op in ops_of(after, pool):
        assert max(ints(op.strides)) <= LIMITS.window_stride


@pytest.mark.parametrize("pool", POOLS)
def test_very_far_windows_are_pooled_in_three_steps(
    pool: type[top.AvgPoolOp] | type[top.MaxPoolOp],
) -> None:
    net = Net()
    options = {"kernel_shape": [1024], "strides": [1024], "pads": [0, 0]}
    y = net.op(pool, "y", (net.input("x", 1, 2, 2048),), **options)
    after = assert_same_numbers(net.module(y), PASS)
    assert [ints(op.strides) for op in ops_of(after, pool)] == [(8,), (8,), (8,), (2,)]
