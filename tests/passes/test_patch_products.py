"""Linear layers of patches: convolutions, however the patches were cut out."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"
N, C, H, W = 2, 3, 8, 12
P, Q = 4, 3
COUNT = (H // P) * (W // Q)
DEPTH = C * P * Q


def cut(net: Net, x: SSAValue, order: tuple[int, ...]) -> SSAValue:
    """Rows of patches by one Permute of N, C, rows, P, columns, Q."""
    apart = net.op(top.ReshapeOp, "apart", (x,), shape=[N, C, H // P, P, W // Q, Q])
    turned = net.op(top.PermuteOp, "turned", (apart,), order=order)
    return net.op(top.ReshapeOp, "rows", (turned,), shape=[N, COUNT, DEPTH])


def unfolded(net: Net, x: SSAValue) -> SSAValue:
    """Rows of patches put together of slices, as `Tensor.unfold` is exported."""
    lines = [
        net.op(
            top.SliceOp,
            f"line{i}",
            (x, net.none, net.none, net.none),
            offset=[0, 0, P * i, 0],
            ends=[N, C, P * (i + 1), W],
            steps=[1] * 4,
        )
        for i in range(H // P)
    ]
    both = net.op(top.ConcatOp, "both", lines, axis=2)
    return cut(net, both, (0, 2, 4, 1, 3, 5))


def linear(net: Net, rows: SSAValue, width: int = 10, bias: bool = True) -> SSAValue:
    b = net.weight("b", width) if bias else net.none
    return net.op(top.MatMulOp, "y", (rows, net.weight("w", DEPTH, width), b))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "order", [(0, 2, 4, 3, 5, 1), (0, 2, 4, 1, 3, 5), (0, 2, 4, 5, 1, 3)], ids=str
)
def test_patches_of_one_permute_are_convolved(order: tuple[int, ...], bias: bool) -> None:
    """Channels first or last, rows before columns or behind them."""
    net = Net()
    y = linear(net, cut(net, net.input("x", N, C, H, W), order), bias=bias)
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "z", (y,))), CANONICALIZE)
    assert kinds(after) == ["Conv", "Reshape", "Permute", "Abs"]
    (conv,) = ops_of(after, top.ConvOp)
    assert (ints(conv.kernel_shape), ints(conv.strides)) == ((P, Q), (P, Q))


def test_patches_of_slices_are_convolved() -> None:
    net = Net()
    y = linear(net, unfolded(net, net.input("x", N, C, H, W)))
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "z", (y,))), CANONICALIZE)
    assert ops_of(after, top.ConvOp)


def test_rows_may_be_seen_otherwise() -> None:
    net = Net()
    rows = cut(net, net.input("x", N, C, H, W), (0, 2, 4, 3, 5, 1))
    rows = net.op(top.ReshapeOp, "flat", (rows,), shape=[N * COUNT, DEPTH])
    y = linear(net, rows)
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "z", (y,))), CANONICALIZE)
    (conv,) = ops_of(after, top.ConvOp)
    assert shape_of(conv.output) == (N, 10, H // P, W // Q)


@pytest.mark.parametrize("order", [(0, 4, 2, 1, 3, 5), (0, 3, 5, 1, 2, 4), (1, 2, 4, 0, 3, 5)])
def test_what_is_no_row_of_patches_stays(order: tuple[int, ...]) -> None:
    """Patches column by column, pixels of all patches, patches of each channel."""
    net = Net()
    x = net.input("x", N, C, H, W)
    apart = net.op(top.ReshapeOp, "apart", (x,), shape=[N, C, H // P, P, W // Q, Q])
    turned = net.op(top.PermuteOp, "turned", (apart,), order=order)
    rows = net.op(top.ReshapeOp, "rows", (turned,), shape=[N * COUNT, DEPTH])
    after = assert_same_numbers(net.module(linear(net, rows)), CANONICALIZE)
    assert not ops_of(after, top.ConvOp)


def test_heads_of_a_token_are_no_patch() -> None:
    """They reach along one dimension, over all of it."""
    net = Net()
    heads = net.op(top.AbsOp, "heads", (net.input("x", 1, 4, 6, 9),))
    turned = net.op(top.PermuteOp, "turned", (heads,), order=[0, 2, 1, 3])
    rows = net.op(top.ReshapeOp, "rows", (turned,), shape=[1, 6, DEPTH])
    after = assert_same_numbers(net.module(linear(net, rows)), CANONICALIZE)
    assert not ops_of(after, top.ConvOp)
