"""Convolutions over windows of whole planes as convolutions of images: the same numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.tensors import shape_of

OPTIMIZE = "processor-top-optimize"


def film(mode: str = "F16", outputs: int = 192, depth: int = 8, **options: Any) -> ModuleOp:
    given = {"kernel_shape": [2, 8, 8], "strides": [2, 8, 8], "pads": [0] * 6} | options
    net = Net()
    x = net.input("x", 2, 3, depth, 24, 16)
    weight = net.weight("w", outputs, 3, *given["kernel_shape"])
    operands = (x, weight, net.weight("b", outputs))
    conv = net.op(top.ConvOp, "y", operands, dilations=[1, 1, 1], do_relu=True, **given)
    module = net.module(conv)
    module.attributes["module.mode"] = StringAttr(mode)
    return module


@pytest.mark.parametrize("mode", ["F32", "F16", "INT8"])
def test_windows_become_images(mode: str) -> None:
    (conv,) = ops_of(assert_same_numbers(film(mode), OPTIMIZE), top.ConvOp)
    assert shape_of(conv.input)[0] == 2 * 4
    assert len(ints(conv.kernel_shape)) == 2


def test_paddings_within_planes_and_single_planes() -> None:
    module = film(kernel_shape=[1, 8, 8], strides=[1, 4, 4], pads=[0, 3, 2, 0, 1, 5])
    (conv,) = ops_of(assert_same_numbers(module, OPTIMIZE), top.ConvOp)
    assert shape_of(conv.input) == (16, 3, 24, 16)
    assert ints(conv.pads) == (3, 2, 1, 5)
    assert ints(conv.strides) == (4, 4)


REFUSED = {
    "windows overlap": film(strides=[1, 8, 8]),
    "planes of padding": film(pads=[2, 0, 0, 2, 0, 0]),
    "a plane is left over": film(depth=9),
    "one window": film(depth=2),
    "several planes fill the lanes": film(
        outputs=8, kernel_shape=[1, 3, 3], strides=[1, 1, 1], pads=[0, 1, 1, 0, 1, 1]
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_stays(why: str) -> None:
    (conv,) = ops_of(assert_same_numbers(REFUSED[why], OPTIMIZE), top.ConvOp)
    assert len(ints(conv.kernel_shape)) == 3


def block(behind: list[int], group: int, *, before: bool = False) -> ModuleOp:
    """A convolution of each pixel, of as many cycles either way, and a convolution with windows of
    `behind`, one after the other (the other way round `before`), with a Relu between."""
    net = Net()
    value = net.input("x", 1, 64, 4, 40, 40)

    def convolved(name: str, x: SSAValue, window: list[int], groups: int) -> SSAValue:
        operands = (x, net.weight(f"{name}_w", 64, 64 // groups, *window), net.none)
        pads = [size // 2 for size in window] * 2
        given = {"kernel_shape": window, "pads": pads, "strides": [1] * 3, "dilations": [1] * 3}
        return net.op(top.ConvOp, name, operands, group=groups, **given)

    steps = [("pixels", [1, 1, 1], 1), ("behind", behind, group)]
    for name, window, groups in reversed(steps) if before else steps:
        value = net.op(top.ReluOp, f"{name}_r", (convolved(name, value, window, groups),))
    module = net.module(value)
    module.attributes["module.mode"] = StringAttr("F16")
    return module


def of_pixels(module: ModuleOp) -> top.ConvOp:
    """The convolution of each pixel, behind the pass."""
    found = ops_of(assert_same_numbers(module, OPTIMIZE), top.ConvOp)
    (conv,) = (one for one in found if {*ints(one.kernel_shape)} == {1})
    return conv


@pytest.mark.parametrize("before", [False, True])
def test_what_is_beside_decides_where_both_take_as_long(before: bool) -> None:
    """Depthwise volumes are images, what looks at several planes wants them as channels."""
    assert len(shape_of(of_pixels(block([3, 3, 3], 64, before=before)).input)) == 4
    assert len(shape_of(of_pixels(block([3, 3, 3], 1, before=before)).input)) == 5
    assert len(shape_of(of_pixels(block([1, 3, 3], 1, before=before)).input)) == 4
