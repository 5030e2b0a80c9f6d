"""Sums of products of elements as products of matrices: the same numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

Shape = tuple[int, ...]


def summed(
    x: Shape, y: Shape, axes: list[int], mode: str = "ReduceSum", *, keepdims: bool = False
) -> ModuleOp:
    net = Net()
    product = net.op(top.MulOp, "product", (net.input("x", *x), net.input("y", *y)))
    return net.module(
        net.op(top.ReduceOp, "sum", (product,), axes=axes, keepdims=keepdims, mode=mode)
    )


PRODUCTS: list[tuple[Shape, Shape, list[int], tuple[Shape, Shape]]] = [
    ((2, 16, 1, 5), (2, 1, 9, 5), [3], ((2, 16, 5), (2, 5, 9))),
    ((2, 1, 9, 5), (2, 16, 1, 5), [-1], ((2, 9, 5), (2, 5, 16))),
    ((16, 1, 5), (9, 5), [2], ((1, 16, 5), (1, 5, 9))),
    ((16, 5, 1), (1, 5, 9), [1], ((1, 16, 5), (1, 5, 9))),
    # Mamba-2: of each chunk scores of heads, which come last, times values
    ((3, 8, 8, 2, 1), (3, 1, 8, 2, 9), [2], ((6, 8, 8), (6, 8, 9))),
    ((3, 4, 8, 2, 1, 5), (3, 1, 1, 2, 9, 5), [5], ((6, 32, 5), (6, 5, 9))),
    ((2, 3, 8, 1, 5, 4), (2, 3, 1, 9, 5, 4), [4, 5], ((6, 8, 20), (6, 20, 9))),
]


@pytest.mark.parametrize(("x", "y", "axes", "matrices"), PRODUCTS)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("mode", ["ReduceSum", "ReduceMean"])
def test_sums_are_products_of_matrices(
    x: Shape, y: Shape, axes: list[int], matrices: tuple[Shape, Shape], keepdims: bool, mode: str
) -> None:
    after = assert_same_numbers(summed(x, y, axes, mode, keepdims=keepdims), "canonicalize")
    (product,) = ops_of(after, top.MatMulOp)
    flat = [tuple(size for size in shape if size > 1) for shape in matrices]
    given = [shape_of(value) for value in (product.input, product.right)]
    assert [tuple(size for size in shape if size > 1) for shape in given] == flat
    assert not {"Mul", "Reduce"} & set(kinds(after))


def test_what_was_repeated_is_seen_as_it_is() -> None:
    net = Net()
    x = net.op(top.TileOp, "tiled", (net.input("x", 2, 16, 1, 5),), tile=[1, 1, 9, 1])
    product = net.op(top.MulOp, "product", (x, net.input("y", 2, 1, 9, 5)))
    y = net.op(top.ReduceOp, "sum", (product,), axes=[3], keepdims=False, mode="ReduceSum")
    after = assert_same_numbers(net.module(y), "canonicalize")
    assert "MatMul" in kinds(after)
    assert "Tile" not in kinds(after)


OTHERS: dict[str, ModuleOp] = {
    "few rows": summed((2, 7, 1, 5), (2, 1, 9, 5), [3]),
    "one column": summed((2, 16, 5), (2, 1, 5), [2]),
    "no rows of their own": summed((16, 9, 5), (16, 9, 5), [2]),
    "a sum along rows": summed((16, 1, 5), (1, 9, 5), [1]),
    "the largest": summed((16, 1, 5), (1, 9, 5), [2], "ReduceMax"),
}


@pytest.mark.parametrize("why", OTHERS)
def test_what_stays(why: str) -> None:
    assert "MatMul" not in kinds(assert_same_numbers(OTHERS[why], "canonicalize"))


def test_products_that_others_read_stay() -> None:
    net = Net()
    product = net.op(top.MulOp, "p", (net.input("x", 16, 1, 5), net.input("y", 9, 5)))
    y = net.op(top.ReduceOp, "sum", (product,), axes=[2], keepdims=False, mode="ReduceSum")
    after = assert_same_numbers(net.module(y, product), "canonicalize")
    assert "MatMul" not in kinds(after)
