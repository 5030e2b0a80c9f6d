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


@dataclass(frozen=True, slots=True)
class Filter:
    """What a quantised convolution is, apart from its tensors; `fill` is its padding."""

    layout: CoefficientLayout
    kernel: tuple[int, int]
    dtype: DType
    rounding: Rounding
    relu: bool
    fill: int = 0

    @property
    def depthwise(self) -> bool:
        """Whether each channel has a filter of its own."""
        return self.layout.depthwise


def filter_of(op: tpu.Conv2DOp, ic: int, oc: int, dtype: DType, chip: Chip) -> Filter:
    """The coefficients of a convolution of `ic` to `oc` channels; `dtype` is the filter's.

    Raises TpuError unless they are merged for the chip, and for a relu with a limit.
    """
    if not bool(op.coeff_merged.value.data):
        raise TpuError(f"{where(op)}: run --weight-reorder before generating code")
    if bool(op.do_relu.value.data) and op.relu_limit.value.data >= 0:
        raise NoKernel(f"{where(op)}: a quantised relu with a limit has no kernel")
    kernel = (*ints(op.kernel_shape), 1)[:2]
    group = op.group.value.data
    plain = FilterShape(oc, ic // group, kernel[0], kernel[1])
    of_chip = chip.weight_lanes
    row = reordered_filter_shape(plain, 1, of_chip.row, group, op.use_3ic_optimize.value.data)
    depthwise = is_depthwise(plain, group)
    has_bias = bool(op.with_bias.value.data)
    layout = CoefficientLayout(oc, row[2] * row[3], has_bias, depthwise, of_chip)
    return Filter(
        layout,
        (kernel[0], kernel[1]),
        dtype,
        rounding_of(op.round_mode),
        _flag(op.do_relu),
        _padding(op),
    )


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
    """The parts in local memory: byte offsets in every lane of places `first` and on."""

    filter: Filter
    requant_at: int
    bias_at: int
    filter_at: int
    first: int = 0

    @classmethod
    def merged(cls, filter_: Filter, address: int) -> "Coefficients":
        """The whole weight, loaded as it is."""
        layout = filter_.layout
        return cls(filter_, address, address + layout.bias, address + layout.filter)

    def requant(self, chip: Chip, channels: Piece) -> LocalTensor:
        """The table of (multiplier, -shift, zero point) of channels from a lane group on."""
        layout = self.filter.layout
        address = self.requant_at + self._place(chip, channels) * layout.requant_step
        make = compact if layout.requant_step == layout.requant_bytes else aligned
        words = layout.requant_bytes // DType.I32.bytes
        return make(chip, address, (1, channels.size, 1, words), DType.I32)

    def bias(self, chip: Chip, channels: Piece) -> LocalTensor | None:
        """Their biases, when there are any."""
        if not self.filter.layout.has_bias:
            return None
        address = self.bias_at + self._place(chip, channels) * DType.I32.bytes
        return compact(chip, address, (1, channels.size, 1, 1), DType.I32)

    def weights(self, chip: Chip, channels: Piece) -> LocalTensor:
        """Their filters."""
        row = self.filter.layout.row
        address = self.filter_at + self._place(chip, channels) * row
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
        emitter.requantize(out, total, factors, kind.rounding)
    clamp_low(emitter, out, kind.relu)
