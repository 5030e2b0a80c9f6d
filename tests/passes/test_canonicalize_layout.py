"""Patterns that cut, join and repeat: what they make, and that numbers stay."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.names import name_of

CANONICALIZE = "canonicalize"


def sliced(
    net: Net, name: str, x: SSAValue, axis: int, bounds: tuple[int, int], step: int = 1
) -> SSAValue:
    """x[bounds[0]:bounds[1]:step] along one axis."""
    return net.op(
        top.SliceOp,
        name,
        (x, net.none, net.none, net.none),
        axes=[axis],
        offset=[bounds[0]],
        ends=[bounds[1]],
        steps=[step],
    )


# Slice, Split, Concat, Gather


def test_slice_of_everything_goes() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 6),))
    y = sliced(net, "y", x, 1, (0, 2**31))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Abs"]


@pytest.mark.parametrize("steps", [(1, 1), (2, 1), (2, 3)])
def test_slices_in_a_row_are_one(steps: tuple[int, int]) -> None:
    net = Net()
    x = sliced(net, "s1", net.input("x", 4, 30), 1, (1, 27), steps[0])
    y = sliced(net, "y", x, 1, (2, 9), steps[1])
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Slice"]


def test_slice_with_sliced_parts_is_cut_from_the_whole() -> None:
    net = Net()
    x = sliced(net, "s1", net.input("x", 4, 30), 1, (1, 27))
    parts = [sliced(net, f"y{i}", x, 1, (i, i + 3)) for i in (2, 7)]
    assert kinds(assert_same_numbers(net.module(*parts), CANONICALIZE)) == ["Slice", "Slice"]


def test_slice_that_is_a_result_as_well_stays() -> None:
    net = Net()
    x = sliced(net, "s1", net.input("x", 4, 30), 1, (1, 27))
    y = sliced(net, "y", x, 1, (2, 9))
    assert kinds(assert_same_numbers(net.module(x, y), CANONICALIZE)) == ["Slice", "Slice"]


def test_backwards_slice_is_a_reverse() -> None:
    net = Net()
    y = sliced(net, "y", net.input("x", 4, 6), 1, (-1, -(2**31)), -1)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Reverse"]


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize(
    ("kernel", "step", "shared", "expected"),
    [
        (1, 2, False, ["Conv"]),
        (3, 1, False, ["Conv"]),
        (1, 2, True, ["Conv", "Abs", "Conv"]),
        (3, 2, True, ["Conv", "Abs", "Slice"]),
        (1, 1, True, ["Conv", "Abs", "Slice"]),  # neighbours lie beside each other
    ],
)
def test_channels_that_nobody_reads_are_not_made(
    kernel: int, step: int, shared: bool, expected: list[str], has_bias: bool
) -> None:
    net = Net()
    weights = net.weight("w", 8, 3, kernel, kernel), net.weight("b", 8) if has_bias else net.none
    options = {"kernel_shape": [kernel] * 2, "strides": [1, 1], "pads": [kernel // 2] * 4}
    x = net.input("x", 1, 3, 8, 8)
    conv = net.op(top.ConvOp, "c", (x, *weights), do_relu=True, **options)
    others = [net.op(top.AbsOp, "other", (conv,))] if shared else []
    y = sliced(net, "y", conv, 1, (1, 7), step)
    assert kinds(assert_same_numbers(net.module(*others, y), CANONICALIZE)) == expected


@pytest.mark.parametrize("groups", [1, 2])
def test_filters_of_groups_stay_together(groups: int) -> None:
    net = Net()
    options = {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0] * 4, "group": groups}
    operands = net.input("x", 1, 4, 8, 8), net.weight("w", 8, 4 // groups, 1, 1), net.none
    y = sliced(net, "y", net.op(top.ConvOp, "c", operands, **options), 1, (0, 8), 2)
    expected = ["Conv"] if groups == 1 else ["Conv", "Slice"]
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == expected


@pytest.mark.parametrize(("bounds", "expected"), [((1, 9), ["Conv"]), ((2, 9), ["Conv", "Slice"])])
def test_cropped_conv_pads_less(bounds: tuple[int, int], expected: list[str]) -> None:
    net = Net()
    conv = net.op(
        top.ConvOp,
        "c",
        (net.input("x", 1, 3, 8, 8), net.weight("w", 4, 3, 3, 3), net.none),
        kernel_shape=[3, 3],
        strides=[1, 1],
        pads=[2, 1, 2, 1],
    )
    y = sliced(net, "y", conv, 3 if bounds[0] == 2 else 2, bounds)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == expected


@pytest.mark.parametrize("kernel", [(8,), (5, 4)])
@pytest.mark.parametrize("extra", [0, 1])
def test_cropped_deconv_pads_more(kernel: tuple[int, ...], extra: int) -> None:
    rank, net = len(kernel), Net()
    spatial = (9, 7)[:rank]
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 3, *spatial),))
    deconv = net.op(
        top.DeconvOp,
        "d",
        (x, net.weight("w", 4, 3, *kernel), net.weight("b", 4)),
        kernel_shape=list(kernel),
        strides=[3, 2][:rank],
        pads=[1, 0][:rank] + [2, 1][:rank],
        output_padding=[extra] * rank,
    )
    y = sliced(net, "y", deconv, 2, (2, -2))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Abs", "Deconv"]


@pytest.mark.parametrize(
    ("images", "expected"), [(1, ["Conv"]), (3, ["Reshape", "MatMul", "Reshape"])]
)
@pytest.mark.parametrize("with_bias", [False, True])
def test_filters_as_large_as_images(images: int, expected: list[str], with_bias: bool) -> None:
    net = Net()
    bias = net.weight("b", 4) if with_bias else net.none
    conv = net.op(
        top.ConvOp,
        "c",
        (net.input("x", images, 3, 5, 2), net.weight("w", 4, 3, 5, 2), bias),
        kernel_shape=[5, 2],
        strides=[5, 2],
        pads=[0] * 4,
        do_relu=True,
    )
    assert kinds(assert_same_numbers(net.module(conv), CANONICALIZE)) == expected


def test_split_is_slices() -> None:
    net = Net()
    x = net.input("x", 6, 4)
    parts = net.ops(top.SplitOp, ["a", "b", "c"], (x,), axis=0, num=3, split_size=[1, 2, 3])
    module = net.module(*parts)
    assert kinds(assert_same_numbers(module, CANONICALIZE)) == ["Slice"] * 3


def test_unpacked_and_packed_again() -> None:
    net = Net()
    rows = net.ops(top.UnpackOp, ["a", "b"], (net.input("x", 2, 6),), axis=0)
    y = net.op(top.PackOp, "y", rows, axis=0, values_count=2)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert "Unpack" not in kinds(after)
    assert "Pack" not in kinds(after)


def test_squeeze_pairs_go() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 1, 6),))
    x = net.op(top.SqueezeOp, "s", (x,), axes=[1])
    x = net.op(top.UnsqueezeOp, "u", (x,), axes=[1])
    y = net.op(top.SqueezeOp, "s2", (net.op(top.UnsqueezeOp, "u2", (x,), axes=[0]),), axes=[0])
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Abs"]


def test_unsqueeze_elsewhere_stays() -> None:
    net = Net()
    x = net.op(top.SqueezeOp, "s", (net.input("x", 4, 1, 6),), axes=[1])
    y = net.op(top.UnsqueezeOp, "u", (x,), axes=[0])
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Squeeze", "Unsqueeze"]


def test_neighbouring_slices_joined_are_one() -> None:
    net = Net()
    x = net.input("x", 4, 10)
    parts = [
        sliced(net, f"s{i}", x, 1, bounds) for i, bounds in enumerate(((1, 4), (4, 6), (6, 9)))
    ]
    y = net.op(top.ConcatOp, "y", parts, axis=1)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Slice"]


@pytest.mark.parametrize("second", [(5, 9), (0, 4)])
def test_slices_with_a_gap_or_rotated_stay(second: tuple[int, int]) -> None:
    net = Net()
    x = net.input("x", 4, 10)
    parts = [sliced(net, f"s{i}", x, 1, bounds) for i, bounds in enumerate(((4, 10), second))]
    y = net.op(top.ConcatOp, "y", parts, axis=1)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Slice", "Slice", "Concat"]


def test_concat_of_weights_and_of_one() -> None:
    net = Net()
    weights = net.op(top.ConcatOp, "c", (net.weight("w1", 2, 4), net.weight("w2", 3, 4)), axis=0)
    single = net.op(top.ConcatOp, "one", (net.input("x", 5, 4),), axis=0)
    y = net.op(top.AddOp, "y", (single, weights))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Add"]


@pytest.mark.parametrize(
    ("indices", "keepdims", "expected"),
    [
        ([2.0], True, ["Slice"]),
        ([-1.0], False, ["Slice", "Squeeze"]),
        ([1.0, 3.0, 5.0], True, ["Slice"]),
        ([1.0, 3.0, 4.0], True, ["Gather"]),
        ([3.0, 2.0], True, ["Gather"]),
    ],
)
def test_gather_of_known_indices(indices: list[float], keepdims: bool, expected: list[str]) -> None:
    net = Net()
    operands = (net.input("x", 3, 6), net.weight("i", values=indices))
    y = net.op(top.GatherOp, "y", operands, axis=1, keepdims=keepdims)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == expected


def test_result_keeps_its_name_when_its_op_goes() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 6),))
    y = net.op(top.MulConstOp, "y", (x,), const_val=1.0)
    (left,) = ops_of(assert_same_numbers(net.module(y), CANONICALIZE), top.AbsOp)
    assert name_of(left) == "y"


# Expand, Tile, resizing, rotation


@pytest.mark.parametrize(
    ("shape", "target", "expected"),
    [
        ((4, 6), [4, 6], ["Abs"]),
        ((6,), [4, 6], ["Abs", "Reshape", "Tile"]),
        ((6,), [1, 6], ["Abs", "Reshape"]),
    ],
)
def test_expand(shape: tuple[int, ...], target: list[int], expected: list[str]) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *shape),))
    y = net.op(top.ExpandOp, "y", (x,), shape=target)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == expected


def test_tiles_are_one_or_none() -> None:
    net = Net()
    x = net.op(top.TileOp, "t1", (net.input("x", 2, 3),), tile=[1, 2])
    x = net.op(top.TileOp, "t2", (x,), tile=[3, 1])
    y = net.op(top.TileOp, "y", (x,), tile=[1, 1])
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Tile"]


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize(
    ("tile", "axes", "expected"),
    [
        ([1, 1, 5], [1], ["Reduce", "MaxConst", "Tile"]),
        ([3, 1, 5], [1], ["Reduce", "MaxConst", "Tile"]),
        ([3, 1, 5], [-1], ["Tile", "Reduce", "MaxConst"]),
    ],
)
def test_what_is_repeated_is_computed_once(
    tile: list[int], axes: list[int], expected: list[str], keepdims: bool
) -> None:
    """A mask's sum, as means of sentences divide by it; not along what is repeated."""
    net = Net()
    x = net.op(top.TileOp, "t", (net.input("x", 2, 7, 1),), tile=tile)
    x = net.op(top.ReduceOp, "r", (x,), axes=axes, keepdims=keepdims, mode="ReduceSum")
    y = net.op(top.MaxConstOp, "y", (x,), const_val=0.5)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == expected


