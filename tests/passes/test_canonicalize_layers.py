"""Patterns of convolutions, matrix products, pools and norms: what they make, and their numbers."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"


def conv(
    net: Net, name: str, x: SSAValue, w: SSAValue, bias: SSAValue | None = None, **attributes: Any
) -> SSAValue:
    """A Conv with the attributes that most of these have."""
    kernel = shape_of(w)[2:]
    rank = len(kernel)
    given = {
        "kernel_shape": list(kernel),
        "strides": [1] * rank,
        "pads": [0] * 2 * rank,
        **attributes,
    }
    return net.op(top.ConvOp, name, (x, w, net.none if bias is None else bias), **given)


def test_relu_becomes_part_of_the_conv() -> None:
    net = Net()
    y = conv(net, "c", net.input("x", 1, 3, 6, 6), net.weight("w", 4, 3, 3, 3))
    y = net.op(top.ReluOp, "r1", (y,), relu_limit=6.0)
    y = net.op(top.ReluOp, "r2", (y,), relu_limit=1.0)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Conv"]
    assert ops_of(after, top.ConvOp)[0].relu_limit.value.data == 1.0


def test_relu_stays_where_its_input_is_used_again() -> None:
    net = Net()
    y = conv(net, "c", net.input("x", 1, 3, 6, 6), net.weight("w", 4, 3, 3, 3))
    relu = net.op(top.ReluOp, "r", (y,))
    assert kinds(assert_same_numbers(net.module(y, relu), CANONICALIZE)) == ["Conv", "Relu"]


def test_relu_stays_behind_an_op_without_one() -> None:
    net = Net()
    y = net.op(top.ReluOp, "r", (net.op(top.SinOp, "s", (net.input("x", 4),)),))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Sin", "Relu"]


def test_relu_goes_through_a_concat_into_convs() -> None:
    net = Net()
    x = net.input("x", 1, 3, 6, 6)
    convs = [conv(net, f"c{i}", x, net.weight(f"w{i}", 4, 3, 1, 1)) for i in range(2)]
    y = net.op(top.ReluOp, "r", (net.op(top.ConcatOp, "cat", convs, axis=1),))
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Conv", "Conv", "Concat"]


def test_relu_stays_behind_a_concat_of_other_things() -> None:
    net = Net()
    x = net.input("x", 1, 3, 6, 6)
    parts = (conv(net, "c", x, net.weight("w", 4, 3, 1, 1)), x)
    y = net.op(top.ReluOp, "r", (net.op(top.ConcatOp, "cat", parts, axis=1),))
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Conv", "Concat", "Relu"]


def test_one_dimensional_conv_gets_a_second_kernel_dimension() -> None:
    net = Net()
    x, w = net.input("x", 2, 3, 16), net.weight("w", 4, 3, 3)
    y = conv(net, "c", x, w, net.weight("b", 4), pads=[2, 1], strides=[2], dilations=[2])
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    (op,) = ops_of(after, top.ConvOp)
    assert ints(op.kernel_shape) == (3, 1)
    assert ints(op.pads) == (2, 0, 1, 0)


def test_conv_over_the_whole_depth_is_two_dimensional() -> None:
    net = Net()
    x, w = net.input("x", 1, 3, 2, 6, 6), net.weight("w", 4, 3, 2, 3, 3)
    y = conv(net, "c", x, w, net.weight("b", 4), pads=[0, 1, 1, 0, 1, 1])
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Reshape", "Conv", "Reshape"]


def test_conv_over_part_of_the_depth_stays() -> None:
    net = Net()
    y = conv(net, "c", net.input("x", 1, 3, 4, 6, 6), net.weight("w", 4, 3, 2, 3, 3))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Conv"]


def test_permuted_frames_go_into_the_filter() -> None:
    net = Net()
    x = net.op(top.PermuteOp, "p", (net.input("x", 1, 2, 3, 6, 6),), order=[0, 2, 1, 3, 4])
    y = conv(net, "c", x, net.weight("w", 4, 3, 2, 3, 3))
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Reshape", "Conv", "Reshape"]


@pytest.mark.parametrize("biases", [(True, True), (True, False), (False, True), (False, False)])
def test_pointwise_conv_merges_into_the_next(biases: tuple[bool, bool]) -> None:
    net = Net()
    b1, b2 = (net.weight(f"b{i}", 5) if used else None for i, used in enumerate(biases))
    x = conv(net, "c1", net.input("x", 1, 3, 6, 6), net.weight("w1", 5, 3, 1, 1), b1)
    y = conv(net, "c2", x, net.weight("w2", 5, 5, 3, 3), b2, strides=[2, 2])
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Conv"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"strides": [2, 2]}, {}),
        ({"do_relu": True}, {}),
        ({}, {"pads": [1, 1, 1, 1]}),
        ({}, {"do_relu": True}),
    ],
)
def test_convs_that_must_stay_two(first: dict[str, Any], second: dict[str, Any]) -> None:
    net = Net()
    x = conv(net, "c1", net.input("x", 1, 3, 6, 6), net.weight("w1", 5, 3, 1, 1), **first)
    y = conv(net, "c2", x, net.weight("w2", 4, 5, 3, 3), **second)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Conv", "Conv"]


def test_bottleneck_is_not_merged() -> None:
    """3 channels between 200 and 300: the merged filter would be 40 times as large."""
    net = Net()
    x = conv(net, "c1", net.input("x", 1, 200, 2, 2), net.weight("w1", 3, 200, 1, 1))
    y = conv(net, "c2", x, net.weight("w2", 300, 3, 1, 1))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Conv", "Conv"]


def matmul(net: Net, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
    return net.op(top.MatMulOp, name, (*operands, net.none), **attributes)


@pytest.mark.parametrize("swapped", [False, True])
def test_added_weight_is_the_bias(swapped: bool) -> None:
    net = Net()
    product, b = (
        matmul(net, "p", net.input("x", 2, 5, 8), net.weight("w", 8, 6)),
        net.weight("b", 6),
    )
    y = net.op(top.AddOp, "y", (b, product) if swapped else (product, b), do_relu=True)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul"]


@pytest.mark.parametrize("values", [[0.5], [0.5] * 6])
def test_one_number_for_all_columns_is_a_bias_too(values: list[float]) -> None:
    net = Net()
    product = matmul(net, "p", net.input("x", 2, 5, 8), net.weight("w", 8, 6))
    y = net.op(top.AddOp, "y", (product, net.weight("b", len(values), values=values)), do_relu=True)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul"]


def test_one_number_is_no_bias_of_a_product_of_batches() -> None:
    net = Net()
    product = matmul(net, "p", net.input("x", 2, 5, 8), net.input("z", 2, 8, 6))
    y = net.op(top.AddOp, "y", (product, net.weight("b", 1, values=[0.5])))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul", "AddConst"]


def test_weight_of_every_row_is_no_bias() -> None:
    net = Net()
    product = matmul(net, "p", net.input("x", 2, 6, 8), net.weight("w", 8, 6))
    y = net.op(top.AddOp, "y", (product, net.weight("b", 6, 1)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul", "Scale"]


def test_product_of_batches_takes_no_bias() -> None:
    net = Net()
    product = matmul(net, "p", net.input("x", 2, 5, 8), net.input("z", 2, 8, 6))
    y = net.op(top.AddOp, "y", (product, net.weight("b", 6)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul", "Add"]


def test_dimensions_of_a_product_are_kept() -> None:
    net = Net()
    y = matmul(net, "p", net.input("x", 2, 5, 8), net.weight("w", 8, 6), keep_dims=False)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul", "Reshape"]


def test_weight_on_the_left_between_permutes_goes_to_the_right() -> None:
    net = Net()
    x = net.op(top.PermuteOp, "p1", (net.input("x", 2, 5, 8),), order=[0, 2, 1])
    product = matmul(net, "m", net.weight("w", 6, 8), x)
    y = net.op(top.PermuteOp, "p2", (product,), order=[0, 2, 1])
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul"]


@pytest.mark.parametrize(
    ("images", "relu", "expected"),
    [(3, False, ["Conv"]), (2, True, ["Conv"]), (1, False, ["MatMul"])],
)
def test_rows_that_a_weight_mixes_are_channels(
    images: int, relu: bool, expected: list[str]
) -> None:
    """Of several images: of one a product is as good."""
    net = Net()
    given = net.weight("w", 5, 4), net.input("x", images, 4, 6), net.none
    product = net.op(top.MatMulOp, "p", given, do_relu=relu)
    assert kinds(assert_same_numbers(net.module(product), "canonicalize")) == expected


@pytest.mark.parametrize(
    ("left", "right", "merged"),
    [
        ((1, 3, 4, 5, 6), (1, 3, 1, 6, 7), (3, 20, 6)),
        ((2, 3, 5, 6), (2, 1, 6, 7), (2, 15, 6)),
        ((2, 3, 5, 6), (1, 1, 6, 7), (30, 6)),
        ((1, 3, 5, 6), (2, 1, 6, 7), (1, 15, 6)),
        ((3, 5, 6), (3, 6, 7), (3, 5, 6)),
        ((1, 5, 6), (1, 6, 7), (1, 5, 6)),
    ],
)
def test_rows_that_meet_one_matrix_are_those_of_one(
    left: tuple[int, ...], right: tuple[int, ...], merged: tuple[int, ...]
) -> None:
    """Not of matrices that each have their own, nor of a single one."""
    net = Net()
    product = net.op(top.MatMulOp, "p", (net.input("x", *left), net.weight("w", *right), net.none))
    after = assert_same_numbers(net.module(product), "canonicalize")
    (found,) = ops_of(after, top.MatMulOp)
    assert shape_of(found.input) == merged


@pytest.mark.parametrize(
    ("width", "expected"), [(128, ["MatMul"] * 2), (64, ["MatMul"] + ["Slice"] * 2)]
)
def test_sliced_product_is_several(width: int, expected: list[str]) -> None:
    net = Net()
    w, b = net.weight("w", 8, 2 * width), net.weight("b", 2 * width)
    product = net.op(top.MatMulOp, "p", (net.input("x", 2, 5, 8), w, b))
    parts = [
        net.op(
            top.SliceOp,
            f"s{i}",
            (product, net.none, net.none, net.none),
            axes=[2],
            offset=[i * width],
            ends=[(i + 1) * width],
            steps=[1],
        )
        for i in range(2)
    ]
    assert kinds(assert_same_numbers(net.module(*parts), CANONICALIZE)) == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("ReduceMean", "AvgPool"), ("ReduceMax", "MaxPool"), ("ReduceSum", "Reduce")],
)
@pytest.mark.parametrize("keepdims", [True, False])
def test_reduction_over_the_image_is_a_pool(mode: str, expected: str, keepdims: bool) -> None:
    net = Net()
    y = net.op(
        top.ReduceOp,
        "y",
        (net.input("x", 2, 3, 4, 5),),
        axes=[-2, -1],
        keepdims=keepdims,
        mode=mode,
    )
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == [expected]


def test_reduction_of_single_elements_is_a_reshape() -> None:
    for mode, expected in (("ReduceMean", "Reshape"), ("ReduceL2", "Reduce")):
        net = Net()
        y = net.op(
            top.ReduceOp, "y", (net.input("x", 4, 1, 6),), axes=[1], keepdims=False, mode=mode
        )
        assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == [expected]


@pytest.mark.parametrize("keepdims", [True, False])
def test_reductions_of_neighbouring_axes_are_one(keepdims: bool) -> None:
    net = Net()
    x = net.op(
        top.ReduceOp,
        "r1",
        (net.input("x", 2, 3, 4, 5),),
        axes=[2],
        keepdims=keepdims,
        mode="ReduceSum",
    )
    y = net.op(top.ReduceOp, "y", (x,), axes=[1], keepdims=keepdims, mode="ReduceSum")
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Reduce"]


def test_reductions_of_axes_apart_stay() -> None:
    net = Net()
    x = net.op(
        top.ReduceOp, "r1", (net.input("x", 2, 3, 4, 5),), axes=[3], keepdims=True, mode="ReduceSum"
    )
    y = net.op(top.ReduceOp, "y", (x,), axes=[1], keepdims=True, mode="ReduceSum")
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Reduce", "Reduce"]


def test_reduction_reads_through_a_permute() -> None:
    for order, expected in (([0, 2, 3, 1], 1), ([3, 2, 1, 0], 2)):
        net = Net()
        x = net.op(top.PermuteOp, "p", (net.input("x", 2, 3, 4, 5),), order=order)
        y = net.op(top.ReduceOp, "y", (x,), axes=[1, 2], keepdims=False, mode="ReduceSum")
        assert len(kinds(assert_same_numbers(net.module(y), CANONICALIZE))) == expected


def pad(
    net: Net, x: SSAValue, value: float = 0.0, counts: Sequence[int] = (0, 0, 1, 2, 0, 0, 2, 1)
) -> SSAValue:
    return net.op(top.PadOp, "pad", (x,), paddings=list(counts), val=value, mode="constant")


def test_pad_goes_into_the_conv() -> None:
    for value, count in ((0.0, 1), (1.0, 2)):
        net = Net()
        x = pad(net, net.input("x", 1, 3, 6, 6), value)
        y = conv(net, "c", x, net.weight("w", 4, 3, 3, 3), pads=[1, 0, 0, 1])
        assert len(kinds(assert_same_numbers(net.module(y), CANONICALIZE))) == count


@pytest.mark.parametrize(("third", "count"), [(top.ConvOp, 3), (top.ReluOp, 4)])
def test_pad_goes_into_all_its_convs_or_none(third: type[NamedOp], count: int) -> None:
    net = Net()
    x = pad(net, net.input("x", 1, 3, 6, 6))
    weights = [net.weight(f"w{i}", 3, 3, 2, 2) for i in range(3)]
    ys = [conv(net, f"c{i}", x, weights[i]) for i in range(2)]
    if third is top.ConvOp:
        ys.append(conv(net, "c2", x, weights[2]))
    else:
        ys.append(net.op(third, "r", (x,)))
    assert len(kinds(assert_same_numbers(net.module(*ys), CANONICALIZE))) == count


def test_pad_of_channels_stays() -> None:
    net = Net()
    x = pad(net, net.input("x", 1, 2, 6, 6), counts=(0, 1, 0, 0, 0, 0, 0, 0))
    y = conv(net, "c", x, net.weight("w", 4, 3, 3, 3))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Pad", "Conv"]


@pytest.mark.parametrize(
    ("kind", "relu", "counts", "merged"),
    [
        (top.AvgPoolOp, False, False, True),
        (top.MaxPoolOp, False, False, False),
        (top.MaxPoolOp, True, False, True),
    ],
)
def test_pad_goes_into_a_pool_when_it_means_the_same(
    kind: type[NamedOp], relu: bool, counts: bool, merged: bool
) -> None:
    net = Net()
    x = net.input("x", 1, 3, 6, 6)
    if relu:
        x = net.op(top.ReluOp, "relu", (x,))
    y = net.op(
        kind,
        "y",
        (pad(net, x),),
        kernel_shape=[3, 3],
        strides=[1, 1],
        pads=[0, 0, 0, 0],
        count_include_pad=counts,
    )
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert ("Pad" not in kinds(after)) is merged


def test_pad_stays_before_an_average_that_skips_its_own_padding() -> None:
    net = Net()
    y = net.op(
        top.AvgPoolOp,
        "y",
        (pad(net, net.input("x", 1, 3, 6, 6)),),
        kernel_shape=[3, 3],
        strides=[1, 1],
        pads=[1, 1, 1, 1],
        count_include_pad=False,
    )
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Pad", "AvgPool"]


def test_weights_of_norms_get_the_rank_of_the_input() -> None:
    net = Net()
    x = net.input("x", 2, 5, 8)
    y = net.op(
        top.LayerNormOp,
        "ln",
        (x, net.weight("w", 8), net.weight("b", 8)),
        normalized_shape=[],
        axis=-1,
        eps=1e-5,
    )
    (op,) = ops_of(assert_same_numbers(net.module(y), CANONICALIZE), top.LayerNormOp)
    assert op.weight.type.get_shape() == (1, 1, 8)
    net = Net()
    y = net.op(
        top.GroupNormOp,
        "gn",
        (net.input("x", 2, 4, 3, 3), net.weight("w", 4), net.weight("b", 4)),
        num_groups=2,
        eps=1e-5,
    )
    (op,) = ops_of(assert_same_numbers(net.module(y), CANONICALIZE), top.GroupNormOp)
    assert op.bias.type.get_shape() == (1, 4, 1, 1)


@pytest.mark.parametrize("shape", [(2, 5, 12), (1, 4, 6, 7), (2, 3, 2, 5, 4)])
def test_an_instance_norm_is_a_group_norm(shape: tuple[int, ...]) -> None:
    net = Net()
    operands = (net.input("x", *shape), net.weight("w", shape[1]), net.weight("b", shape[1]))
    y = net.op(top.InstanceNormOp, "y", operands, eps=1e-5)
    (op,) = ops_of(assert_same_numbers(net.module(y), CANONICALIZE), top.GroupNormOp)
    assert op.num_groups.value.data == shape[1]
    assert shape_of(op.weight) == (1, shape[1], *(1 for _ in shape[2:]))


@pytest.mark.parametrize("pool", [top.MaxPoolOp, top.AvgPoolOp])
@pytest.mark.parametrize(("channels", "step"), [(1, 1), (1, 2), (3, 1), (3, 2)])
def test_windows_one_plane_deep_are_of_planes(
    pool: type[top.AvgPoolOp] | type[top.MaxPoolOp], channels: int, step: int
) -> None:
    net = Net()
    options = {"kernel_shape": [1, 3, 2], "strides": [step, 2, 1], "pads": [0, 1, 0, 0, 1, 1]}
    x = net.input("x", 2, channels, 7, 9, 8)
    y = net.op(pool, "y", (x,), do_relu=True, count_include_pad=True, **options)
    after = assert_same_numbers(net.module(y), "canonicalize")
    assert [kind for kind in kinds(after) if kind != "Reshape"] == [
        *["Slice"] * (step > 1),
        pool.name.removeprefix("top."),
    ]
    (made,) = ops_of(after, pool)
    assert len(shape_of(made.output)) == 4
