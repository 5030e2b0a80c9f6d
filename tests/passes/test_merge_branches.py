"""Convolutions of one image that are added up are one: the same numbers, and where it ends."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.passes.semantics import (
    Net,
    assert_same_numbers,
    compiled,
    ops_of,
    random_inputs,
    run,
)
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.calibration.ranges import Range, set_range
from xdsl_tpu.passes.merge_branches import merge_in_floats
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import functions

PASS = "merge-branches"
C, SIZE = 6, 9


def conv(
    net: Net,
    name: str,
    image: SSAValue,
    kernel: Sequence[int] = (3, 3),
    pads: Sequence[int] = (1, 1, 1, 1),
    *,
    group: int = 1,
    strides: Sequence[int] = (1, 1),
    dilations: Sequence[int] = (1, 1),
    bias: bool = True,
    do_relu: bool = False,
) -> SSAValue:
    filters = net.weight(f"{name}_w", C, C // group, *kernel)
    given = (image, filters, net.weight(f"{name}_b", C) if bias else net.none)
    window = {"kernel_shape": kernel, "strides": strides, "pads": pads, "dilations": dilations}
    return net.op(top.ConvOp, name, given, group=group, do_relu=do_relu, **window)


def image_of(net: Net, size: int = SIZE) -> SSAValue:
    return net.op(top.AbsOp, "x", (net.input("i", 2, C, size, size),))


def left(net: Net, *branches: SSAValue, do_relu: bool = False) -> tuple[top.ConvOp, ...]:
    """The convolutions that are left of a sum."""
    total = net.op(top.AddOp, "y", branches, do_relu=do_relu)
    after = assert_same_numbers(net.module(total), PASS)
    convs = ops_of(after, top.ConvOp)
    assert bool(ops_of(after, top.AddOp)) == (len(convs) > 1)
    return tuple(convs)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [8, 9])
@pytest.mark.parametrize("group", [1, 2, C])
def test_a_point_beside_a_window_becomes_its_middle(stride: int, size: int, group: int) -> None:
    net = Net()
    x = image_of(net, size)
    strides = (stride, stride)
    one = conv(net, "a", x, group=group, strides=strides)
    other = conv(net, "b", x, (1, 1), (0, 0, 0, 0), group=group, strides=strides, bias=False)
    (merged,) = left(net, one, other, do_relu=True)
    assert ints(merged.kernel_shape) == (3, 3)
    assert ints(merged.pads) == (1, 1, 1, 1)
    assert merged.group.value.data == group
    assert merged.do_relu.value.data


@pytest.mark.parametrize("group", [1, 3, C])
def test_the_image_itself_and_a_scale_of_it_are_filters(group: int) -> None:
    net = Net()
    x = image_of(net)
    scale = net.op(top.ScaleOp, "s", (x, net.weight("f", 1, C, 1, 1), net.weight("g", 1, C, 1, 1)))
    sums = net.op(top.AddOp, "sums", (scale, conv(net, "a", x, group=group)))
    assert len(left(net, x, sums)) == 1


def test_depthwise_filters_of_two_sizes_are_one() -> None:
    net = Net()
    x = image_of(net)
    wide = conv(net, "a", x, (5, 5), (2, 2, 2, 2), group=C)
    (merged,) = left(net, conv(net, "b", x, group=C), wide)
    assert ints(merged.kernel_shape) == (5, 5)


def test_filters_of_the_same_dilation_meet() -> None:
    net = Net()
    x = image_of(net)
    far = conv(net, "a", x, pads=(2, 2, 2, 2), dilations=(2, 2))
    (merged,) = left(net, far, conv(net, "b", x, (1, 1), (0, 0, 0, 0)))
    assert ints(merged.dilations or ()) == (2, 2)
    assert ints(merged.pads) == (2, 2, 2, 2)


def test_taps_that_do_not_meet_stay() -> None:
    net = Net()
    x = image_of(net)
    far = conv(net, "a", x, pads=(2, 2, 2, 2), dilations=(2, 2))
    assert len(left(net, far, conv(net, "b", x))) == 2


def test_what_would_need_more_products_stays() -> None:
    """A line beside a column spans a square; a depthwise window beside points of all channels is a
    window of all channels."""
    net = Net()
    x = image_of(net)
    line = conv(net, "a", x, (1, 5), (0, 2, 0, 2))
    assert len(left(net, line, conv(net, "b", x, (5, 1), (2, 0, 2, 0)))) == 2
    net = Net()
    x = image_of(net)
    points = conv(net, "a", x, (1, 1), (0, 0, 0, 0))
    assert len(left(net, points, conv(net, "b", x, group=C))) == 2


def test_branches_that_end_with_a_relu_or_are_read_elsewhere_stay() -> None:
    net = Net()
    x = image_of(net)
    assert len(left(net, conv(net, "a", x, do_relu=True), conv(net, "b", x))) == 2
    net = Net()
    x = image_of(net)
    a = conv(net, "a", x)
    again = net.op(top.MulOp, "again", (a, net.op(top.AddOp, "y", (a, conv(net, "b", x)))))
    assert len(ops_of(assert_same_numbers(net.module(again), PASS), top.ConvOp)) == 2


def test_convolutions_of_other_images_stay() -> None:
    net = Net()
    x = image_of(net)
    other = net.op(top.SigmoidOp, "other", (x,))
    assert len(left(net, conv(net, "a", x), conv(net, "b", other))) == 2


def uneven(size: float, more: bool = False) -> ModuleOp:
    """An image beside filters of numbers up to `size`, with ranges; the sum beside points, too."""
    net = Net()
    x = image_of(net)
    values = np.random.default_rng(0).uniform(-size, size, (C, C, 3, 3))
    given = (x, net.weight("w", C, C, 3, 3, values=values), net.none)
    window = {"kernel_shape": (3, 3), "strides": (1, 1), "pads": (1,) * 4}
    added = net.op(top.AddOp, "y", (x, net.op(top.ConvOp, "a", given, **window)))
    if more:
        added = net.op(top.AddOp, "z", (added, conv(net, "b", x, (1, 1), (0, 0, 0, 0))))
    module = net.module(added)
    for op in module.walk():
        if isinstance(op, top.AbsOp | top.ConvOp | top.AddOp):
            set_range(op.results[0], Range(-4.0, 4.0))
    next(functions(module)).update_function_type()
    module.attributes["module.state"] = StringAttr("TOP_CALIBRATED")
    return module


@pytest.mark.parametrize(("size", "count"), [(0.01, 2), (1.0, 1)])
def test_8_bits_must_hold_the_sum(size: float, count: int) -> None:
    """One tap of 1 in a filter of small ones: its step is that of the 1, for all taps."""
    module = uneven(size)
    make_pass(PASS).apply(make_context(), module)
    assert len(ops_of(module, top.AddOp)) == count - 1


@pytest.mark.parametrize(
    ("others", "convs"),
    [
        ({}, 1),
        ({"a": "INT8"}, 2),
        ({"a": "BF16"}, 2),
        ({"y": "INT8"}, 2),
        ({"z": "INT8", "b": "INT8"}, 2),  # of three branches two are in floats
    ],
)
def test_floats_need_not_hold_it_in_8_bits(others: dict[str, str], convs: int) -> None:
    module = uneven(0.01, more=True)
    (func,) = functions(module)
    modes: dict[Operation, str] = {
        op: others.get(str(name_of(op)), "F16")
        for op in func.body.block.ops
        if isinstance(op, top.AbsOp | top.ConvOp | top.AddOp)
    }
    inputs = random_inputs(module, 0)
    (before,) = run(module, inputs)[1]
    merge_in_floats(func, modes)
    (after,) = run(module, inputs)[1]
    np.testing.assert_allclose(after, before, atol=1e-4)
    assert len(ops_of(module, top.ConvOp)) == convs
    left_over = [op for op in func.body.block.ops if isinstance(op, top.ConvOp | top.AddOp)]
    assert {op for op in modes if not isinstance(op, top.AbsOp)} == set(left_over)


@pytest.mark.parametrize(("names", "convs"), [("ay", 1), ("y", 2), ("", 2)])
def test_what_a_network_in_8_bits_does_in_floats_is_merged(
    names: str, convs: int, tmp_path: Path
) -> None:
    """Of a scale of the image and a convolution, those that the table has."""
    module = uneven(0.01)
    table = tmp_path / "table.qt"
    table.write_text("".join(f"{name} F16\n" for name in names) or "x F16\n")
    lowering = f'convert-top-to-tpu{{mode=INT8 chip=bm1684x by_need=true qtable="{table}"}}'
    after = compiled(module, f"{PASS},{lowering}")
    assert len(ops_of(after, tpu.Conv2DOp)) + len(ops_of(after, tpu.AddOp)) == convs
