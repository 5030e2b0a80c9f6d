"""Assignments to slices: Concats with the same numbers, whatever the slice."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds

from xdsl_tpu.dialects import top

SHAPE = 3, 8, 12
BOXES: dict[str, tuple[slice | int, ...]] = {
    "all": (slice(None),),
    "middle": (slice(1, 2), slice(2, 5), slice(4, 12)),
    "begin and end": (slice(None), slice(0, 3), slice(7, None)),
    "every third": (slice(None), slice(None), slice(2, None, 3)),
    "every second of some": (slice(1, None), slice(1, None, 2)),
    "a row": (2, 5),
}


def coordinates(box: tuple[slice | int, ...]) -> np.ndarray:
    """What an exporter writes for `x[box] = y`: (.., axes) numbers."""
    axes = [np.arange(size)[part] for size, part in zip(SHAPE, box, strict=False)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1)


def written(indices: np.ndarray, depth: int, reduction: int = 0) -> list[str]:
    """The ops that are left of a ScatterND, which computes what it did."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *SHAPE),))
    y = net.input("y", *indices.shape[:-1], *SHAPE[depth:])
    operands = (x, net.weight("where", values=indices), y)
    z = net.op(top.ScatterNDOp, "z", operands, reduction=reduction)
    return kinds(assert_same_numbers(net.module(net.op(top.SinOp, "s", (z,))), "canonicalize"))


@pytest.mark.parametrize("box", list(BOXES))
@pytest.mark.parametrize("negative", [False, True])
def test_boxes_are_concats(box: str, negative: bool) -> None:
    depth = len(BOXES[box])
    indices = coordinates(BOXES[box]).reshape(-1, depth)
    if negative:
        indices = indices - np.asarray(SHAPE[:depth])
    left = written(indices, depth)
    assert "ScatterND" not in left
    assert ("Concat" in left) == (box != "all")


@pytest.mark.parametrize(
    "order", [[0, 1, 1], [1, 0, 2], [0, 1, 0, 1]], ids=["twice", "out of order", "again"]
)
def test_what_is_no_box_stays(order: list[int]) -> None:
    assert "ScatterND" in written(np.asarray(order)[:, None], 1)


def test_corners_that_leave_some_out_are_no_box() -> None:
    assert "ScatterND" in written(np.asarray([[0, 0], [0, 1], [1, 0]]), 2)


def test_every_second_of_a_part_stays() -> None:
    assert "ScatterND" in written(np.asarray([[0, 1], [0, 3]]), 2)


def test_sums_stay() -> None:
    assert "ScatterND" in written(coordinates(BOXES["middle"]).reshape(-1, 3), 3, reduction=1)
