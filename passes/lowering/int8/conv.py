"""Convolutions: a filter scale, and so a multiplier and shift, for every output channel."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

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
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.passes.calibration.steps import (
    SIGNED_MAX,
    UNSIGNED_MAX,
    Step,
    quantised,
    result_element,
    step_of,
)
from xdsl_tpu.passes.joined_groups import cheapest_join
from xdsl_tpu.passes.lowering.common import build
from xdsl_tpu.passes.lowering.context import INT8, LoweringContext
from xdsl_tpu.passes.lowering.conv import Convolution, can_insert, inserting, windows_of
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
from xdsl_tpu.passes.lowering.planes import Format, by_planes
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.tensors import element_of, is_weight, required_name, shape_of

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
    if not is_weight(op.filter) or step is None:
        return None
    if len(op.kernel_shape) > 2:
        return None if ctx.asymmetric else volume(op, step, ctx)
    if _steps_far(op, ctx.lanes) or _is_faster_in_f16(op, ctx.chip):
        return None
    if _reaches_far(op):
        windows = is_depthwise(FilterShape.of(shape_of(op.filter)), op.group.value.data)
        return None if step.zero_point or windows else _far(op, step, ctx)
    return _in_8_bits(op, numbers_of(op.filter, ctx), step, ctx)


@dataclass(frozen=True)
class _Quantised(Convolution):
    """A convolution of integers, whose filter and bias are `made`."""

    numbers: "Quantised"

    @property
    def made(self) -> Attribute:
        return result_element(self.do.op.results[0])

    def filter(self, weights: Array) -> SSAValue:
        name = f"{self.do.name}_filter_{self.numbers.suffix}"
        return new_weight(self.do.ctx, name, weights, self.numbers.element)

    def options(self) -> dict[str, Any]:
        op, numbers = self.do.op, self.numbers
        assert isinstance(op, top.ConvOp)
        scales = {"multiplier": numbers.multipliers, "rshift": numbers.shifts}
        return {**scales, "do_winograd": False, **unlimited(op)}


def _far(op: top.ConvOp, step: Step, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """A filter with taps or padding farther than a command can say, as in floats: zeros are
    written out, and taps that lie apart slide over images of every few rows and columns.

    Not a depthwise one, whose exact sums, four bytes wide, take twice as long as those in F16."""
    given = quantised(element_of(op.input)) or element_of(op.input)
    made = quantised_filter(op, numbers_of(op.filter, ctx), step, ctx)
    if made is None or not isinstance(given, UniformType):
        return None
    bias = ctx.none()
    if made.bias is not None:
        shaped = made.bias.reshape(1, -1, 1, 1)
        bias = new_weight(ctx, f"{required_name(op)}_bias_int32", shaped, I32)
    convolution = _Quantised(Steps(op, ctx), op.group.value.data, given, made)
    return [convolution.emit(op.input, made.filter, bias, windows_of(op))]


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
    made = quantised_filter(op, weights, step, ctx)
    if made is None:
        return None
    name, bias = required_name(op), op.bias
    filter_ = new_weight(ctx, f"{name}_filter_{made.suffix}", made.filter, made.element)
    if made.bias is not None:
        shaped = made.bias.reshape(1, -1, *[1] * (weights.ndim - 2))
        bias = new_weight(ctx, f"{name}_bias_int32", shaped, I32)
    return build(
        op,
        ctx,
        tpu.Conv2DOp,
        (op.input, filter_, bias),
        INT8,
        with_bias=made.bias is not None,
        multiplier=made.multipliers,
        rshift=made.shifts,
        do_winograd=False,
        **unlimited(op),
        **changes,
    )


class Quantised(NamedTuple):
    """A filter in 8 bits, and for each of its output channels the bias, in units of the sums, and
    what brings these to the result."""

    filter: Array
    element: IntegerType
    bias: Array | None
    multipliers: list[int]
    shifts: list[int]

    @property
    def suffix(self) -> str:
        """Of the names of weights."""
        return "i8" if self.element == SI8 else "u8"


def quantised_filter(
    op: top.ConvOp | top.DeconvOp, weights: Array, step: Step, ctx: LoweringContext
) -> Quantised | None:
    """The numbers `weights` for a filter on elements of `step`; None where the bias is computed."""
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
    per_channel = scales.reshape(-1, *[1] * (weights.ndim - 1))
    stored = saturate(weights.astype(np.float64) / per_channel, signed)
    whole: Array | None = None
    if bias is None and step.zero_point:
        bias = np.zeros(len(weights), np.float32)
    if bias is not None:
        sums = stored.reshape(len(stored), -1).sum(axis=1, dtype=np.int64)
        exact = bias.astype(np.float64) / (scales * step.scale)
        units = round_half_away(exact - step.zero_point * sums)
        whole = np.clip(units, -(2**31), 2**31 - 1).astype(np.int32)
    return Quantised(stored, SI8 if signed else UI8, whole, multipliers, shifts)


def volume(op: top.ConvOp, step: Step, ctx: LoweringContext) -> Sequence[SSAValue] | None:
    """A filter that slides over three dimensions: as in floats, planes are channels of one image,
    and each has the multipliers of its channels (`passes/lowering/planes.py`).

    None with groups, windows beyond what a command says, and unsigned results.
    """
    over, *plane = windows_of(op)
    far = any(
        max(w.before, w.after) > LIMITS.padding
        or w.dilation > LIMITS.dilation
        or w.stride > LIMITS.window_stride
        for w in plane
    )
    given = quantised(element_of(op.input)) or element_of(op.input)
    if op.group.value.data > 1 or far or not isinstance(given, UniformType):
        return None
    made = quantised_filter(op, numbers_of(op.filter, ctx), step, ctx)
    if made is None:
        return None
    do, name, result = Steps(op, ctx), required_name(op), result_element(op.output)

    def filter_(label: str, values: Array) -> SSAValue:
        return new_weight(ctx, f"{name}_{label}_{made.suffix}", values, made.element)

    def bias(count: int) -> SSAValue:
        if made.bias is None:
            return ctx.none()
        tiled = np.tile(made.bias, count).reshape(1, -1, 1, 1)
        return new_weight(ctx, f"{name}_bias{count}_int32", tiled, I32)

    def convolve(x: SSAValue, weights: SSAValue, added: SSAValue, label: str) -> SSAValue:
        images, _, *sizes = shape_of(x)
        count = shape_of(weights)[0]
        places = [w.positions(size) for w, size in zip(plane, sizes, strict=True)]
        return do.step(
            label,
            tpu.Conv2DOp,
            (x, weights, added),
            (images, count, *places),
            result,
            kernel_shape=[w.kernel for w in plane],
            strides=[w.stride for w in plane],
            pads=[*(w.before for w in plane), *(w.after for w in plane)],
            dilations=[w.dilation for w in plane],
            group=1,
            with_bias=made.bias is not None,
            do_relu=op.do_relu,
            multiplier=made.multipliers * (count // len(made.multipliers)),
            rshift=made.shifts * (count // len(made.shifts)),
            do_winograd=False,
            **unlimited(op),
        )

    kinds = Format(given, 1, result, filter_, bias)
    return [by_planes(do, op.input, made.filter, over, 0, kinds, convolve)]


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


def _reaches_far(op: top.ConvOp) -> bool:
    """Whether taps are farther apart, or windows reach farther out, than a command can say."""
    return any(
        window.is_far or max(window.before, window.after) > LIMITS.padding
        for window in windows_of(op)
    )


def _steps_far(op: top.ConvOp, lanes: Lanes) -> bool:
    """Whether windows are farther apart than the 8-bit kernels can take.

    Rows that `weight-reorder` will merge need no stride. Columns can be any distance apart when
    their windows lie side by side.
    """
    strides, kernel = ints(op.strides), ints(op.kernel_shape)
    dilations = () if op.dilations is None else ints(op.dilations)
    if max(strides) <= LIMITS.window_stride:
        return False
    dilated = any(step != 1 for step in dilations)
    if len(kernel) < 2 or op.group.value.data > 1 or dilated:
        return True
    shape = shape_of(op.input)
    merged = choose_3ic(shape[1], kernel[0], kernel[1], 1, lanes) in (MERGE_BOTH, MERGE_HEIGHT)
    side_by_side = strides[1] == kernel[1] and not shape[3] % kernel[1] and not any(ints(op.pads))
    return not merged or (strides[1] > LIMITS.window_stride and not side_by_side)
