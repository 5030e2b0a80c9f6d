"""Products of rows transposed for them alone: the numbers stay, one Permute a part is left."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints

CANONICALIZE = "canonicalize"
BATCH, ROWS, HEADS, SIZE = 2, 3, 4, 2
WIDTH = HEADS * SIZE


def reshape(net: Net, name: str, x: SSAValue, *shape: int) -> SSAValue:
    return net.op(top.ReshapeOp, name, (x,), shape=shape)


def permute(net: Net, name: str, x: SSAValue, *order: int) -> SSAValue:
    return net.op(top.PermuteOp, name, (x,), order=order)


def product(net: Net, name: str, x: SSAValue, width: int) -> SSAValue:
    operands = (x, net.weight(f"{name}_w", WIDTH, width), net.weight(f"{name}_b", 1, 1, width))
    return net.op(top.MatMulOp, name, operands)


def as_heads(net: Net, name: str, x: SSAValue) -> SSAValue:
    apart = reshape(net, f"{name}_apart", x, ROWS, BATCH * HEADS, SIZE)
    heads = permute(net, f"{name}_heads", apart, 1, 0, 2)
    return net.op(top.AbsOp, name, (reshape(net, f"{name}_of", heads, BATCH, HEADS, ROWS, SIZE),))


def of_parts(count: int, *, order: tuple[int, ...] = (1, 0, 2), also: str = "") -> ModuleOp:
    """Queries, keys and values of one product, as torch writes them."""
    net = Net()
    x = net.input("x", *((BATCH, ROWS, WIDTH) if order == (1, 0, 2) else (WIDTH, ROWS, BATCH)))
    values = {"first": permute(net, "first", x, *order)}
    values["mm"] = product(net, "mm", values["first"], count * WIDTH)
    split = reshape(net, "split", values["mm"], 1, ROWS, BATCH, count, WIDTH)
    parts = reshape(
        net, "parts", permute(net, "p", split, 3, 1, 2, 0, 4), count, ROWS, BATCH, WIDTH
    )
    outputs: list[SSAValue] = []
    for index in range(count):
        place = net.weight(f"i{index}", values=[float(index)])
        part = net.op(top.GatherOp, f"q{index}", (parts, place), axis=0, keepdims=False)
        outputs.append(as_heads(net, f"y{index}", part))
    if also:
        outputs.append(net.op(top.AbsOp, "other", (values[also],)))
    return net.module(*outputs)


def orders(module: ModuleOp) -> list[tuple[int, ...]]:
    return [ints(op.order) for op in ops_of(module, top.PermuteOp)]


@pytest.mark.parametrize("count", [2, 3])
def test_parts_are_moved_from_rows_as_they_are(count: int) -> None:
    after = assert_same_numbers(of_parts(count), CANONICALIZE)
    assert orders(after) == [(0, 2, 1, 3)] * count
    assert kinds(after).count("Slice") == count


@pytest.mark.parametrize("also", ["first", "mm"])
def test_what_others_read_stays(also: str) -> None:
    after = assert_same_numbers(of_parts(3, also=also), CANONICALIZE)
    assert (1, 0, 2) in orders(after)


def test_columns_that_become_rows_stay() -> None:
    after = assert_same_numbers(of_parts(3, order=(1, 2, 0)), CANONICALIZE)
    assert (1, 2, 0) in orders(after)


def test_parts_that_are_not_moved_keep_the_permute() -> None:
    net = Net()
    moved = permute(net, "first", net.input("x", BATCH, ROWS, WIDTH), 1, 0, 2)
    made = product(net, "mm", moved, WIDTH)
    module = net.module(net.op(top.AbsOp, "y", (reshape(net, "flat", made, ROWS * BATCH, WIDTH),)))
    assert orders(assert_same_numbers(module, CANONICALIZE)) == [(1, 0, 2)]


def test_keys_are_transposed_on_the_way() -> None:
    net = Net()
    moved = permute(net, "first", net.input("x", BATCH, ROWS, WIDTH), 1, 0, 2)
    apart = reshape(net, "apart", product(net, "mm", moved, WIDTH), ROWS, BATCH * HEADS, SIZE)
    keys = net.op(top.AbsOp, "y", (permute(net, "keys", apart, 1, 2, 0),))
    assert orders(assert_same_numbers(net.module(keys), CANONICALIZE)) == [(0, 2, 1)]


@pytest.mark.parametrize("shared", [False, True])
def test_heads_go_where_rows_will_be(shared: bool) -> None:
    net = Net()
    heads = net.op(top.AbsOp, "heads", (net.input("x", BATCH, HEADS, ROWS, SIZE),))
    moved = permute(net, "moved", heads, 2, 0, 1, 3)
    flat = reshape(net, "flat", moved, ROWS * BATCH, WIDTH)
    operands = (flat, net.weight("w", WIDTH, 6), net.weight("b", 6))
    rows = reshape(net, "rows", net.op(top.MatMulOp, "mm", operands), ROWS, BATCH, 6)
    outputs = [net.op(top.AbsOp, "y", (permute(net, "back", rows, 1, 0, 2),))]
    outputs += [net.op(top.AbsOp, "z", (flat,))] if shared else []
    after = assert_same_numbers(net.module(*outputs), CANONICALIZE)
    assert orders(after) == ([(2, 0, 1, 3), (1, 0, 2)] if shared else [(0, 2, 1, 3)])
