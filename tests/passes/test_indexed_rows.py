"""Elements by indices that are the same for all columns are whole rows; the numbers stay."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds

from xdsl_tpu.dialects import top

CANONICALIZE = "canonicalize"


@pytest.mark.parametrize(
    ("indices", "counts", "axis", "expected"),
    [
        ((4, 1), (1, 6), 0, ["Reshape", "Gather"]),
        ((1, 4, 1), (1, 1, 6), 1, ["Reshape", "Gather"]),
        ((1, 4, 1), (3, 1, 6), 1, ["Reshape", "Gather"]),
        ((3, 4, 1), (1, 1, 6), 1, ["GatherND"]),
        ((4, 2), (1, 3), 0, ["Tile", "GatherElements"]),  # columns have indices of their own
        ((4, 1), (1, 5), 0, ["Tile", "GatherElements"]),  # not all columns of the table
    ],
)
def test_gather_elements(
    indices: tuple[int, ...], counts: tuple[int, ...], axis: int, expected: list[str]
) -> None:
    net = Net()
    tables = tuple(a * b for a, b in zip(indices, counts, strict=True))[:axis]
    x = net.input("x", *tables, 9, 6)
    i = net.op(top.TileOp, "t", (net.input("i", *indices),), tile=list(counts))
    y = net.op(top.GatherElementsOp, "y", (x, i), axis=axis)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.broadcast_to([[3], [0], [7]], (3, 6)), ["Gather"]),
        (np.arange(18).reshape(3, 6) % 9, ["GatherElements"]),
    ],
)
def test_constant_indices(values: np.ndarray, expected: list[str]) -> None:
    net = Net()
    x, i = net.input("x", 9, 6), net.weight("i", values=values)
    y = net.op(top.GatherElementsOp, "y", (x, i), axis=0)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert [kind for kind in kinds(after) if kind != "Reshape"] == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((9, 6), ["ScatterND"]),
        ((1, 9, 6), ["Reshape", "Reshape", "Reshape", "ScatterND", "Reshape"]),
        ((2, 9, 6), ["Tile", "ScatterElements"]),  # rows of several tables are written by element
        ((9, 1), ["ScatterElements"]),
    ],
)
@pytest.mark.parametrize("reduction", [1, 2])  # both add
def test_scatter_elements(shape: tuple[int, ...], expected: list[str], reduction: int) -> None:
    net = Net()
    *tables, _, columns = shape
    line = net.input("i", *tables, 4, 1)
    i = net.op(top.TileOp, "t", (line,), tile=[*(1 for _ in tables), 1, columns])
    operands = (net.input("x", *shape), i, net.input("u", *tables, 4, columns))
    y = net.op(top.ScatterElementsOp, "y", operands, axis=len(tables), reduction=reduction)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert sorted(kinds(after)) == sorted(expected)
