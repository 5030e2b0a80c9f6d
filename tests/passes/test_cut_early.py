"""Rows that nobody reads are not made: the same numbers, from fewer of them."""

import pytest
from tests.passes.real_networks import apply
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.calibration.ranges import Range, range_of, set_range
from xdsl_tpu.passes.tensors import shape_of

PASS = "cut-early"
ROWS, WIDE, HEADS, SIZE = 9, 8, 2, 4


def part(net: Net, name: str, value: SSAValue, first: int, count: int, step: int = 1) -> SSAValue:
    """Rows of a value of three dimensions."""
    end = first + (count - 1) * step + 1
    options = {"steps": [1, step, 1], "axes": list[int](), "ends": [1, end, WIDE]}
    given = (value, net.none, net.none, net.none)
    return net.op(top.SliceOp, name, given, offset=[0, first, 0], **options)


def product(net: Net, name: str, left: SSAValue, *shape: int) -> SSAValue:
    given = (left, net.weight(f"{name}_w", *shape), net.weight(f"{name}_b", shape[-1]))
    return net.op(top.MatMulOp, name, given)


def norm(net: Net, name: str, value: SSAValue) -> SSAValue:
    given = (value, net.weight(f"{name}_g", WIDE), net.weight(f"{name}_h", WIDE))
    return net.op(top.LayerNormOp, name, given, axis=2, eps=1e-5, normalized_shape=[WIDE])


def heads(net: Net, name: str, value: SSAValue) -> SSAValue:
    apart = net.op(top.ReshapeOp, f"{name}_r", (value,), shape=[1, ROWS, HEADS, SIZE])
    return net.op(top.PermuteOp, name, (apart,), order=[0, 2, 1, 3])


def block(net: Net, x: SSAValue) -> SSAValue:
    """A block of a transformer, with positions added in its middle."""
    read = norm(net, "n1", x)
    q, k, v = (heads(net, one, product(net, f"{one}p", read, WIDE, WIDE)) for one in "qkv")
    turned = net.op(top.PermuteOp, "kt", (k,), order=[0, 1, 3, 2])
    scores = net.op(top.MatMulOp, "scores", (q, turned, net.none))
    powers = net.op(top.SoftmaxOp, "powers", (scores,), axis=3)
    mixed = net.op(top.MatMulOp, "mixed", (powers, v, net.none))
    back = net.op(top.PermuteOp, "back", (mixed,), order=[0, 2, 1, 3])
    flat = net.op(top.ReshapeOp, "flat", (back,), shape=[1, ROWS, WIDE])
    first = net.op(top.AddOp, "first", (x, product(net, "out", flat, WIDE, WIDE)))
    placed = net.op(top.AddOp, "placed", (first, net.weight("places", 1, ROWS, WIDE)))
    up = net.op(top.GELUOp, "act", (product(net, "up", norm(net, "n2", placed), WIDE, 3 * WIDE),))
    return net.op(top.AddOp, "second", (placed, product(net, "down", up, 3 * WIDE, WIDE)))


@pytest.mark.parametrize(("first", "count"), [(0, 1), (ROWS - 1, 1), (2, 4)])
def test_a_block_whose_result_is_read_in_part(first: int, count: int) -> None:
    net = Net()
    x = net.op(top.AbsOp, "x", (net.input("image", 1, ROWS, WIDE),))
    made = part(net, "y", norm(net, "last", block(net, x)), first, count)
    after = assert_same_numbers(net.module(made), PASS)
    rows = [shape_of(one.output)[-2] for one in ops_of(after, top.MatMulOp)]
    assert rows == [count, ROWS, ROWS, *[count] * 5]
    assert [shape_of(one.output)[1] for one in ops_of(after, top.LayerNormOp)] == [
        ROWS,
        count,
        count,
    ]
    assert all(shape_of(one.output)[-2] == count for one in ops_of(after, top.AddOp))


def test_rows_between_which_others_lie() -> None:
    net = Net()
    made = product(net, "m", net.input("x", 1, ROWS, WIDE), WIDE, WIDE)
    after = assert_same_numbers(net.module(part(net, "y", made, 1, 2, 3)), PASS)
    (found,) = ops_of(after, top.MatMulOp)
    assert shape_of(found.output) == (1, 4, WIDE)


def test_a_square_is_cut_once() -> None:
    net = Net()
    made = product(net, "m", net.input("x", 1, ROWS, WIDE), WIDE, WIDE)
    square = net.op(top.MulOp, "square", (made, made))
    after = assert_same_numbers(net.module(part(net, "y", square, 3, 1)), PASS)
    assert len(ops_of(after, top.SliceOp)) == 1
    assert shape_of(ops_of(after, top.MulOp)[0].output) == (1, 1, WIDE)


def test_rows_times_all_rows_need_all_of_them() -> None:
    """A matrix that is multiplied with itself is the left one and the right one."""
    net = Net()
    made = product(net, "m", net.input("x", 1, ROWS, WIDE), WIDE, WIDE)
    given = (made, made, net.none)
    likeness = net.op(top.MatMulOp, "likeness", given, right_transpose=True)
    end = {"steps": [1, 1, 1], "axes": list[int](), "ends": [1, 1, ROWS]}
    row = net.op(top.SliceOp, "y", (likeness, *[net.none] * 3), offset=[0, 0, 0], **end)
    after = assert_same_numbers(net.module(row), PASS)
    assert [shape_of(one.output)[1] for one in ops_of(after, top.MatMulOp)] == [ROWS, ROWS]


def test_without_a_product_nothing_is_gained() -> None:
    net = Net()
    made = net.op(top.AbsOp, "a", (net.input("x", 1, ROWS, WIDE),))
    after = assert_same_numbers(net.module(part(net, "y", made, 0, 1)), PASS)
    assert shape_of(ops_of(after, top.AbsOp)[0].output) == (1, ROWS, WIDE)


def test_parts_have_ranges_of_their_own() -> None:
    """A class token is cut from what is joined, and its sum does not span that of all rows."""
    net = Net()
    given = (net.input("cls", 1, 1, WIDE), net.input("patches", 1, ROWS - 1, WIDE))
    token, patches = (
        net.op(top.TanhOp, name, (one,)) for name, one in zip("tp", given, strict=True)
    )
    x = net.op(top.ConcatOp, "x", (token, patches), axis=1)
    up = product(net, "up", x, WIDE, WIDE)
    read = part(net, "y", net.op(top.AddOp, "sum", (x, up)), 0, 1)
    module = net.module(net.op(top.AbsOp, "z", (read,)))
    reach = {top.TanhOp: 0.5, top.ConcatOp: 8.0, top.MatMulOp: 1.0, top.AddOp: 8.5}
    for kind, most in reach.items():
        for op in ops_of(module, kind)[:1]:
            set_range(op.output, Range(-most, most))
    module = apply(module, (PASS, ""))
    (total,) = ops_of(module, top.AddOp)
    assert total.inputs[0] is ops_of(module, top.TanhOp)[0].output
    assert range_of(total.output) == Range(-1.5, 1.5)
    assert not ops_of(module, top.SliceOp)
