"""Convolutions: a filter scale, and so a multiplier and shift, for every output channel."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interpreters.layouts import (
    MERGE_BOTH,
    MERGE_HEIGHT,
    FilterShape,
    choose_3ic,
    is_depthwise,
)
from xdsl_tpu.dialects.lanes import Lanes
from xdsl_tpu.passes.calibration.steps import (
    SIGNED_MAX,
    UNSIGNED_MAX,
    Step,
    result_element,
    step_of,
)
from xdsl_tpu.passes.joined_groups import cheapest_join
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import INT8, LoweringContext
from xdsl_tpu.passes.lowering.conv import can_insert, inserting
from xdsl_tpu.passes.lowering.int8.scales import (
    Array,
    least_scale,
    multipliers_and_shifts,
    round_half_away,
    saturate,
)
from xdsl_tpu.passes.lowering.int8.types import (
    I32,
    SI8,
    UI8,
    corrected_bias,
    given_scales,
    new_weight,
    numbers_of,
    unlimited,
)
from xdsl_tpu.passes.tensors import is_weight, required_name, shape_of

UNUSED = 1e-5
"""The scale of a filter without weights."""


def conv(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """conv(x, filter, bias) -> Conv2D(x, filter_i8, bias_int32) {multiplier, rshift}.

    Per output channel c, acc = sum(x_q * filter_q) + bias_q, and the result is
    (acc * multiplier[c]) >> rshift[c], which stands for w_scale[c] * in_scale / out_scale, plus the
    zero point of its type. That of the input, times the sum of a channel's filter, is taken from
    its bias.
    """
    assert isinstance(op, top.ConvOp)
    step = step_of(op.input, ctx.asymmetric)
    if (
        len(op.kernel_shape) > 2
        or not is_weight(op.filter)
        or step is None
        or _is_far(op, ctx.lanes)
    ):
        return None
    if _is_faster_in_f16(op, ctx.chip):
        return None
    return _in_8_bits(op, numbers_of(op.filter, ctx), step, ctx)


def deconv(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """deconv(x, filter, bias) -> Conv2D of x with zeros between its elements, as `conv`.

    None where a command cannot insert them, or 0 does not stand for zero.
    """
    assert isinstance(op, top.DeconvOp)
    step = step_of(op.input, ctx.asymmetric)
    plain = len(op.kernel_shape) == 2 and is_weight(op.filter) and op.group.value.data == 1
    windows, gaps = inserting(op)
    if not plain or step is None or step.zero_point or not can_insert(windows, gaps):
        return None
    turned = np.flip(numbers_of(op.filter, ctx), tuple(range(2, 2 + len(windows))))
    return _in_8_bits(
        op,
        np.ascontiguousarray(turned),
        step,
        ctx,
        kernel_shape=[w.kernel for w in windows],
        strides=[w.stride for w in windows],
        pads=[*(w.before for w in windows), *(w.after for w in windows)],
        dilations=[w.dilation for w in windows],
        inserts=gaps,
        output_padding=None,
    )


def _in_8_bits(
    op: top.ConvOp | top.DeconvOp,
    weights: Array,
    step: Step,
    ctx: LoweringContext,
    **changes: Any,
) -> Sequence[SSAValue] | None:
    """`op` with the numbers `weights` for its filter, on elements of `step`."""
    has_bias = not is_none(op.bias)
    if has_bias and not is_weight(op.bias):
        return None
    bias = corrected_bias(op, op.bias, len(weights), ctx)
    has_bias = bias is not None
    signed = has_bias or bool(step.zero_point) or float(weights.min(initial=0)) < 0
    scales = given_scales(op.filter, len(weights)) if signed else None
    if scales is None:
        least = None if bias is None else least_scale(bias, step.scale)
        scales = filter_scales(weights, signed, least)
    out_scale = result_element(op.output, ctx.asymmetric).scale
    multipliers, shifts = multipliers_and_shifts(scales * step.scale / out_scale)
    name = required_name(op)
    per_channel = scales.reshape(-1, *[1] * (weights.ndim - 1))
    stored = saturate(weights.astype(np.float64) / per_channel, signed)
    suffix, element = ("i8", SI8) if signed else ("u8", UI8)
    quantised_filter = new_weight(ctx, f"{name}_filter_{suffix}", stored, element)
    quantised_bias = op.bias
    if bias is None and step.zero_point:
        bias, has_bias = np.zeros(len(weights), np.float32), True
    if bias is not None:
        sums = stored.reshape(len(stored), -1).sum(axis=1, dtype=np.int64)
        exact = bias.astype(np.float64) / (scales * step.scale)
        units = round_half_away(exact - step.zero_point * sums)
        whole = np.clip(units, -(2**31), 2**31 - 1).astype(np.int32)
        shaped = whole.reshape(1, -1, *[1] * (weights.ndim - 2))
        quantised_bias = new_weight(ctx, f"{name}_bias_int32", shaped, I32)
    return build(
        op,
        ctx,
        tpu.Conv2DOp,
        (op.input, quantised_filter, quantised_bias),
        INT8,
        with_bias=has_bias,
        multiplier=multipliers,
        rshift=shifts,
        do_winograd=False,
        **unlimited(op),
        **changes,
    )


def filter_scales(weights: Array, signed: bool, least: Array | None = None) -> Array:
    """One scale for every output channel (the first axis), as doubles that are exact float32.

    A filter whose weights are all 8-bit integers over the same power of two up to 64 keeps them
    exactly. Otherwise the largest magnitude of a channel becomes 127 (255 without a sign), unless
    its scale would be smaller than `least`, for which its bias has no room.
    """
    channels, largest = int(weights.shape[0]), SIGNED_MAX if signed else UNSIGNED_MAX
    low, high = (-128, 127) if signed else (0, 255)
    doubles = weights.astype(np.float64)
    for exponent in range(7):
        scaled = doubles * 2.0**exponent
        if np.all(scaled == np.rint(scaled)) and scaled.min() >= low and scaled.max() <= high:
            return np.full(channels, 2.0**-exponent, np.float64)
    magnitudes: Array = np.abs(weights.reshape(channels, -1)).max(axis=1)
    scales: Array = np.where(magnitudes > 0, magnitudes / np.float32(largest), np.float32(UNUSED))
    if least is not None:
        scales = np.maximum(scales, least)
    return scales.astype(np.float32).astype(np.float64)


def _is_faster_in_f16(op: top.ConvOp, chip: Chip) -> bool:
    """Whether groups, which 8 bits can only do as filters of whole rounds of lanes with zeros
    between the groups, take less time in F16."""
    group, channels = op.group.value.data, shape_of(op.input)[1]
    filter_ = FilterShape.of(shape_of(op.filter))
    if group == 1 or is_depthwise(filter_, group) or channels <= chip.weight_lanes.channels(1):
        return False
    n, _, *image = shape_of(op.output)
    eight, half = (
        cheapest_join(filter_, group, width, n * math.prod(image), chip).cycles for width in (1, 2)
    )
    return eight > half


def _is_far(op: top.ConvOp, lanes: Lanes) -> bool:
    """Whether windows are farther apart, or reach farther out, than the 8-bit kernels can take.

    Rows that `weight-reorder` will merge need no stride. Columns can be any distance apart when
    their windows lie side by side.
    """
    strides, kernel, pads = ints(op.strides), ints(op.kernel_shape), ints(op.pads)
    dilations = () if op.dilations is None else ints(op.dilations)
    if max(pads, default=0) > LIMITS.padding or max(dilations, default=1) > LIMITS.dilation:
        return True
    if max(strides) <= LIMITS.window_stride:
        return False
    dilated = any(step != 1 for step in dilations)
    if len(kernel) < 2 or op.group.value.data > 1 or dilated:
        return True
    shape = shape_of(op.input)
    merged = choose_3ic(shape[1], kernel[0], kernel[1], 1, lanes) in (MERGE_BOTH, MERGE_HEIGHT)
    side_by_side = strides[1] == kernel[1] and not shape[3] % kernel[1] and not any(ints(op.pads))
    return not merged or (strides[1] > LIMITS.window_stride and not side_by_side)
