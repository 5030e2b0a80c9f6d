"""Pooling over H and W."""

from abc import ABC

from xdsl.irdl import attr_def, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import windows
from xdsl_tpu.dialects.oneflow.base import (
    BOOL,
    CHANNELS_FIRST,
    DATA_FORMAT,
    SI32,
    SI32_ARRAY,
    SI64_ARRAY,
    OneFlowOp,
    default_attr_def,
)
from xdsl_tpu.dialects.oneflow.layout import PoolLayout
from xdsl_tpu.dialects.oneflow.segments import oneflow_op


class SpatialOp(OneFlowOp, ABC):
    """An image in, an image of other height and width out; channels where `data_format` says."""

    x = operand_def(RANKED)
    y = result_def(RANKED)
    data_format = attr_def(DATA_FORMAT)

    traits = traits_def(Pure(), PoolLayout())

    @property
    def sizes(self) -> Shape:
        """Height and width of `x`; raises ShapeError."""
        shape = self.shape_of(self.x, 4)
        return shape[2:] if self.data_format.data == CHANNELS_FIRST else shape[1:3]

    def resized(self, sizes: Shape) -> Shape:
        """The shape of `x` with other height and width; raises ShapeError."""
        shape = self.shape_of(self.x, 4)
        if self.data_format.data == CHANNELS_FIRST:
            return (*shape[:2], *sizes)
        return (shape[0], *sizes, shape[3])


class WindowPoolOp(SpatialOp, ABC):
    """A pool over windows; `padding` is that on either side of H and W."""

    padding = attr_def(SI32_ARRAY)
    kernel_size = attr_def(SI32_ARRAY)
    stride = attr_def(SI32_ARRAY)
    ceil_mode = default_attr_def(BOOL, False)

    def window_dilations(self) -> tuple[int, ...]:
        """Distance between the elements of a window."""
        return (1, 1)

    def result_shapes(self) -> tuple[Shape, ...]:
        sizes, pads = self.sizes, ints(self.padding) * 2
        kernel, strides = ints(self.kernel_size), ints(self.stride)
        slides = windows(sizes, kernel, strides, self.window_dilations(), pads)
        ceil = bool(self.ceil_mode.value.data)
        positions = tuple(w.positions(size, ceil) for w, size in zip(slides, sizes, strict=True))
        return (self.resized(positions),) * len(self.results)


@oneflow_op
class MaxPool2DOp(WindowPoolOp):
    """The largest of each window, and where in H x W of its channel it was."""

    name = "oneflow.max_pool_2d"

    y = result_def(RANKED)  # named first: a class's own results precede those it inherits
    indice = result_def(RANKED)
    dilation = attr_def(SI32_ARRAY)
    return_indices = default_attr_def(BOOL, False)

    def window_dilations(self) -> tuple[int, ...]:
        return ints(self.dilation)


@oneflow_op
class AvgPool2DOp(WindowPoolOp):
    """The mean of each window; `divisor_override`, unless 0, is what the sum is divided by."""

    name = "oneflow.avg_pool_2d"

    count_include_pad = default_attr_def(BOOL, False)
    divisor_override = default_attr_def(SI32, 0)


@oneflow_op
class AdaptiveAvgPool2DOp(SpatialOp):
    """Means over `output_size` parts that divide H and W as evenly as they can."""

    name = "oneflow.adaptive_avg_pool2d"

    output_size = attr_def(SI64_ARRAY)

    def result_shapes(self) -> tuple[Shape, ...]:
        wanted = ints(self.output_size)
        if len(wanted) != 2 or min(wanted) < 1:
            raise ShapeError(f"output_size {dims(wanted)} must be a height and a width")
        return (self.resized(wanted),)
