"""Convolutions and what prepares their inputs."""

from abc import ABC
from dataclasses import replace
from math import prod

from xdsl.dialects.builtin import AnyFloat
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64,
    F64_ARRAY,
    I64_ARRAY,
    I64_INT,
    SI32,
    default_attr_def,
    ints,
)
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.lane_view import AsksLanes, Lanes
from xdsl_tpu.dialects.interfaces.local_gen import (
    GroupType,
    Loop,
    MergesTaps,
    Ncdhw,
    Part,
    Range,
)
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference, dims, known_shape
from xdsl_tpu.dialects.interfaces.shape_rules import Window, windows
from xdsl_tpu.dialects.tpu.enums import RequantMode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import COMPRESS, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import (
    MAX_STRIDE,
    LocalWindows,
    TakesMargins,
    stored_type,
)
from xdsl_tpu.dialects.tpu.op import (
    RANKED_OR_NONE,
    FusedReluOp,
    LocalOp,
    TpuOp,
    check_elements,
    declared_shape,
)
from xdsl_tpu.dialects.traits import SupportFuseRelu

MERGED_ROWS, MERGED_COLUMNS = 1, 2
"""Bits of `use_3ic_optimize`: which kernel dimensions are channels of the input."""


class ConvolutionOp(FusedReluOp, LocalOp, ABC):
    """An input and a filter that slides over it, plus bias, then the ReLU if any.

    A quantised op scales by `multiplier` and `rshift`.
    """

    input = operand_def(RANKED)
    filter = operand_def(RANKED)
    bias = operand_def(RANKED_OR_NONE)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    with_bias = attr_def(BOOL)
    multiplier = opt_attr_def(I64_ARRAY)
    rshift = opt_attr_def(I64_ARRAY)
    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportFuseRelu())


SUMMED = 64
"""Input channels that lie together in a reordered filter, whatever their type."""


class WindowConvOp(ConvolutionOp, ABC):
    """A convolution: every output element is the product of a window and the filter.

    `inserts` are the zeros between neighbouring elements of the input, one number a dimension.
    """

    inserts = opt_attr_def(I64_ARRAY)
    kernel_zp = default_attr_def(I64_INT, 0)
    weight_bits = opt_attr_def(I64_INT)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfUp)


class TransposedConvOp(ConvolutionOp, ABC):
    """A transposed convolution: every input element adds its multiple of the filter."""

    output_padding = opt_attr_def(I64_ARRAY)


