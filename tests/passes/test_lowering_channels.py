"""Reductions over channels become convolutions or turned ones: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints

LOWER = "convert-top-to-tpu{mode=F32 chip=bm1684x}"


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(
    "mode", ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2"]
)
@pytest.mark.parametrize(
    ("shape", "axes", "is_image"),
    [
        ((2, 7, 4, 5), [1], True),
        ((1, 130, 3, 2), [-3], True),
        ((2, 7, 4, 5), [2], False),
        ((2, 7, 4, 5), [1, 2], False),
        ((2, 7, 4), [1], False),
    ],
)
def test_channels_are_added_by_a_convolution_and_turned_for_others(
    shape: tuple[int, ...], axes: list[int], is_image: bool, mode: str, keepdims: bool
) -> None:
    net = Net()
    y = net.op(
        top.ReduceOp, "y", (net.input("x", *shape),), axes=axes, mode=mode, keepdims=keepdims
    )
    after = assert_same_numbers(net.module(y), LOWER)
    is_sum = is_image and mode in ("ReduceSum", "ReduceMean")
    is_turned = is_image and not is_sum
    assert len(ops_of(after, tpu.Conv2DOp)) == is_sum
    assert bool(ops_of(after, tpu.ReduceOp)) == (not is_sum)
    assert len(ops_of(after, tpu.PermuteOp)) == 2 * is_turned


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis", "turned"),
    [
        ((2, 7, 4, 9), 1, True),
        ((1, 5, 70), 1, True),
        ((1, 66, 70), 1, True),
        ((1, 70, 3, 64), 1, True),
        ((2, 7, 4, 7), 1, False),
        ((1, 70, 3, 63), 1, False),
        ((1, 7, 4, 9), 2, False),
    ],
)
def test_a_softmax_over_channels_is_along_rows(
    shape: tuple[int, ...], axis: int, turned: bool, log: bool
) -> None:
    """Classes of pixels, as logarithms too; not where columns leave lanes idle."""
    net = Net()
    y = net.op(top.SoftmaxOp, "y", (net.input("x", *shape),), axis=axis, beta=0.5, log=log)
    after = assert_same_numbers(net.module(y), LOWER)
    last = len(shape) - 1 if turned else axis
    if log:
        assert {tuple(ints(op.axes)) for op in ops_of(after, tpu.ReduceOp)} == {(last,)}
    else:
        (rows,) = ops_of(after, tpu.SoftmaxOp)
        assert rows.axis.value.data == last
    assert len(ops_of(after, tpu.PermuteOp)) == 2 * turned
