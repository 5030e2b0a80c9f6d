"""Reading by a matrix of constant indices: a movement where windows slide, else by index."""

from collections.abc import Sequence

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds

from xdsl_tpu.dialects import top

LOWER = "convert-top-to-tpu{mode=F32 chip=bm1684x}"


def found(indices: Sequence[Sequence[int]], axis: int) -> list[str]:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 9, 3, 9),))
    table = net.weight("i", len(indices), len(indices[0]), values=np.array(indices))
    y = net.op(top.GatherOp, "g", (x, table), axis=axis)
    return kinds(assert_same_numbers(net.module(net.op(top.ReluOp, "y", (y,))), LOWER))


@pytest.mark.parametrize("axis", [1, 3])
@pytest.mark.parametrize(
    "indices",
    [
        [[0, 1, 2], [1, 2, 3]],
        [[1, 3, 5], [4, 6, 8]],
        [[0, 2], [1, 3], [2, 4]],
        [[-5, -4], [-4, -3]],
    ],
)
def test_windows_that_slide_are_moved(indices: Sequence[Sequence[int]], axis: int) -> None:
    names = found(indices, axis)
    assert "Rearrange" in names
    assert "Gather" not in names


@pytest.mark.parametrize(
    "indices",
    [[[0, 1, 2], [1, 2, 4]], [[0, 1], [0, 1]], [[2, 1], [3, 2]], [[0, 1], [1, 2], [3, 4]]],
)
def test_other_indices_are_read(indices: Sequence[Sequence[int]]) -> None:
    assert "Gather" in found(indices, 1)
