"""Products of narrow heads as one of all heads: the same numbers, and only where it is faster."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top

JOIN = "join-heads{chip=bm1684x}"
FIRST = [0, 2, 1, 3]


def linear_attention(
    rows: int, keys: int, heads: int, depth: int, width: int, batch: int = 1
) -> ModuleOp:
    """q (k v) for each head, as exporters write it, and rows again behind it."""
    net = Net()

    def heads_of(name: str, size: int, columns: int) -> SSAValue:
        value = net.op(top.AbsOp, f"{name}a", (net.input(name, batch, size, heads, columns),))
        return net.op(top.PermuteOp, f"{name}p", (value,), order=FIRST)

    q, v = heads_of("q", rows, depth), heads_of("v", keys, width)
    k = net.op(top.AbsOp, "ka", (net.input("k", batch, heads, depth, keys),))
    state = net.op(top.MatMulOp, "state", (k, v, net.none))
    product = net.op(top.MatMulOp, "product", (q, state, net.none))
    return net.module(net.op(top.PermuteOp, "y", (product,), order=FIRST))


@pytest.mark.parametrize(
    ("rows", "keys", "heads", "depth", "width"),
    [(20, 20, 4, 8, 8), (7, 20, 3, 5, 6), (20, 1, 2, 1, 3), (30, 30, 2, 63, 63)],
)
def test_heads_are_joined(rows: int, keys: int, heads: int, depth: int, width: int) -> None:
    after = assert_same_numbers(linear_attention(rows, keys, heads, depth, width), JOIN)
    assert "Mul" in kinds(after)


@pytest.mark.parametrize(
    ("heads", "depth", "width", "batch"),
    [
        (2, 64, 8, 1),  # as many columns as lanes
        (2, 8, 64, 1),
        (1, 8, 8, 1),
        (4, 8, 8, 2),  # the heads of two samples are not beside each other
        (40, 32, 32, 1),  # the array would multiply for longer than the values move
    ],
)
def test_other_heads_stay(heads: int, depth: int, width: int, batch: int) -> None:
    module = linear_attention(20, 20, heads, depth, width, batch)
    assert "Mul" not in kinds(assert_same_numbers(module, JOIN))
