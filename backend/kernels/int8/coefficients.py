"""Coefficients of a quantised convolution in local memory, and the commands that use them.

docs/hardware/instructions.md#sconv, docs/hardware/instructions.md#srq_dq.
"""

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import BoolAttr

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter, Rounding, Scale, Window
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.int8.requant import clamp_low, rounding_of
from xdsl_tpu.backend.kernels.lanes import one_window_a_row
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned, compact
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import NoKernel, TpuError
from xdsl_tpu.dialects.interpreters.coefficients import CoefficientLayout
from xdsl_tpu.dialects.interpreters.layouts import (
    FilterShape,
    is_depthwise,
    reordered_filter_shape,
)
from xdsl_tpu.dialects.quant import zero_point
from xdsl_tpu.dialects.tpu.op import declared_shape


@dataclass(frozen=True, slots=True)
class Filter:
    """What a quantised convolution is, apart from its tensors; `fill` is its padding. With
    `floats` its words of requantisation are a factor and an offset."""

    layout: CoefficientLayout
    kernel: tuple[int, int]
    dtype: DType
    rounding: Rounding
    relu: bool
    fill: int = 0
    floats: bool = False

    @property
    def depthwise(self) -> bool:
        """Whether each channel has a filter of its own."""
        return self.layout.depthwise


def layout_of(op: tpu.Conv2DOp, chip: Chip) -> CoefficientLayout:
    """How the coefficients of a convolution lie in the lanes."""
    height, width = (*ints(op.kernel_shape), 1)[:2]
    oc, group, of_chip = declared_shape(op.output)[1], op.group.value.data, chip.weight_lanes
    plain = FilterShape(oc, op.shape_of(op.input)[1] // group, height, width)
    row = reordered_filter_shape(plain, 1, of_chip.row, group, op.use_3ic_optimize.value.data)
    depthwise = is_depthwise(plain, group)
    has_bias = _flag(op.with_bias) and not bool(op.requant_floats)
    return CoefficientLayout(oc, row[2] * row[3], has_bias, depthwise, of_chip)


def filter_of(op: tpu.Conv2DOp, dtype: DType, chip: Chip) -> Filter:
    """The coefficients of a convolution; `dtype` is the filter's.

    Raises TpuError unless they are merged for the chip, and for a relu with a limit.
    """
    if not bool(op.coeff_merged.value.data):
        raise TpuError(f"{where(op)}: run --weight-reorder before generating code")
    if bool(op.do_relu.value.data) and op.relu_limit.value.data >= 0:
        raise NoKernel(f"{where(op)}: a quantised relu with a limit has no kernel")
    height, width = (*ints(op.kernel_shape), 1)[:2]
    layout, rounding = layout_of(op, chip), rounding_of(op.round_mode)
    relu, floats = _flag(op.do_relu), bool(op.requant_floats)
    return Filter(layout, (height, width), dtype, rounding, relu, _padding(op), floats)


def _padding(op: tpu.Conv2DOp) -> int:
    """The integer that stands for 0 in the input; raises TpuError where the tile is padded."""
    fill = zero_point(op.input.type)
    if fill and any(ints(op.pads)) and any(op.merged_taps()):
        raise NoKernel(f"{where(op)}: merged taps beside padding of {fill} have no kernel")
    if _flag(op.do_relu) and zero_point(op.output.type):
        raise NoKernel(f"{where(op)}: a quantised relu where 0 is another integer has no kernel")
    return fill


def _flag(attribute: BoolAttr) -> bool:
    return bool(attribute.value.data)


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The coefficients of places `first` and on, at a byte offset in every lane."""

    filter: Filter
    address: int
    first: int = 0

    def requant(self, chip: Chip, channels: Piece) -> LocalTensor:
        """The table of (multiplier, -shift, zero point) of channels from a lane group on, or of
        (factor, offset) in f32."""
        layout = self.filter.layout
        address = self.address + self._place(chip, channels) * layout.requant_step
        make = compact if layout.requant_step == layout.requant_bytes else aligned
        words = layout.requant_bytes // DType.I32.bytes
        if self.filter.floats:
            return make(chip, address, (1, channels.size, 1, 2), DType.F32)
        return make(chip, address, (1, channels.size, 1, words), DType.I32)

    def bias(self, chip: Chip, channels: Piece) -> LocalTensor | None:
        """Their biases, when there are any."""
        if not self.filter.layout.has_bias:
            return None
        address = self.address + self.filter.layout.bias
        address += self._place(chip, channels) * DType.I32.bytes
        return compact(chip, address, (1, channels.size, 1, 1), DType.I32)

    def weights(self, chip: Chip, channels: Piece) -> LocalTensor:
        """Their filters."""
        row = self.filter.layout.row
        address = self.address + self.filter.layout.filter + self._place(chip, channels) * row
        height, width = self.filter.kernel if self.filter.depthwise else (1, row)
        return compact(chip, address, (1, channels.size, height, width), self.filter.dtype)

    def _place(self, chip: Chip, channels: Piece) -> int:
        return channels.start // chip.lanes - self.first


def convolve(
    emitter: Emitter,
    out: LocalTensor,
    total: LocalTensor | None,
    x: LocalTensor,
    parts: Coefficients,
    channels: Piece,
    window: Window,
) -> None:
    """out (n, channels, oh, ow) = x * filter + bias under the scale of the result.

    All tensors are EU-aligned. `total` (i32) has the shape of `out`; chips whose products have a
    scale need none. Where they have not, on the cube, the biases are copied to `total` first and
    accumulated onto, which costs no more than adding them.
    """
    chip, kind = emitter.chip, parts.filter
    window = replace(window, fill=kind.fill)
    if window.stride[1] > LIMITS.window_stride:
        out, x, window = one_window_a_row(chip, out, x, window)
        if total is not None:
            total = aligned(chip, total.address, out.shape, total.dtype)
    weights, bias = parts.weights(chip, channels), parts.bias(chip, channels)
    factors = parts.requant(chip, channels)
    if total is None:
        scale = Scale(factors, kind.rounding)
        product = emitter.depthwise if kind.depthwise else emitter.conv
        product(out, x, weights, window, bias, scale=scale)
    else:
        if kind.depthwise:
            emitter.depthwise(total, x, weights, window, bias)
        else:
            if bias is not None:
                emitter.copy(total, bias)
            emitter.conv(total, x, weights, window, accumulate=bias is not None)
        if kind.floats:
            emitter.requantize_float(out, total, factors)
        else:
            emitter.requantize(out, total, factors, kind.rounding)
    clamp_low(emitter, out, kind.relu)
