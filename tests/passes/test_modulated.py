"""Filters that are constant but for factors of their channels: constant ones, the same numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import is_weight, shape_of

PASS = "canonicalize"
OUT, IN = 6, 5
WINDOW = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}


def reshaped(net: Net, name: str, value: SSAValue, *shape: int) -> SSAValue:
    return net.op(top.ReshapeOp, name, (value,), shape=list(shape))


def modulated(net: Net, kernel: Sequence[int] = (3, 3)) -> SSAValue:
    """A filter of five dimensions times one factor for each input channel."""
    style = reshaped(net, "style", net.input("s", 1, IN), 1, 1, IN, *(1 for _ in kernel))
    return net.op(top.MulOp, "m", (net.weight("w", 1, OUT, IN, *kernel), style))


def lengths(net: Net, value: SSAValue, axes: Sequence[int] = (2, 3, 4)) -> SSAValue:
    squares = net.op(top.MulOp, "squares", (value, value))
    return net.op(
        top.ReduceOp, "sums", (squares,), axes=list(axes), keepdims=True, mode="ReduceSum"
    )


def divided(net: Net, value: SSAValue) -> SSAValue:
    """A filter divided by its lengths, for each output channel."""
    inverse = net.op(top.RsqrtOp, "inverse", (lengths(net, value),))
    return net.op(top.MulOp, "d", (value, inverse))


def conv(net: Net, filters: SSAValue, bias: bool = False, **options: Any) -> SSAValue:
    given = (net.input("x", 1, IN, 6, 7), filters, net.weight("b", OUT) if bias else net.none)
    return net.op(top.ConvOp, "y", given, **{**WINDOW, "weight_is_coeff": 0, **options})


@pytest.mark.parametrize("do_relu", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("is_divided", [False, True])
def test_filters_become_constant(is_divided: bool, bias: bool, do_relu: bool) -> None:
    net = Net()
    made = modulated(net)
    made = reshaped(net, "f", divided(net, made) if is_divided else made, OUT, IN, 3, 3)
    y = conv(net, made, bias, do_relu=do_relu)
    after = assert_same_numbers(net.module(y), PASS, tolerance=1e-5)
    (found,) = ops_of(after, top.ConvOp)
    assert is_weight(found.filter)
    assert shape_of(found.filter) == (OUT, IN, 3, 3)
    assert not ops_of(after, top.ReduceOp)
    assert len(ops_of(after, top.MatMulOp)) == int(is_divided)


def test_permuted_and_turned_filters() -> None:
    """As of a transposed convolution: input channels first, and taps the other way round."""
    net = Net()
    style = reshaped(net, "style", net.input("s", 1, IN), IN, 1, 1, 1)
    made = net.op(top.MulOp, "m", (style, net.weight("w", IN, OUT, 3, 3)))
    made = net.op(top.PermuteOp, "p", (made,), order=[1, 0, 2, 3])
    back = net.weight("back", 3, values=np.array([2, 1, 0]))
    for axis in (2, 3):
        made = net.op(top.GatherOp, f"g{axis}", (made, back), axis=axis)
    made = net.op(top.MulConstOp, "half", (made,), const_val=0.5)
    after = assert_same_numbers(net.module(conv(net, made)), PASS, tolerance=1e-5)
    assert set(kinds(after)) <= {"Conv", "Reshape", "Mul", "Permute", "Scale"}
    assert is_weight(ops_of(after, top.ConvOp)[0].filter)


@pytest.mark.parametrize("factor", [(1, 1, 1, 3, 1), (1, OUT, IN, 1, 1)], ids=["taps", "matrix"])
def test_other_factors_stay(factor: tuple[int, ...]) -> None:
    net = Net()
    made = net.op(top.MulOp, "m", (net.weight("w", 1, OUT, IN, 3, 3), net.input("s", *factor)))
    y = conv(net, reshaped(net, "f", made, OUT, IN, 3, 3))
    after = assert_same_numbers(net.module(y), PASS)
    assert not is_weight(ops_of(after, top.ConvOp)[0].filter)


@pytest.mark.parametrize("axes", [(2, 3), (1, 3, 4), (1, 2, 3, 4)], ids=str)
def test_sums_over_other_axes(axes: tuple[int, ...]) -> None:
    """With several left, or none, or those of the factor: nothing changes, or the same numbers."""
    net = Net()
    module = net.module(lengths(net, modulated(net), axes))
    assert not ops_of(assert_same_numbers(module, PASS), top.MatMulOp)


def between_zeros(net: Net, value: SSAValue, steps: tuple[int, int], before: int = 0) -> SSAValue:
    """Zeros behind each pixel, as many as make `steps`."""
    _, channels, high, wide = 1, IN, 4, 3
    apart = reshaped(net, "apart", value, 1, channels, high, 1, wide, 1)
    counts = [0, 0, 0, before, 0, 0, 0, 0, 0, steps[0] - 1 - before, 0, steps[1] - 1]
    padded = net.op(top.PadOp, "padded", (apart,), paddings=counts, mode="constant", val=0.0)
    return reshaped(net, "zeros", padded, 1, channels, high * steps[0], wide * steps[1])


def strided(
    steps: tuple[int, int] = (2, 2),
    pads: Sequence[int] = (2, 2, 1, 1),
    before: int = 0,
    modulate: bool = False,
    group: int = 1,
) -> ModuleOp:
    net = Net()
    x = between_zeros(net, net.input("x", 1, IN, 4, 3), steps, before)
    filters = net.weight("w", OUT if group == 1 else IN, IN // group, 3, 3)
    if modulate:
        style = reshaped(net, "style", net.input("s", 1, IN), 1, IN, 1, 1)
        filters = net.op(top.MulOp, "m", (filters, style))
    bias = net.weight("b", OUT if group == 1 else IN)
    options = {**WINDOW, "pads": list(pads), "group": group}
    return net.module(net.op(top.ConvOp, "y", (x, filters, bias), do_relu=True, **options))


@pytest.mark.parametrize("group", [1, IN])
@pytest.mark.parametrize("steps", [(2, 2), (3, 2), (2, 1)], ids=str)
@pytest.mark.parametrize("pads", [(2, 2, 1, 1), (0, 1, 2, 0)], ids=str)
def test_zeros_between_pixels(steps: tuple[int, int], pads: Sequence[int], group: int) -> None:
    after = assert_same_numbers(strided(steps, pads, group=group), PASS, tolerance=1e-5)
    (found,) = ops_of(after, top.DeconvOp)
    assert shape_of(found.input) == (1, IN, 4, 3)


def test_factors_of_a_transposed_convolution() -> None:
    after = assert_same_numbers(strided(modulate=True), PASS, tolerance=1e-5)
    assert len(ops_of(after, top.DeconvOp)) == 1
    assert not ops_of(after, top.PadOp)


@pytest.mark.parametrize(
    "options", [{"pads": (3, 0, 0, 0)}, {"steps": (3, 2), "before": 1}], ids=str
)
def test_other_zeros_stay(options: dict[str, Any]) -> None:
    """More padding than a window reaches, or zeros in front of pixels, too."""
    assert not ops_of(assert_same_numbers(strided(**options), PASS), top.DeconvOp)
