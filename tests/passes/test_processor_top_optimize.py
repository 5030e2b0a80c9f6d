"""What the chip does badly becomes what it does well, with the same numbers."""

from typing import Any

import pytest
from tests.passes.real_networks import apply
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.calibration.ranges import Range, range_of, set_range
from xdsl_tpu.passes.pipelines import STAGES
from xdsl_tpu.passes.tensors import shape_of

OPTIMIZE = "processor-top-optimize"


@pytest.mark.parametrize("bias", [True, False])
def test_scale_goes_into_the_conv(bias: bool) -> None:
    net = Net()
    operands = (
        net.input("x", 1, 3, 6, 6),
        net.weight("w", 4, 3, 3, 3),
        net.weight("b", 4) if bias else net.none,
    )
    x = net.op(top.ConvOp, "c", operands, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    scales = (net.weight("s", 1, 4, 1, 1), net.weight("t", 1, 4, 1, 1))
    y = net.op(top.ScaleOp, "y", (x, *scales), do_relu=True)
    assert kinds(assert_same_numbers(net.module(y), OPTIMIZE)) == ["Conv"]


def test_scale_behind_a_relu_is_a_conv_of_its_own() -> None:
    net = Net()
    x = net.op(
        top.ConvOp,
        "c",
        (net.input("x", 1, 3, 6, 6), net.weight("w", 4, 3, 3, 3), net.none),
        kernel_shape=[3, 3],
        strides=[1, 1],
        pads=[1, 1, 1, 1],
        do_relu=True,
    )
    y = net.op(top.ScaleOp, "y", (x, net.weight("s", 4), net.weight("t", 4)))
    after = assert_same_numbers(net.module(y), OPTIMIZE)
    assert kinds(after) == ["Conv", "Conv"]
    assert ops_of(after, top.ConvOp)[1].group.value.data == 4


def test_scale_of_three_dimensions() -> None:
    net = Net()
    y = net.op(top.ScaleOp, "y", (net.input("x", 2, 4, 7), net.weight("s", 4), net.weight("t", 4)))
    after = assert_same_numbers(net.module(y), OPTIMIZE)
    assert kinds(after) == ["Reshape", "Conv", "Reshape"]


def rows_conv(net: Net, *, relu: bool = False) -> SSAValue:
    weights = (net.weight("w", 6, 4, 3), net.weight("b", 6))
    window = {"kernel_shape": [3], "strides": [2], "pads": [1, 1]}
    return net.op(top.ConvOp, "y", (net.input("x", 2, 4, 9), *weights), do_relu=relu, **window)


@pytest.mark.parametrize("mode", ["F32", "F16"])
def test_convolution_of_rows_is_one_of_planes(mode: str) -> None:
    """Through all stages: `Conv1dTo2d` widens the kernel, `ConvRowsToPlanes` the tensors."""
    net = Net()
    passes = [name for stage in STAGES.values() for name in stage]
    passes[passes.index("processor-assign")] += f"{{mode={mode} chip=bm1684x}}"
    tolerance = {"F32": 1e-5, "F16": 3e-3}[mode]
    after = assert_same_numbers(net.module(rows_conv(net)), ",".join(passes), tolerance=tolerance)
    (conv,) = ops_of(after, tpu.Conv2DOp)
    assert shape_of(conv.input) == (2, 4, 9, 1)
    assert shape_of(conv.output) == (2, 6, 5, 1)


@pytest.mark.parametrize("more", [{}, {"output_padding": [1]}, {"pads": [0, 2]}])
def test_transposed_convolution_of_rows_is_one_of_planes(more: dict[str, Any]) -> None:
    net = Net()
    window = {"kernel_shape": [4], "strides": [2], "pads": [1, 1], "dilations": [1], **more}
    operands = (net.input("x", 2, 4, 9), net.weight("w", 6, 4, 4), net.weight("b", 6))
    module = net.module(net.op(top.DeconvOp, "y", operands, do_relu=True, **window))
    (made,) = ops_of(assert_same_numbers(module, OPTIMIZE), top.DeconvOp)
    assert shape_of(made.input) == (2, 4, 9, 1)


@pytest.mark.parametrize("relu", [False, True])
def test_scale_is_merged_before_rows_become_planes(relu: bool) -> None:
    net = Net()
    y = rows_conv(net, relu=relu)
    y = net.op(top.ScaleOp, "z", (y, net.weight("s", 6), net.weight("t", 6)))
    after = assert_same_numbers(net.module(y), f"canonicalize,{OPTIMIZE}")
    assert kinds(after).count("Conv") == 1 + relu
    assert {len(shape_of(conv.input)) for conv in ops_of(after, top.ConvOp)} == {4}


@pytest.mark.parametrize("coeff", [None, [1.0, 2.0, -3.0, 0.5]])
def test_add_of_four_is_three_adds(coeff: list[float] | None) -> None:
    net = Net()
    values = [net.input("x0", 1, 8), *(net.input(f"x{i}", 4, 8) for i in range(1, 4))]
    y = net.op(top.AddOp, "y", values, coeff=coeff, do_relu=True, relu_limit=0.5)
    assert kinds(assert_same_numbers(net.module(y), OPTIMIZE)) == ["Add"] * 3


@pytest.mark.parametrize("relu", [False, True])
def test_what_is_summed_before_the_end_has_its_own_range(relu: bool) -> None:
    """A relu at the end says nothing of it, nor does the range of the whole."""
    net = Net()
    reach = [Range(-1.0, 1.0), Range(0.0, 3.0), Range(-2.0, 2.0)]
    values = [net.op(top.TanhOp, f"t{i}", (net.input(f"x{i}", 1, 8),)) for i in range(3)]
    y = net.op(top.AddOp, "y", values, coeff=[1.0, -2.0, 1.0], do_relu=relu)
    module = net.module(net.op(top.TanhOp, "z", (y,)))
    for op, known in zip(ops_of(module, top.TanhOp), reach, strict=False):
        set_range(op.output, known)
    (whole,) = ops_of(module, top.AddOp)
    seen = Range(0.0, 2.5) if relu else Range(-4.0, 4.0)
    set_range(whole.output, seen)
    first, last = ops_of(apply(module, (OPTIMIZE, "")), top.AddOp)
    assert range_of(first.output) == Range(-7.0, 1.0)
    assert range_of(last.output) == seen


def test_division_by_a_root_is_a_product() -> None:
    net = Net()
    positive = net.op(top.ExpOp, "e", (net.input("z", 4, 1),))
    y = net.op(top.DivOp, "y", (net.input("x", 4, 8), net.op(top.SqrtOp, "r", (positive,))))
    assert kinds(assert_same_numbers(net.module(y), OPTIMIZE)) == ["Exp", "Rsqrt", "Mul"]


def test_square_needs_no_abs() -> None:
    net = Net()
    x = net.input("x", 4, 8)
    absolute = net.op(top.AbsOp, "a", (x,))
    y = net.op(top.MulOp, "y", (absolute, absolute))
    assert kinds(assert_same_numbers(net.module(y), OPTIMIZE)) == ["Mul"]
    net = Net()
    x = net.input("x", 4, 8)
    values = (net.op(top.AbsOp, "a", (x,)), net.op(top.AbsOp, "b", (net.input("z", 4, 8),)))
    assert kinds(assert_same_numbers(net.module(net.op(top.MulOp, "y", values)), OPTIMIZE)) == [
        "Abs",
        "Abs",
        "Mul",
    ]


@pytest.mark.parametrize(
    ("factor", "expected"), [(1.702, ["GELU"]), (1.6, ["MulConst", "Sigmoid", "Mul"])]
)
def test_quick_gelu(factor: float, expected: list[str]) -> None:
    net = Net()
    x = net.input("x", 4, 8)
    scaled = net.op(top.MulConstOp, "m", (x,), const_val=factor)
    y = net.op(top.MulOp, "y", (x, net.op(top.SigmoidOp, "s", (scaled,))))
    assert kinds(assert_same_numbers(net.module(y), OPTIMIZE, tolerance=1e-5)) == expected


@pytest.mark.parametrize("group", [2, 3])
def test_reshapes_around_a_permutation_of_channels(group: int) -> None:
    net = Net()
    x = net.input("x", 2, 12, 3, 5)
    a = net.op(top.ReshapeOp, "a", (x,), shape=[2, group, 12 // group, 15])
    b = net.op(top.PermuteOp, "b", (a,), order=[0, 2, 1, 3])
    y = net.op(top.ReshapeOp, "y", (b,), shape=[2, 12, 3, 5])
    after = assert_same_numbers(net.module(y), "processor-top-optimize")
    assert kinds(after) == ["ShuffleChannel"]


@pytest.mark.parametrize(("rows", "halves"), [(28, 2), (27, 1)])
def test_a_filter_that_fills_a_lane_is_applied_in_halves(rows: int, halves: int) -> None:
    """64 channels of 28 x 28 in f16 are 100 kB of 262; one row less are less than three eighths."""
    net = Net()
    operands = (net.input("x", 1, 64, 28, 28), net.weight("w", 2, 64, rows, 28), net.weight("b", 2))
    window = {"kernel_shape": [rows, 28], "strides": [1, 1], "pads": [0, 0, 0, 0]}
    y = net.op(top.ConvOp, "y", operands, do_relu=True, **window)
    after = assert_same_numbers(net.module(y), OPTIMIZE)
    assert len(ops_of(after, top.ConvOp)) == halves
    assert [bool(op.do_relu.value.data) for op in ops_of(after, top.AddOp)] == [True] * (halves - 1)


@pytest.mark.parametrize(
    ("kernel", "dilation", "pads", "group"),
    [((40, 3), 1, (0, 1, 0, 1), 1), ((5, 2), 6, (9, 0, 3, 0), 2), ((2, 1), 1, (0, 0, 0, 0), 2)],
    ids=["windows overlap", "dilated, in borders", "two rows of each block"],
)
def test_far_windows_see_blocks(
    kernel: tuple[int, int], dilation: int, pads: tuple[int, ...], group: int
) -> None:
    net = Net()
    operands = (net.input("x", 2, 4, 75, 6), net.weight("w", 6, 4 // group, *kernel), net.none)
    window = {"kernel_shape": kernel, "strides": [17, 1], "pads": pads, "dilations": [dilation, 1]}
    y = net.op(top.ConvOp, "y", operands, group=group, **window)
    after = assert_same_numbers(net.module(y), OPTIMIZE)
    (conv,) = ops_of(after, top.ConvOp)
    assert max(ints(conv.strides)) < 16


@pytest.mark.parametrize(("order", "axis"), [([0, 2, 1, 3], 2), ([2, 0, 1, 3], -1), ([1, 0, 2], 0)])
@pytest.mark.parametrize("relu", [False, True])
def test_permutes_of_one_order_are_joined_first(order: list[int], axis: int, relu: bool) -> None:
    net, rank = Net(), len(order)
    parts: list[SSAValue] = []
    for number in range(3):
        shape = [2, 3, 4, 5][:rank]
        shape[order[axis]] += number
        parts.append(
            net.op(top.PermuteOp, f"p{number}", (net.input(f"x{number}", *shape),), order=order)
        )
    y = net.op(top.ConcatOp, "y", parts, axis=axis, do_relu=relu)
    after = assert_same_numbers(net.module(y), OPTIMIZE)
    assert kinds(after) == ["Concat", "Permute"]
