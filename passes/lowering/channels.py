"""Reductions over channels, which lie over the lanes: without the way through DDR.

A reduction goes along what a lane holds. Over channels it can only go by way of DDR, where it ends
a layer group.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.passes.graph import has_shapes
from xdsl_tpu.passes.lowering.context import F32, INT8, LoweringContext
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import shape_of

_EXCHANGED = (0, 3, 2, 1)
"""Channels and columns change places: what the chip transposes within local memory."""


def over_channels(op: top.ReduceOp, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """What a reduction of floats over the channels of images becomes; None for any other."""
    if not has_shapes(op.input, op.output) or is_integer_tensor(op.input) or ctx.element == INT8:
        return None
    axes = ints(op.axes)
    if len(shape_of(op.input)) != 4 or len(axes) != 1 or axes[0] % 4 != 1:
        return None
    match op.mode.data:
        case "ReduceSum" | "ReduceMean":
            return _sum(op, ctx)
        case _:
            return _turned(op, ctx)


def _sum(op: top.ReduceOp, ctx: LoweringContext) -> Sequence[SSAValue]:
    """Reduce(x: NxCxHxW) {ReduceMean, axes = [1]} -> Conv2D(x) {1xCx1x1 filter of 1 / C}.

        Reduce  1x64x56x56 -> 1x1x56x56      ->      Conv2D  1x64x56x56, 1x64x1x1 -> 1x1x56x56

    The array sums over lanes. ReduceSum has a filter of ones.
    """
    do = Steps(op, ctx)
    batch, channels, *plane = shape_of(op.input)
    factor = 1 / channels if op.mode.data == "ReduceMean" else 1.0
    weight = do.weight("r_filter", np.full((1, channels, 1, 1), factor, np.float32), ctx.element)
    x = ctx.as_type(op.input, ctx.element)
    options: dict[str, Any] = {"kernel_shape": (1, 1), "strides": (1, 1), "pads": (0,) * 4}
    options |= {"group": 1, "with_bias": False}
    if op.keepdims.value.data:
        return [do.last(tpu.Conv2DOp, [x, weight], ctx.element, **options)]
    shape = (batch, 1, *plane)
    summed = do.step("r_conv", tpu.Conv2DOp, [x, weight], shape, ctx.element, **options)
    return [do.last(tpu.ReshapeOp, [summed], ctx.element, shape=shape_of(op.output))]


def is_over_channels(op: top.SoftmaxOp, chip: Chip) -> bool:
    """Whether a softmax is over channels, of which there are fewer than columns, or columns fill
    the lanes."""
    if not has_shapes(op.input) or is_integer_tensor(op.input):
        return False
    shape = shape_of(op.input)
    if len(shape) not in (3, 4) or op.axis.value.data % len(shape) != 1:
        return False
    fills = len(shape) == 4 and shape[-1] >= chip.lanes
    return shape[1] > 1 and (fills or shape[1] < shape[-1])


def softmax_over_channels(op: top.SoftmaxOp, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """Softmax(x) {axis = 1} -> Permute(Softmax(Permute(x)) {axis = 3}), as classes of pixels.

                                          Permute  1x21x256x192 -> 1x192x256x21
        Softmax  1x21x256x192       ->    Softmax  1x192x256x21
                                          Permute  1x192x256x21 -> 1x21x256x192

    So for its logarithm, as `log_softmax` makes it. None where columns would leave lanes idle that
    channels fill.
    """
    if not is_over_channels(op, ctx.chip) or ctx.element == INT8:
        return None
    shape = shape_of(op.input)
    order = _EXCHANGED if len(shape) == 4 else (0, 2, 1)
    do, element, last = Steps(op, ctx), ctx.element, len(shape) - 1
    seen = [shape[axis] for axis in order]
    x = ctx.as_type(op.input, element)
    turned = do.step("r_turned", tpu.PermuteOp, [x], seen, element, order=order)
    if op.log.value.data:
        shifted, total = _shifted_and_total(op, do, ctx.as_type(turned, F32), last)
        logs = do.step("r_rows", tpu.SubOp, [shifted, total], seen)
        return [do.last(tpu.PermuteOp, [ctx.as_type(logs, element)], element, order=order)]
    options: dict[str, Any] = {"axis": last, "beta": op.beta.value.data}
    rows = do.step("r_rows", tpu.SoftmaxOp, [turned], seen, element, **options)
    return [do.last(tpu.PermuteOp, [rows], element, order=order)]


def log_softmax(op: top.SoftmaxOp, ctx: LoweringContext) -> Sequence[SSAValue]:
    """Softmax(x) {log} -> x - max - ln(sum(exp(x - max))), in f32."""
    do, x = Steps(op, ctx), ctx.as_type(op.input, F32)
    axis = op.axis.value.data % len(shape_of(x))
    return [do.last(tpu.SubOp, _shifted_and_total(op, do, x, axis))]


def _shifted_and_total(
    op: top.SoftmaxOp, do: Steps, x: SSAValue, axis: int
) -> tuple[SSAValue, SSAValue]:
    """x - max, and the logarithm of the sum of its powers, of f32 numbers `x` along `axis`."""
    shape = shape_of(x)
    if op.beta.value.data != 1.0:
        x = do.step("beta", tpu.MulConstOp, [x], shape, const_val=op.beta.value.data)
    shifted = do.step("shifted", tpu.SubOp, [x, do.reduced("max", x, axis, "ReduceMax")], shape)
    power = do.step("exp", tpu.ActiveOp, [shifted], shape, mode=tpu.ActiveMode.EXP)
    total = do.reduced("sum", power, axis, "ReduceSum")
    log = do.step("log", tpu.ActiveOp, [total], shape_of(total), mode=tpu.ActiveMode.LN)
    return shifted, log


def _turned(op: top.ReduceOp, ctx: LoweringContext) -> Sequence[SSAValue]:
    """Reduce(x: NxCxHxW) {ReduceMax, axes = [1]} -> Permute(Reduce(Permute(x)) {axes = [3]}).

                                             Permute  1x64x56x48 -> 1x48x56x64
        Reduce  1x64x56x48 -> 1x1x56x48  ->  Reduce   1x48x56x64 -> 1x48x56x1
                                             Permute  1x48x56x1 -> 1x1x56x48

    A row of a lane then has all channels. Smallest elements and lengths are found likewise.
    """
    do, element = Steps(op, ctx), ctx.element
    batch, channels, height, width = shape_of(op.input)
    turned = do.step(
        "r_turned",
        tpu.PermuteOp,
        [ctx.as_type(op.input, element)],
        (batch, width, height, channels),
        element,
        order=_EXCHANGED,
    )
    largest = do.reduced("r_rows", turned, 3, op.mode.data, element)
    if op.keepdims.value.data:
        return [do.last(tpu.PermuteOp, [largest], element, order=_EXCHANGED)]
    shape = (batch, 1, height, width)
    back = do.step("r_back", tpu.PermuteOp, [largest], shape, element, order=_EXCHANGED)
    return [do.last(tpu.ReshapeOp, [back], element, shape=shape_of(op.output))]
