"""Convolutions of large patches with rows as channels: the same numbers."""

from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import ModuleOp, StringAttr

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.tensors import shape_of

OPTIMIZE = "processor-top-optimize{disable=FarConv}"


def patches(mode: str = "F16", channels: int = 3, **options: Any) -> ModuleOp:
    given = {"kernel_shape": [32, 32], "strides": [32, 32], "pads": [0, 0, 0, 0]} | options
    net = Net()
    x = net.input("x", 1, channels, 64, 64)
    weight = net.weight("w", 64, channels, *given["kernel_shape"])
    conv = net.op(top.ConvOp, "y", (x, weight, net.weight("b", 64)), dilations=[1, 1], **given)
    module = net.module(conv)
    module.attributes["module.mode"] = StringAttr(mode)
    return module


@pytest.mark.parametrize(("channels", "fold"), [(3, 32), (4, 8), (5, 32)])
def test_rows_become_channels(channels: int, fold: int) -> None:
    (conv,) = ops_of(assert_same_numbers(patches(channels=channels), OPTIMIZE), top.ConvOp)
    assert shape_of(conv.input) == (1, channels * fold, 64 // fold, 64)
    assert ints(conv.kernel_shape) == (32 // fold, 32)
    assert ints(conv.strides) == (32 // fold, 32)


def test_paddings_and_overlapping_windows() -> None:
    module = patches(strides=[16, 16], pads=[8, 3, 16, 5])
    (conv,) = ops_of(assert_same_numbers(module, OPTIMIZE), top.ConvOp)
    assert ints(conv.kernel_shape) == (4, 32)
    assert ints(conv.strides) == (2, 16)
    assert ints(conv.pads) == (1, 3, 2, 5)


REFUSED = {
    "f32 is not multiplied by the matrix unit": patches("F32"),
    "rows of this kernel are merged as they are loaded": patches(
        kernel_shape=[16, 16], strides=[16, 16]
    ),
    "no channel of a unit is free": patches(channels=32),
    "nothing divides stride and kernel": patches(kernel_shape=[32, 32], strides=[31, 31]),
    "nothing divides the padding": patches(pads=[1, 0, 0, 0]),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_stays(why: str) -> None:
    (conv,) = ops_of(assert_same_numbers(REFUSED[why], OPTIMIZE), top.ConvOp)
    assert isinstance(conv.input.owner, top.InputOp)
