"""Convolutions; filters may be plain or already in the chip's layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.elements import element_bytes
from xdsl_tpu.dialects.interpreters.layouts import FilterShape, restore_conv_filter
from xdsl_tpu.dialects.interpreters.numerics.convolution import ConvGeometry, conv, deconv
from xdsl_tpu.dialects.interpreters.numerics.windows import same_pads
from xdsl_tpu.dialects.interpreters.registry import Rules
from xdsl_tpu.dialects.lanes import USUAL_ROW

Array = npt.NDArray[Any]


def resolve_pads(
    call: Call, sizes: Sequence[int], strides: Sequence[int], reach: Sequence[int]
) -> list[int]:
    """The `pads` attribute, or what `auto_pad` asks for windows that span `reach` elements."""
    auto = call.text("auto_pad") if call.has("auto_pad") else "NOTSET"
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        return same_pads(sizes, strides, reach, upper=auto == "SAME_UPPER")
    return [0] * (2 * len(strides)) if auto == "VALID" else call.integers("pads")


def _geometry(call: Call, x: Array) -> ConvGeometry:
    strides = call.integers("strides")
    kernel = call.integers("kernel_shape")
    dilations = call.integers("dilations") or [1] * len(strides)
    if call.has("coeff_merged") and call.flag("coeff_merged"):
        raise ValueError("quantised filters (coeff_merged) have no interpreter semantics yet")
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
    pads = resolve_pads(call, x.shape[2 : 2 + len(strides)], strides, reach)
    return ConvGeometry(strides, pads, dilations, call.integer("group"))


def _plain_filter(call: Call, x: Array) -> Array:
    """The filter as `[oc, ic/group, kh, kw]`, undoing the chip's layout if it has it."""
    filter_ = call.tensor(1)
    shape, kernel = call.shape(), call.integers("kernel_shape")
    group = call.integer("group")
    if shape is None or len(kernel) != 2:
        return filter_
    plain = FilterShape(shape[1], x.shape[1] // group, kernel[0], kernel[1])
    if filter_.shape == (plain.oc, plain.ic, plain.kh, plain.kw):
        return filter_
    width = element_bytes(call.op.operands[1].type)
    use_3ic = call.integer("use_3ic_optimize")
    return restore_conv_filter(filter_, plain, width, filter_row(call), group, use_3ic)


def filter_row(call: Call) -> int:
    """Bytes of input channels that lie side by side in a filter in the chip's layout."""
    row: int | None = call.attribute("filter_row")
    return USUAL_ROW if row is None else int(row)


def _with_trailing_ones(x: Array, rank: int) -> Array:
    """A 1-D convolution written with 2-D attributes keeps tensors of rank 3."""
    return x.reshape(*x.shape, *(1,) * (rank - x.ndim))


def spread_input(call: Call) -> Array:
    """The first operand, with zeros between its elements where `inserts` says so."""
    x = _with_trailing_ones(call.tensor(), 2 + len(call.integers("kernel_shape")))
    inserts = call.integers("inserts") if call.has("inserts") else []
    if not any(inserts):
        return x
    steps = [1, 1, *(gap + 1 for gap in inserts)]
    spread = [(n - 1) * step + 1 for n, step in zip(x.shape, steps, strict=True)]
    out = np.zeros(spread, x.dtype)
    out[tuple(slice(None, None, step) for step in steps)] = x
    return out


def convolution(call: Call) -> Array:
    """Input, filter `[oc, ic/group, *kernel]`, bias."""
    x = spread_input(call)
    out = conv(x, call.tensor(1), call.optional(2), _geometry(call, x))
    return call.shaped(out)


def tpu_convolution(call: Call) -> Array:
    """As `convolution`, with a filter in either layout."""
    x = spread_input(call)
    out = conv(x, _plain_filter(call, x), call.optional(2), _geometry(call, x))
    return call.shaped(out)


def transposed_convolution(call: Call) -> Array:
    """Input, filter `[oc, ic/group, *kernel]`, bias."""
    x = _with_trailing_ones(call.tensor(), 2 + len(call.integers("kernel_shape")))
    strides = call.integers("strides")
    dilations = call.integers("dilations") or [1] * len(strides)
    geometry = ConvGeometry(strides, call.integers("pads"), dilations, call.integer("group"))
    extra = call.integers("output_padding") or [0] * len(strides)
    return call.shaped(deconv(x, call.tensor(1), call.optional(2), geometry, extra))


RULES: Final[Rules] = {
    convolution: (top.ConvOp, tpu.Conv3DOp),
    tpu_convolution: (tpu.Conv2DOp,),
    transposed_convolution: (top.DeconvOp, tpu.DeconvOp, tpu.Deconv3DOp),
}
