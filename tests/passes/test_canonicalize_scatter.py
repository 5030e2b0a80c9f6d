"""Assignments to slices: Concats with the same numbers, whatever the slice."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

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


def scattered(indices: np.ndarray, axis: int, reduction: int = 0) -> list[str]:
    """The ops that are left of a ScatterElements, which computes what it did."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *SHAPE),))
    operands = (x, net.weight("where", values=indices), net.input("y", *indices.shape))
    z = net.op(top.ScatterElementsOp, "z", operands, axis=axis, reduction=reduction)
    return kinds(assert_same_numbers(net.module(net.op(top.SinOp, "s", (z,))), "canonicalize"))


def along(numbers: list[int], axis: int, size: tuple[int, ...] = SHAPE) -> np.ndarray:
    """Indices of a ScatterElements that are the same all along every other axis."""
    shape = [len(numbers) if place == axis else n for place, n in enumerate(size)]
    line = np.reshape(numbers, [-1 if place == axis else 1 for place in range(len(size))])
    return np.broadcast_to(line, shape)


@pytest.mark.parametrize(
    ("numbers", "axis", "size", "ops"),
    [
        ([3], 1, SHAPE, 1),
        ([-2, -1], 1, SHAPE, 1),
        ([4, 5, 6], 2, SHAPE, 1),
        ([1, 3, 5, 7, 9, 11], 2, SHAPE, 1),
        ([0, 1, 2], 0, SHAPE, 0),
        ([1], 0, (3, 5, 12), 2),
    ],
    ids=["a row", "from the end", "columns", "every second", "all", "some of another axis"],
)
def test_elements_of_boxes_are_concats(
    numbers: list[int], axis: int, size: tuple[int, ...], ops: int
) -> None:
    left = scattered(along(numbers, axis, size), axis)
    assert not {"ScatterElements", "ScatterND"} & set(left)
    assert left.count("Concat") == ops


@pytest.mark.parametrize(
    ("numbers", "reduction"), [([1, 0], 0), ([2, 2], 0), ([1, 3], 0), ([3], 1)]
)
def test_elements_that_are_no_box_or_are_added_stay(numbers: list[int], reduction: int) -> None:
    left = scattered(along(numbers, 1), 1, reduction)
    assert {"ScatterElements", "ScatterND"} & set(left)


def test_elements_of_rows_of_their_own_stay() -> None:
    indices = np.broadcast_to(np.arange(3).reshape(3, 1, 1), (3, 1, 12))
    assert {"ScatterElements", "ScatterND"} & set(scattered(indices, 1))


def test_rows_that_a_loop_writes_are_one_concat() -> None:
    """Each next one into what the last has left, and read before it is written."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 5, 8),))
    options = {"ends": [2, 0, 8], "steps": [1, 1, 1]}
    for row in range(4):
        cut = {**options, "offset": [0, row, 0], "ends": [2, row + 1, 8]}
        y = net.op(top.SliceOp, f"r{row}", (x, net.none, net.none, net.none), **cut)
        y = net.op(top.SinOp, f"y{row}", (y,))
        where = net.weight(f"w{row}", values=along([row], 1, (2, 1, 8)))
        x = net.op(top.ScatterElementsOp, f"z{row}", (x, where, y), axis=1, reduction=0)
    after = assert_same_numbers(net.module(net.op(top.CosOp, "c", (x,))), "canonicalize")
    assert kinds(after).count("Concat") == 1
    assert all(isinstance(op.input.owner, top.AbsOp) for op in ops_of(after, top.SliceOp))


@pytest.mark.parametrize(
    ("first", "count", "step", "readers", "left"),
    [
        (2, 1, 1, 1, []),
        (3, 4, 1, 1, []),
        (3, 2, 3, 2, []),
        (1, 2, 1, 1, [3]),
        (1, 2, 1, 2, [8]),
        (1, 7, 1, 1, [8]),
        (0, 3, 2, 1, [8]),
    ],
)
def test_a_slice_has_what_it_reads_of_a_concat(
    first: int, count: int, step: int, readers: int, left: list[int]
) -> None:
    """Of parts of 2, 1 and 5 rows: `left` are the rows of the Concat that is left for it."""
    net = Net()
    parts = [net.op(top.AbsOp, f"p{n}", (net.input(f"x{n}", n, 4),)) for n in (2, 1, 5)]
    joined = net.op(top.ConcatOp, "j", parts, axis=0)
    last = first + (count - 1) * step + 1
    options = {"offset": [first, 0], "ends": [last, 4], "steps": [step, 1]}
    cut = net.op(top.SliceOp, "s", (joined, net.none, net.none, net.none), **options)
    results = [net.op(top.SinOp, "y", (cut,))]
    results += [net.op(top.CosOp, "z", (joined,))] * (readers - 1)
    after = assert_same_numbers(net.module(*results), "canonicalize")
    sizes = [shape_of(op.output)[0] for op in ops_of(after, top.ConcatOp)]
    assert sizes == (left if readers == 1 else [8])


def test_concats_are_joined_where_they_lie_along_one_axis() -> None:
    net = Net()
    x, y, z = (net.op(top.AbsOp, f"a{n}", (net.input(f"x{n}", 2, n),)) for n in (2, 3, 4))
    inner = net.op(top.ConcatOp, "i", (x, y), axis=1)
    outer = net.op(top.ConcatOp, "o", (inner, z), axis=-1)
    across = net.op(top.ConcatOp, "r", (outer, net.op(top.SinOp, "s", (outer,))), axis=0)
    after = assert_same_numbers(net.module(across), "canonicalize")
    assert [len(op.inputs) for op in ops_of(after, top.ConcatOp)] == [3, 2]


def test_a_concat_that_another_reads_stays() -> None:
    net = Net()
    x, y, z = (net.op(top.AbsOp, f"a{n}", (net.input(f"x{n}", 2, n),)) for n in (2, 3, 4))
    inner = net.op(top.ConcatOp, "i", (x, y), axis=1)
    outer = net.op(top.ConcatOp, "o", (inner, z), axis=1)
    module = net.module(net.op(top.SinOp, "s", (inner,)), outer)
    after = assert_same_numbers(module, "canonicalize")
    assert [len(op.inputs) for op in ops_of(after, top.ConcatOp)] == [2, 2]