@pytest.mark.parametrize("tile", [[1, 1, 5, 1], [2, 3, 1, 1], [2, 1, 5, 3]])
def test_what_is_repeated_changes_its_order_before(tile: list[int]) -> None:
    """Also where the Permute moves what is repeated, and where that is longer than 1."""
    net = Net()
    x = net.op(top.TileOp, "t", (net.input("x", 4, 2, 1, 3),), tile=tile)
    y = net.op(top.PermuteOp, "y", (x,), order=[2, 0, 3, 1])
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Permute", "Tile"]


@pytest.mark.parametrize(
    ("kind", "column", "counts", "expected"),
    [
        (top.MulOp, (1, 4, 1), [1, 1, 6], ["Mul"]),
        (top.SubOp, (1, 1, 1), [1, 4, 6], ["Sub"]),
        (top.DivOp, (1, 4, 2), [1, 1, 3], ["Tile", "Div"]),
        (top.MaxOp, (1, 4, 1), [3, 1, 6], ["Tile", "Max"]),
    ],
)
def test_readers_stretch_what_a_tile_repeats(
    kind: type[top.MulOp], column: tuple[int, ...], counts: list[int], expected: list[str]
) -> None:
    net = Net()
    tile = net.op(top.TileOp, "t", (net.input("y", *column),), tile=counts)
    y = net.op(kind, "m", (net.input("x", 1, 4, 6), tile))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == expected


@pytest.mark.parametrize(
    ("mode", "scale", "expected"),
    [
        ("nearest", 2.0, ["Upsample"]),
        ("nearest", 1.5, ["Interp"]),
        ("linear", 2.0, ["Interp"]),
        ("linear", 1.0, []),
    ],
)
def test_resizing(mode: str, scale: float, expected: list[str]) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, 2, 4, 6),))
    y = net.op(
        top.InterpOp,
        "y",
        (x, net.none),
        mode=mode,
        coord_mode="asymmetric",
        scale_h=scale,
        scale_w=scale,
    )
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Abs", *expected]


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ([0, 1, 0, 0], [0, 0, 2, 0], 1),
        ([0, 2, 0, 0], [0, 2, 0, 0], 1),
        ([0, 1, 1, 0], [0, 0, 0, 2], 2),
    ],
)
def test_rotations(first: list[int], second: list[int], count: int) -> None:
    net = Net()
    x = net.op(top.SwapDimInnerOp, "s1", (net.input("x", 1, 3, 4, 5),), offset=first)
    y = net.op(top.SwapDimInnerOp, "y", (x,), offset=second)
    assert len(kinds(assert_same_numbers(net.module(y), CANONICALIZE))) == count
