"""Every `top` op that has a layout: it changes to the other one, and computes the same."""

from typing import Any

import pytest
from tests.layout.layout_samples import FIRST, LAST, Make, conv, permute
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints

N, C, H, W = 2, 6, 4, 8


def unary(kind: Any, **attributes: Any) -> Make:
    return lambda net, x: net.op(kind, "op", (x,), **attributes)


def with_weight(kind: Any, *shape: int) -> Make:
    return lambda net, x: net.op(kind, "op", (x, net.weight("w", *shape)))


def sliced(net: Net, x: SSAValue) -> SSAValue:
    bounds = {"axes": [1, 3], "offset": [1, 2], "ends": [4, 6], "steps": [1, 2]}
    return net.op(top.SliceOp, "op", (x, net.none, net.none, net.none), **bounds)


def padded(net: Net, x: SSAValue) -> SSAValue:
    counts = [0, 1, 2, 3, 0, 4, 5, 6]
    return net.op(top.PadOp, "op", (x,), paddings=counts, mode="constant", val=1.5)


def joined(net: Net, x: SSAValue) -> SSAValue:
    return net.op(top.ConcatOp, "op", (x, x), axis=-1)


def twice(net: Net, x: SSAValue) -> SSAValue:
    return net.op(top.MulOp, "op", (x, x))


def where(net: Net, x: SSAValue) -> SSAValue:
    condition = net.op(top.CompareConstOp, "c", (x,), mode="Greater", const_val=0, inversed=False)
    constants = {"y_is_const": True, "y_const_val": 2.0}
    return net.op(top.WhereOp, "op", (condition, x, net.none), **constants)


SAME_SHAPE: dict[str, Make] = {
    "relu": unary(top.ReluOp),
    "gelu": unary(top.GELUOp),
    "clip": unary(top.ClipOp, min=-0.5, max=0.5),
    "add_const": unary(top.AddConstOp, const_val=2.0),
    "softmax": unary(top.SoftmaxOp, axis=-1),
    "softmax_spatial": unary(top.SoftmaxOp, axis=2),
    "reverse": unary(top.ReverseOp, axis=1),
    "rotate": unary(top.SwapDimInnerOp, offset=[0, 1, 2, 3]),
    "scalar_operand": with_weight(top.AddOp, 1),
    "vector_operand": with_weight(top.MulOp, 8),
    "matrix_operand": with_weight(top.AddOp, 1, 8),
    "used_twice": twice,
    "where": where,
    "layer_norm_all": lambda net, x: net.op(
        top.LayerNormOp, "op", (x, net.none, net.none), normalized_shape=[], axis=1, eps=1e-5
    ),
}
"""Op kinds whose result has the shape of the operand."""

OTHER_SHAPE: dict[str, Make] = {
    "slice": sliced,
    "pad": padded,
    "concat": joined,
    "reduce": unary(top.ReduceOp, axes=[2, 3], keepdims=True, mode="ReduceMean"),
    "reduce_channels": unary(top.ReduceOp, axes=[1], keepdims=True, mode="ReduceMax"),
    "reduce_one_away": unary(top.ReduceOp, axes=[2], keepdims=False, mode="ReduceSum"),
    "variance": unary(top.VarianceOp, reduce_list=[2], correction=0.0, keep_dims=True),
}


def permutes(module: Any) -> list[tuple[int, ...]]:
    return [ints(op.order) for op in ops_of(module, top.PermuteOp)]


@pytest.mark.parametrize("kind", [*SAME_SHAPE, *OTHER_SHAPE])
def test_becomes_channel_last(kind: str) -> None:
    """An op between transpositions from channel-last and back needs none of them."""
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    y = {**SAME_SHAPE, **OTHER_SHAPE}[kind](net, x)
    if kind == "reduce_one_away":  # what is left is N, C, W
        after = assert_same_numbers(
            net.module(permute(net, "to_last", y, (0, 2, 1))), "transfer-layout"
        )
    else:
        after = assert_same_numbers(net.module(permute(net, "to_last", y, LAST)), "transfer-layout")
    assert permutes(after) == []


@pytest.mark.parametrize("kind", SAME_SHAPE)
def test_becomes_channel_first(kind: str) -> None:
    """An op that a channel-last exporter leaves between convolutions becomes channel-first."""
    net = Net()
    x = conv(net, "before", net.input("x", N, W, H, C), W, 8)
    y = SAME_SHAPE[kind](net, permute(net, "to_last", x, LAST))
    net_out = conv(net, "after", permute(net, "to_first", y, FIRST), 8, 3)
    after = assert_same_numbers(net.module(net_out), "transfer-layout")
    assert permutes(after) == []


def test_op_with_two_results_changes_as_one() -> None:
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    parts = net.ops(top.SplitOp, ("a", "b"), (x,), axis=1, num=2, split_size=[2, 4])
    outs = [permute(net, f"out{i}", part, LAST) for i, part in enumerate(parts)]
    after = assert_same_numbers(net.module(*outs), "transfer-layout")
    assert kinds(after) == ["Split"]
    (split,) = ops_of(after, top.SplitOp)
    assert split.axis.value.data == 3


