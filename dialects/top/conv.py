"""Convolutions.

Activations are N, C and one to three spatial dimensions. Window attributes hold one value a
spatial dimension, pads all befores and then all afterwards (ONNX operators, Conv).
"""

from math import prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, I64Array, default_attr_def, ints
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, is_none
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import Window, windows
from xdsl_tpu.dialects.top.abstract import FusedReluOp, ShapedOp
from xdsl_tpu.dialects.top.enums import AUTO_PAD_MODE
from xdsl_tpu.dialects.top.layout import ChannelFirst
from xdsl_tpu.dialects.top.padding import auto_padded, pads_of
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


def _per_dimension(values: I64Array | None, rank: int, default: int) -> tuple[int, ...]:
    return ints(values or ()) or (default,) * rank


@irdl_op_definition
class ConvOp(ShapedOp, FusedReluOp):
    """1-D to 3-D convolution: y = x * filter + bias, then the ReLU if any.

    | value | shape |
    |---|---|
    | input | N, C, spatial |
    | filter | OC, C / group, kernel |
    | bias | OC elements, or none |
    | output | N, OC, spatial |

    Output channel o sees only the input channels of its group; group = C = OC is a depthwise
    convolution. `inserts` puts that many zeros between neighbouring input elements.
    `weight_is_coeff` is 0 when the filter is computed rather than loaded, and
    `dynweight_reorderd` says that such a filter is in the chip's layout already.

    A 3-D input with a 2-D kernel is a 1-D convolution written over a last dimension of size 1.
    """

    name = "top.Conv"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    inserts = opt_attr_def(I64_ARRAY)
    dynweight_reorderd = default_attr_def(BOOL, False)
    weight_is_coeff = default_attr_def(I64_INT, 1)
    do_winograd = opt_attr_def(BOOL)
    auto_pad = opt_attr_def(AUTO_PAD_MODE)
    in_int4_scale = opt_attr_def(F64)
    in_int4_zp = opt_attr_def(F64)
    out_int8_scale = opt_attr_def(F64)
    out_int8_zp = opt_attr_def(F64)
    weight_bits = opt_attr_def(I64_INT)

    traits = traits_def(Pure(), SupportFuseRelu(), ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self._input_shape()
        channels = self._output_channels(shape)
        positions = [
            window.positions(size)
            for window, size in zip(self.windows(), self._spread(shape), strict=True)
        ]
        flat = len(self.shape_of(self.input)) < len(shape)
        return ((shape[0], channels, *(positions[:-1] if flat else positions)),)

    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension with automatic padding worked out; raises ShapeError."""
        sizes = self._spread(self._input_shape())
        kernel, strides = ints(self.kernel_shape), ints(self.strides)
        dilations = _per_dimension(self.dilations, len(sizes), 1)
        pads = ints(self.pads) or (0,) * 2 * len(sizes)
        return auto_padded(windows(sizes, kernel, strides, dilations, pads), sizes, self.auto_pad)

    def resolve(self) -> None:
        """Write automatic padding out as `pads` and drop `auto_pad`."""
        self.pads = I64_ARRAY.encode(pads_of(self.windows()))
        self.auto_pad = None

    def _input_shape(self) -> Shape:
        shape = self.shape_of(self.input, 3, 4, 5)
        return (*shape, 1) if len(shape) == 3 and len(self.kernel_shape) == 2 else shape

    def _spread(self, shape: Shape) -> Shape:
        """The spatial sizes with zeros inserted."""
        inserts = _per_dimension(self.inserts, len(shape) - 2, 0)
        if len(inserts) != len(shape) - 2:
            raise ShapeError(f"inserts has {len(inserts)} values for input {dims(shape)}")
        return tuple(size + (size - 1) * gap for size, gap in zip(shape[2:], inserts, strict=True))

    def _output_channels(self, shape: Shape) -> int:
        filter_shape = self.shape_of(self.filter, 3, 4, 5)
        if self.dynweight_reorderd.value.data:
            return filter_shape[0]
        return _checked_channels(self, shape, filter_shape)


def _checked_channels(
    op: "ConvOp | DeconvOp | DeformConv2DOp", shape: Shape, filter_shape: Shape
) -> int:
    """The output channels of a filter OC, C / group, kernel once everything fits the input."""
    kernel, group = ints(op.kernel_shape), op.group.value.data
    if filter_shape[2:] != kernel:
        raise ShapeError(f"filter {dims(filter_shape)} does not hold a kernel {dims(kernel)}")
    if group < 1 or filter_shape[0] % group or shape[1] != filter_shape[1] * group:
        raise ShapeError(
            f"input {dims(shape)} does not fit filter {dims(filter_shape)} in {group} group(s)"
        )
    channels = filter_shape[0]
    if not is_none(op.bias) and prod(bias := op.shape_of(op.bias)) != channels:
        raise ShapeError(f"bias {dims(bias)} needs {channels} elements, one a channel")
    return channels


@irdl_op_definition
class DeconvOp(ShapedOp, FusedReluOp):
    """Transposed convolution: every input element stamps the kernel onto the output.

    | value | shape |
    |---|---|
    | input | N, C, spatial |
    | filter | OC, C / group, kernel (ONNX keeps C first: swap per group when importing) |
    | bias | OC elements, or none |
    | output | N, OC, spatial |

    Each spatial size becomes (size - 1) * stride + extent - pads + output_padding.
    """

    name = "top.Deconv"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    dilations = opt_attr_def(I64_ARRAY)
    output_padding = opt_attr_def(I64_ARRAY)
    dynweight_reorderd = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), SupportFuseRelu(), ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, kernel = self.shape_of(self.input, 3, 4, 5), ints(self.kernel_shape)
        channels = _checked_channels(self, shape, self.shape_of(self.filter, len(shape)))
        extra = _per_dimension(self.output_padding, len(kernel), 0)
        if len(extra) != len(kernel):
            raise ShapeError(f"output_padding has {len(extra)} values for kernel {dims(kernel)}")
        sizes = tuple(
            (size - 1) * window.stride + window.extent - window.before - window.after + more
            for size, window, more in zip(shape[2:], self.windows(), extra, strict=True)
        )
        return ((shape[0], channels, *sizes),)

    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension, sliding over the output; raises ShapeError."""
        sizes = self.shape_of(self.input, 3, 4, 5)[2:]
        dilations = _per_dimension(self.dilations, len(sizes), 1)
        pads = ints(self.pads) or (0,) * 2 * len(sizes)
        return windows(sizes, ints(self.kernel_shape), ints(self.strides), dilations, pads)


@irdl_op_definition
class DeformConv2DOp(ShapedOp, FusedReluOp):
    """2-D convolution whose taps are moved by an offset tensor and weighted by a mask.

    offset is N, 2 * deform_group * taps, OH, OW and the mask, used when `use_mask`, has half
    as many channels (torchvision.ops.deform_conv2d).
    """

    name = "top.DeformConv2D"

    input = operand_def(TENSOR)
    filter = operand_def(TENSOR)
    offset = operand_def(TENSOR)
    mask = operand_def(TENSOR_OR_NONE)
    bias = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    group = default_attr_def(I64_INT, 1)
    deform_group = default_attr_def(I64_INT, 1)
    use_mask = default_attr_def(BOOL, False)
    dilations = opt_attr_def(I64_ARRAY)

    traits = traits_def(Pure(), SupportFuseRelu(), ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input, 4)
        channels = _checked_channels(self, shape, self.shape_of(self.filter, 4))
        sizes, dilations = shape[2:], _per_dimension(self.dilations, 2, 1)
        slides = windows(
            sizes, ints(self.kernel_shape), ints(self.strides), dilations, ints(self.pads)
        )
        positions = (window.positions(size) for window, size in zip(slides, sizes, strict=True))
        return ((shape[0], channels, *positions),)
