"""Convolutions.

| data_format | input, output | weight |
|---|---|---|
| channels_first | N, C, H, W | OC, C / groups, KH, KW |
| channels_last | N, H, W, C | OC, KH, KW, C / groups |
"""

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import windows
from xdsl_tpu.dialects.oneflow.base import (
    CHANNELS_FIRST,
    DATA_FORMAT,
    SI32,
    SI32_ARRAY,
    TEXT,
    OneFlowOp,
    default_attr_def,
)
from xdsl_tpu.dialects.oneflow.layout import ConvLayout
from xdsl_tpu.dialects.oneflow.segments import OperandSegments, oneflow_op


@oneflow_op
class Conv2DOp(OneFlowOp):
    """2-D convolution: out = in * weight + bias + _add_to_output, the last two if there.

    `padding_before` is the padding on either side of H and W.
    """

    name = "oneflow.conv2d"

    input = operand_def(RANKED)
    weight = operand_def(RANKED)
    bias = opt_operand_def(RANKED)
    add_to_output = opt_operand_def(RANKED)
    output = result_def(RANKED)
    filters = default_attr_def(SI32, 0)
    padding_before = attr_def(SI32_ARRAY)
    data_format = attr_def(DATA_FORMAT)
    kernel_size = attr_def(SI32_ARRAY)
    strides = attr_def(SI32_ARRAY)
    dilation_rate = attr_def(SI32_ARRAY)
    groups = default_attr_def(SI32, 1)
    tuning_cache = opt_attr_def(TEXT)

    irdl_options = (OperandSegments(),)
    traits = traits_def(Pure(), ConvLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        first = self.data_format.data == CHANNELS_FIRST
        image = _split(self.shape_of(self.input, 4), first)
        batch, channels, sizes = image
        count, depth, kernel = _split(self.shape_of(self.weight, 4), first)
        groups = self.groups.value.data
        if kernel != ints(self.kernel_size):
            raise ShapeError(
                f"weight {dims(self.shape_of(self.weight))} does not hold a kernel "
                f"{dims(ints(self.kernel_size))} in {self.data_format.data}"
            )
        if groups < 1 or depth * groups != channels or count % groups:
            raise ShapeError(
                f"{channels} channels do not fit weight {dims(self.shape_of(self.weight))} "
                f"in {groups} group(s) and {self.data_format.data}"
            )
        if self.bias is not None and self.shape_of(self.bias) != (count,):
            raise ShapeError(f"bias {dims(self.shape_of(self.bias))} must have {count} elements")
        pads = ints(self.padding_before) * 2
        slides = windows(sizes, kernel, ints(self.strides), ints(self.dilation_rate), pads)
        positions = tuple(w.positions(size) for w, size in zip(slides, sizes, strict=True))
        shape = (batch, count, *positions) if first else (batch, *positions, count)
        if self.add_to_output is not None and self.shape_of(self.add_to_output) != shape:
            raise ShapeError(
                f"_add_to_output {dims(self.shape_of(self.add_to_output))} must be {dims(shape)}"
            )
        return (shape,)


def _split(shape: Shape, channels_first: bool) -> tuple[int, int, Shape]:
    """First dimension, channels and spatial sizes of an image or a weight."""
    if channels_first:
        return shape[0], shape[1], shape[2:]
    return shape[0], shape[-1], shape[1:-1]