def test_argmax_over_channels_does_not_care() -> None:
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    indices, values = net.ops(top.ArgOp, ("i", "v"), (x,), axis=1, keepdims=False, mode="ArgMax")
    after = assert_same_numbers(net.module(indices, values), "transfer-layout")
    assert kinds(after) == ["Arg"]
    (arg,) = ops_of(after, top.ArgOp)
    assert arg.axis.value.data == 3


def test_layer_norm_keeps_its_last_dimension() -> None:
    """Normalised over the last dimension alone: in another layout that is not the last one."""
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    y = net.op(
        top.LayerNormOp, "op", (x, net.none, net.none), normalized_shape=[], axis=3, eps=1e-5
    )
    after = assert_same_numbers(net.module(permute(net, "out", y, LAST)), "transfer-layout")
    assert permutes(after) == [FIRST, LAST]


def test_layer_norm_turns_its_weights() -> None:
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    weights = (net.weight("w", C, H, W), net.weight("b", C, H, W))
    y = net.op(top.LayerNormOp, "op", (x, *weights), normalized_shape=[], axis=1, eps=1e-5)
    after = assert_same_numbers(net.module(permute(net, "out", y, LAST)), "transfer-layout")
    assert kinds(after) == ["LayerNorm"]


@pytest.mark.parametrize("shape", [(N, C, H * W), (N, C, H, W, 1), (N, C, 2, 2, W)])
def test_views_that_keep_the_channels_apart_follow(shape: tuple[int, ...]) -> None:
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    y = net.op(top.ReluOp, "r", (net.op(top.ReshapeOp, "v", (x,), shape=shape),))
    last = (0, *range(2, len(shape)), 1)
    after = assert_same_numbers(net.module(permute(net, "out", y, last)), "transfer-layout")
    assert permutes(after) == []


@pytest.mark.parametrize("shape", [(N, C * H, W), (N, C * H * W), (N, 2, 3, H * W)])
def test_views_that_mix_the_channels_stay(shape: tuple[int, ...]) -> None:
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    y = net.op(top.ReluOp, "r", (net.op(top.ReshapeOp, "v", (x,), shape=shape),))
    after = assert_same_numbers(net.module(y), "transfer-layout")
    assert permutes(after) == [FIRST]


def test_view_of_channels_alone_takes_any_layout() -> None:
    """1x6x1x1 and 1x1x1x6 are the same elements: no transposition on the way to 1x6."""
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    mean = net.op(top.ReduceOp, "m", (x,), axes=[2, 3], keepdims=True, mode="ReduceMean")
    flat = net.op(top.ReshapeOp, "f", (mean,), shape=(N, C))
    after = assert_same_numbers(net.module(flat), "transfer-layout")
    assert kinds(after) == ["Reduce", "Reshape"]


def test_squeeze_and_unsqueeze_transfer_labels() -> None:
    net = Net()
    x = permute(net, "to_first", net.input("x", N, 1, W, C), FIRST)
    y = net.op(top.ReluOp, "r", (net.op(top.SqueezeOp, "s", (x,), axes=[2]),))
    z = net.op(top.UnsqueezeOp, "u", (y,), axes=[2])
    after = assert_same_numbers(net.module(permute(net, "out", z, LAST)), "transfer-layout")
    assert permutes(after) == []


def test_product_reads_a_transposed_operand() -> None:
    net = Net()
    left = net.input("l", N, H, W)
    right = permute(net, "t", net.input("r", N, H, W), (0, 2, 1))
    y = net.op(top.MatMulOp, "y", (left, net.op(top.ReluOp, "q", (right,)), net.none))
    after = assert_same_numbers(net.module(y), "transfer-layout")
    assert permutes(after) == []
    (product,) = ops_of(after, top.MatMulOp)
    assert product.right_transpose.value.data


def test_product_does_not_read_its_left_operand_transposed_alone() -> None:
    net = Net()
    left = permute(net, "t", net.input("l", N, W, H), (0, 2, 1))
    y = net.op(top.MatMulOp, "y", (left, net.input("r", N, W, C), net.none))
    after = assert_same_numbers(net.module(y), "transfer-layout")
    assert permutes(after) == [(0, 2, 1)]


def test_other_permutes_take_the_change_in() -> None:
    """Rows and columns swapped of what comes channel-last: one Permute instead of two."""
    net = Net()
    x = permute(net, "to_first", net.input("x", N, H, W, C), FIRST)
    y = permute(net, "swap", net.op(top.ReluOp, "r", (x,)), (0, 1, 3, 2))
    after = assert_same_numbers(net.module(y), "transfer-layout")
    assert permutes(after) == [(0, 3, 2, 1)]