@irdl_op_definition
class Conv2DOp(AsksLanes, MergesTaps, TakesMargins, LocalWindows, WindowConvOp, ShapeInference):
    """Convolution over one or two spatial dimensions, plus bias, then the ReLU if any.

    | value | shape |
    |---|---|
    | input | N, C, H, W (or N, C, W) |
    | filter | OC, C / group, kernel; once reordered for the chip 1, OC, .. (see weight-reorder) |
    | bias | OC elements, f32 (i32 when quantised); or none |
    | output | N, OC, positions |

    Window attributes hold one value a spatial dimension, `pads` all befores, then all afters.
    With `coeff_merged` quantisation parameters and bias lie in the filter. `use_3ic_optimize`
    says which kernel dimensions were merged into the channels (low four bits) and who does
    the matching of the input (high four bits). `filter_row` are the bytes of input channels side
    by side in a reordered filter, 64 unless said. A quantised op scales by `multiplier`, `rshift`;
    `requant_words` are the words that these take of each channel once merged, 3 unless said. With
    `requant_floats` two of them are a factor and an offset in f32, the bias among them:
    round(sum * factor + offset), halves to even.
    """

    name = "tpu.Conv2D"

    do_kernel_rotate = opt_attr_def(BOOL)
    weight_is_coeff = default_attr_def(I64_INT, 1)
    coeff_merged = default_attr_def(BOOL, False)
    use_3ic_optimize = default_attr_def(I64_INT, 0)
    filter_row = opt_attr_def(I64_INT)
    requant_words = opt_attr_def(I64_INT)
    requant_floats = opt_attr_def(BOOL)
    use_winograd = opt_attr_def(I64_INT)
    do_leaky_relu = opt_attr_def(BOOL)
    neg_slope = opt_attr_def(F64)
    multiplier_pos = opt_attr_def(SI32)
    multiplier_neg = opt_attr_def(SI32)
    rshift_pos = opt_attr_def(SI32)
    rshift_neg = opt_attr_def(SI32)
    out_f8_scales = opt_attr_def(F64_ARRAY)
    support_compress = default_attr_def(BOOL, True)
    compress_info = opt_attr_def(COMPRESS)
    do_core_parallel = opt_attr_def(BOOL)
    do_winograd = opt_attr_def(BOOL)
    dynweight_reorderd = default_attr_def(BOOL, False)

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, sizes = self.shape_of(self.input), self._spread()
        positions = tuple(map(Window.positions, self.windows(), sizes))
        return ((shape[0], self._output_channels(shape), *positions),)

    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension; raises ShapeError when the lists do not fit."""
        sizes = self._spread()
        kernel, strides, pads = map(ints, (self.kernel_shape, self.strides, self.pads))
        dilations = (1,) * len(sizes) if self.dilations is None else ints(self.dilations)
        found = windows(sizes, kernel, strides, dilations, pads)
        inserts = (0,) * len(sizes) if self.inserts is None else ints(self.inserts)
        return tuple(
            replace(window, apart=zeros + 1) for window, zeros in zip(found, inserts, strict=True)
        )

    def local_support(self, kind: GroupType) -> str | None:
        return self._far_problem()

    def _far_problem(self) -> str | None:
        """Why windows are farther apart than one command can say; None when they are not.

        Merged rows need no stride. Where windows lie side by side in rows of their own, kernels
        take every window as a row.
        """
        strides, kernel = ints(self.strides), ints(self.kernel_shape)
        if max(strides) <= MAX_STRIDE:
            return None
        output = known_shape(self.output.type)
        beside = strides[-1] == kernel[-1] and not any(ints(self.pads))
        whole = output is not None and self.shape_of(self.input)[-1] == output[-1] * strides[-1]
        one_row = (kernel[0], strides[0]) == (1, 1) and not any(self.merged_taps())
        if (one_row or self.merged_taps() == (True, False)) and beside and whole:
            return None
        return f"a stride of {max(strides)} takes several commands"

    def shares_channels(self, kind: GroupType) -> bool:
        plain = self.group.value.data == 1 or self._of_one_channel()
        return plain and not any(self.merged_taps())

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        """Output channels of a group need the input's of that group."""
        if part.axis != "c" or operand or self._of_one_channel():
            return super().backward(part, operand, size)
        groups = self.group.value.data
        group, last = (i * groups // part.whole for i in (part.start, part.end - 1))
        return (group * size // groups, size // groups) if group == last else None

    def lanes_asked(self, index: int) -> Lanes | None:
        """A filter lies with output channels over the lanes, once `weight-reorder` has been there
        as it stands."""
        output = known_shape(self.output.type)
        return Lanes(1, output[1]) if index == 1 and output is not None else None

    def loops(self, operand: int) -> tuple[Loop, Loop, Loop, Loop]:
        """A part of a sum has some of the input's channels, and their part of the filter."""
        if operand > 1 or self.summed() == 1:
            return super().loops(operand)
        if not operand:
            return "n", "k", "h", "w"
        return ("n", "c", "h", "k") if self.shape_of(self.filter)[-2] == 1 else ("n", "c", "k", "w")

    def summed(self) -> int:
        """Input channels, where they lie one behind the other in the filter: in one row, or, of
        one that is too wide, some in each of several."""
        kind = stored_type(self.input)
        plain = self.group.value.data == 1 and not any(self.merged_taps()) and self.is_reordered
        channels, taps = self.shape_of(self.input)[1], prod(ints(self.kernel_shape))
        rows, width = self.shape_of(self.filter)[-2:]
        whole = not channels % SUMMED and rows * width == channels * taps and rows < channels
        return channels if isinstance(kind, AnyFloat) and plain and whole else 1

    def channel_weights(self) -> tuple[int, ...]:
        return (1, 2)

    def _of_one_channel(self) -> bool:
        group, output = self.group.value.data, known_shape(self.output.type)
        return group > 1 and group == self.shape_of(self.input)[1] == (output or (0, 0))[1]

    def compact_weights(self) -> tuple[int, ...]:
        return (1, 2)

    def reach(self, window: Window) -> int:
        """A part takes what lies between its windows, too."""
        return max(window.extent, window.stride)

    def lane_weights(self) -> tuple[int, ...]:
        return (1, 2)

    def merged_taps(self) -> tuple[bool, bool]:
        merged = self.use_3ic_optimize.value.data
        return bool(merged & MERGED_ROWS), bool(merged & MERGED_COLUMNS)

    def tap_code(self) -> int:
        return self.use_3ic_optimize.value.data

    def merged(self, part: Ncdhw, out: Ncdhw) -> Ncdhw:
        """A channel for each tap, and as many rows as the result has; columns stay together,
        because a DMA moves single ones slowly."""
        rows, columns = self.merged_taps()
        kernel_h, kernel_w = ints(self.kernel_shape)
        stride_w = ints(self.strides)[1]
        return part._replace(
            c=part.c * (kernel_h if rows else 1) * (kernel_w if columns else 1),
            h=out.h if rows else part.h,
            w=(out.w - 1) * stride_w + 1 if columns else part.w,
        )

    @property
    def is_depthwise(self) -> bool:
        """Whether every channel has a filter of its own, and one alone."""
        channels = self.shape_of(self.input)[1], declared_shape(self.output)[1]
        group = self.group.value.data
        return group > 1 and channels == (group, group)

    @property
    def is_reordered(self) -> bool:
        """Whether the filter has the chip's layout, whose first dimension is always 1."""
        output, shape = known_shape(self.output.type), self.shape_of(self.filter)
        if output is None or shape[0] != 1:
            return False
        return output[1] != 1 or shape[2:] != ints(self.kernel_shape)

    def _spread(self) -> Shape:
        """The spatial sizes with `inserts` zeros between neighbouring elements."""
        shape = self.shape_of(self.input)
        if len(shape) not in (3, 4):
            raise ShapeError(f"input {dims(shape)} must be N, C, H, W or N, C, W")
        gaps = (0,) * (len(shape) - 2) if self.inserts is None else ints(self.inserts)
        if len(gaps) != len(shape) - 2:
            raise ShapeError(f"inserts has {len(gaps)} values for input {dims(shape)}")
        return tuple(size + (size - 1) * gap for size, gap in zip(shape[2:], gaps, strict=True))

    def _output_channels(self, shape: Shape) -> int:
        filter_shape, group = self.shape_of(self.filter), self.group.value.data
        if self.is_reordered:
            return declared_shape(self.output)[1]
        if filter_shape[2:] != (kernel := ints(self.kernel_shape)):
            raise ShapeError(f"filter {dims(filter_shape)} does not hold a kernel {dims(kernel)}")
        if group < 1 or filter_shape[0] % group or shape[1] != filter_shape[1] * group:
            raise ShapeError(
                f"input {dims(shape)} does not fit filter {dims(filter_shape)} in {group} group(s)"
            )
        check_elements(self, "bias", self.bias, filter_shape[0])
        return filter_shape[0]


@irdl_op_definition
class Conv3DOp(WindowConvOp):
    """Convolution over D, H, W of N, C, D, H, W, plus bias, then the ReLU."""

    name = "tpu.Conv3D"

    out_f8_scale = opt_attr_def(F64)


@irdl_op_definition
class DeconvOp(TransposedConvOp):
    """Transposed convolution: every input element adds its multiple of the filter to the output."""

    name = "tpu.Deconv"

    dynweight_reorderd = default_attr_def(BOOL, False)


@irdl_op_definition
class Deconv3DOp(TransposedConvOp):
    """Transposed convolution over D, H, W."""

    name = "tpu.Deconv3D"


@irdl_op_definition
class DeformGatherOp(TpuOp):
    """Samples a deformable convolution takes, laid out as columns for a matrix product."""

    name = "tpu.DeformGather"

    input = operand_def(RANKED)
    offset = operand_def(RANKED)
    mask = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    dilations = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    use_mask = default_attr_def(BOOL, False)
    deform_group = default_attr_def(I64_INT, 1)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class CorrelationOp(TpuOp):
    """How well two feature maps agree at each horizontal shift up to `max_disp`."""

    name = "tpu.Correlation"

    inputs = var_operand_def(RANKED)
    max_disp = default_attr_def(I64_INT, 0)
    num_groups = default_attr_def(I64_INT, 1)
    output = result_def(RANKED)

    traits = traits_def(Pure())
