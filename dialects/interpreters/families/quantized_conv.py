"""Convolutions of quantised integers, with separate or with merged coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.coefficients import (
    CoefficientLayout,
    Coefficients,
    split_coefficients,
)
from xdsl_tpu.dialects.interpreters.elements import element_type, integer_dtype, is_integer
from xdsl_tpu.dialects.interpreters.families.convolution import filter_row, spread_input
from xdsl_tpu.dialects.interpreters.layouts import (
    FilterShape,
    is_depthwise,
    reordered_filter_shape,
    restore_conv_filter,
)
from xdsl_tpu.dialects.interpreters.numerics.convolution import ConvGeometry, conv
from xdsl_tpu.dialects.interpreters.numerics.integers import saturate, scaled
from xdsl_tpu.dialects.lanes import USUAL_WORDS, Lanes
from xdsl_tpu.dialects.quant import zero_point

Array = npt.NDArray[Any]


def convolution(call: Call) -> Array:
    """(input * filter + bias) under the scale of the result, by a factor per output channel.

    Padding is the zero point of the input, whose share in the sums is in the bias; that of the
    result is added, and part of merged coefficients.
    """
    if call.integer("kernel_zp"):
        raise ValueError("a zero point of the filter (kernel_zp) has no semantics")
    kernel, x = call.integers("kernel_shape"), spread_input(call)
    spread = call.has("inserts") and any(call.integers("inserts"))
    if spread and zero_point(call.op.operands[0].type):
        raise ValueError("zeros are inserted into the input (inserts) where 0 is another integer")
    filter_, parts = _coefficients(call, x)
    strides = call.integers("strides")
    dilations = call.integers("dilations") or [1] * len(strides)
    pads = call.integers("pads")
    if fill := zero_point(call.op.operands[0].type):
        ends = list(zip(pads[: len(kernel)], pads[len(kernel) :], strict=True))
        x = np.pad(x, [(0, 0), (0, 0), *ends], constant_values=fill)
        pads = [0] * len(pads)
    geometry = ConvGeometry(strides, pads, dilations, call.integer("group"))
    # f64 holds every partial sum of 8-bit products exactly.
    total = conv(x.astype(np.float64), filter_.astype(np.float64), parts.bias, geometry)
    values = call.shaped(_requantised(call, total, parts.requant))
    if call.flag("do_relu"):
        if call.number("relu_limit") >= 0:
            raise ValueError("a quantised relu has no limit but its type's (relu_limit)")
        if zero_point(call.op.results[0].type):
            raise ValueError("a quantised relu has no semantics where 0 is another integer")
        values = np.maximum(values, 0)
    element = element_type(call.op.results[0].type)
    if not is_integer(element):
        raise ValueError(f"quantised operands cannot give elements of {element}")
    return saturate(values, integer_dtype(element))


def _requantised(call: Call, total: Array, words: Array) -> Array:
    """Exact sums (f64) under the scale of the result, as whole numbers."""
    spread = (-1, *(1,) * (total.ndim - 2))
    if has_floats(call):
        factor, offset = (words.view(np.float32)[:, i].reshape(spread) for i in range(2))
        scaled_sums = total.astype(np.int64).astype(np.float32) * factor
        return np.rint(scaled_sums + offset).astype(np.int64)
    factor, shift, zero = (words[:, i].reshape(spread) for i in range(3))
    sums = total.astype(np.int64)
    return scaled(sums, factor, -shift.astype(np.int64), call.text("round_mode")) + zero


def has_floats(call: Call) -> bool:
    """Whether merged coefficients have a factor and an offset in f32 (`requant_floats`)."""
    return call.flag("coeff_merged") and call.has("requant_floats") and call.flag("requant_floats")


def _coefficients(call: Call, x: Array) -> tuple[Array, Coefficients]:
    """The filter `[oc, ic/group, *kernel]`, and all coefficients by channel."""
    if call.flag("coeff_merged"):
        return _merged(call, x)
    filter_, bias = call.tensor(1), call.optional(2)
    channels = filter_.shape[0]
    factors, shifts = call.integers("multiplier"), call.integers("rshift")
    if {len(factors), len(shifts)} != {channels}:
        raise ValueError(f"{channels} output channels need one multiplier and rshift each")
    zero = zero_point(call.op.results[0].type)
    words = [[factor, -shift, zero] for factor, shift in zip(factors, shifts, strict=True)]
    flat = None if bias is None else bias.reshape(-1)
    rows = filter_.reshape(channels, -1)
    return filter_, Coefficients(np.array(words, np.int64), flat, rows)


def _merged(call: Call, x: Array) -> tuple[Array, Coefficients]:
    shape, kernel = call.shape(), call.integers("kernel_shape")
    if shape is None or len(kernel) != 2:
        raise ValueError("merged coefficients belong to a 2-D convolution of known shape")
    group = call.integer("group")
    plain = FilterShape(shape[1], x.shape[1] // group, kernel[0], kernel[1])
    depthwise = is_depthwise(plain, group)
    use_3ic, row = call.integer("use_3ic_optimize"), filter_row(call)
    stored = reordered_filter_shape(plain, 1, row, group, use_3ic)
    merged, size = call.tensor(1), stored[2] * stored[3]
    words: int | None = call.attribute("requant_words")
    guess = Lanes(merged.shape[1], row, row, USUAL_WORDS if words is None else int(words))
    has_bias = call.flag("with_bias") and not has_floats(call)
    layout = CoefficientLayout(plain.oc, size, has_bias, depthwise, guess)
    parts = split_coefficients(merged, layout.fitted(merged.shape))
    rows = parts.filter.reshape(stored)
    return restore_conv_filter(rows, plain, 1, row, group, use_3ic), parts
