"""Slices of what was joined, with changes of form between: what they become, and their numbers."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from tests.passes.test_canonicalize_layout import sliced
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top

CANONICALIZE = "canonicalize"


def joined(net: Net, name: str, columns: int, axis: int = 1) -> SSAValue:
    """Four rows and five others of `columns` numbers, one below the other."""
    parts = [
        net.op(top.AbsOp, f"{name}{n}", (net.input(f"{name}_{n}", 1, n, columns),)) for n in (4, 5)
    ]
    return net.op(top.ConcatOp, f"{name}_c", parts, axis=axis)


def in_rows(net: Net, x: SSAValue) -> SSAValue:
    return net.op(top.PermuteOp, "p", (x,), order=[0, 2, 1])


def test_parts_of_rows_need_no_concat() -> None:
    net = Net()
    x = in_rows(net, joined(net, "x", 7))
    cuts = [
        net.op(top.SinOp, f"y{i}", (sliced(net, f"s{i}", x, 2, span),))
        for i, span in enumerate([(0, 4), (4, 9)])
    ]
    after = assert_same_numbers(net.module(*cuts), CANONICALIZE)
    assert kinds(after) == ["Abs", "Abs", "Permute", "Sin", "Permute", "Sin"]


def test_parts_of_several_scales_are_joined_apart() -> None:
    net = Net()
    scales = [
        net.op(top.ReshapeOp, f"r{n}", (joined(net, f"x{n}", n),), shape=[1, 9, 1, n])
        for n in (6, 8)
    ]
    x = net.op(top.ConcatOp, "c", scales, axis=3)
    y = [sliced(net, f"y{i}", x, 1, span) for i, span in enumerate([(0, 4), (4, 9)])]
    after = assert_same_numbers(net.module(*y), CANONICALIZE)
    assert "Slice" not in kinds(after)
    assert kinds(after).count("Concat") == 2


@pytest.mark.parametrize("span", [(0, 3), (3, 9)])
def test_spans_across_operands_stay(span: tuple[int, int]) -> None:
    net = Net()
    y = sliced(net, "y", in_rows(net, joined(net, "x", 7)), 2, span)
    assert "Concat" in kinds(assert_same_numbers(net.module(y), CANONICALIZE))


def test_what_others_read_stays_joined() -> None:
    net = Net()
    x = in_rows(net, joined(net, "x", 7))
    y = sliced(net, "y", x, 2, (0, 4))
    after = assert_same_numbers(net.module(y, net.op(top.SinOp, "z", (x,))), CANONICALIZE)
    assert sorted(kinds(after)) == ["Abs", "Abs", "Concat", "Permute", "Sin", "Slice"]
