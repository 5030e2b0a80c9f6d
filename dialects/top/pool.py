"""Pooling: one value for every position of a window, channel by channel."""

from abc import ABC
from dataclasses import replace

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, default_attr_def, ints
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import Window, windows
from xdsl_tpu.dialects.top.abstract import FusedReluOp, ShapedOp
from xdsl_tpu.dialects.top.enums import AUTO_PAD_MODE, ROUND_MODE
from xdsl_tpu.dialects.top.layout import ChannelFirst
from xdsl_tpu.dialects.top.padding import auto_padded, pads_of
from xdsl_tpu.dialects.top.traits import SupportFuseRelu


class PoolAttributes(FusedReluOp, ABC):
    """How a pool slides: the attributes that all pools have.

    An empty `kernel_shape` is a global pool. `ceil_mode` allows a last window that reaches
    beyond the padding. Without `keepdims` the spatial dimensions, all of size 1, are dropped.
    """

    kernel_shape = attr_def(I64_ARRAY)
    strides = attr_def(I64_ARRAY)
    pads = attr_def(I64_ARRAY)
    ceil_mode = opt_attr_def(BOOL)
    auto_pad = opt_attr_def(AUTO_PAD_MODE)
    is_adaptive = default_attr_def(BOOL, False)
    keepdims = default_attr_def(BOOL, True)
    pad_value = default_attr_def(I64_INT, 0)
    count_include_pad = default_attr_def(BOOL, False)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")
    first_round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")


class PoolOp(ShapedOp, PoolAttributes, ABC):
    """A pool of N, C, spatial to N, C, positions."""

    input = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure(), SupportFuseRelu(), ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, ceil_mode = self.shape_of(self.input, 3, 4, 5), self._ceils()
        positions = tuple(
            window.positions(size, ceil_mode)
            for window, size in zip(self.windows(), shape[2:], strict=True)
        )
        if self.keepdims.value.data:
            return ((*shape[:2], *positions),)
        if set(positions) != {1}:
            raise ShapeError(f"keepdims is false but there are {dims(positions)} positions")
        return (shape[:2],)

    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension, the whole of it for a global pool; raises ShapeError."""
        sizes = self.shape_of(self.input, 3, 4, 5)[2:]
        kernel = ints(self.kernel_shape)
        if not kernel and 0 in sizes:
            raise ShapeError(f"there is nothing to pool in {dims(self.shape_of(self.input))}")
        if not kernel:
            return tuple(Window(size) for size in sizes)
        strides = ints(self.strides) or (1,) * len(sizes)
        pads = ints(self.pads) or (0,) * 2 * len(sizes)
        slides = windows(sizes, kernel, strides, (1,) * len(sizes), pads)
        return auto_padded(slides, sizes, self.auto_pad)

    def resolve(self) -> None:
        """Write the window of a global pool, automatic padding and ceil_mode out.

        A window that ceil_mode lets reach beyond the padding becomes padding after it. That one
        never counts in an average: where there is padding that does, `ceil_mode` stays. The only
        window of a dimension, if it holds all elements, is no larger than these.
        """
        slides, sizes = self.windows(), self.shape_of(self.input)[2:]
        if self._ceils():
            stretched = tuple(map(_stretched, slides, sizes))
            is_padded = any(one.before or one.after for one in slides)
            keeps = self.count_include_pad.value.data and is_padded and stretched != slides
            if not is_padded:
                self.count_include_pad = BOOL.convert(False)
            slides = slides if keeps else stretched
            self.ceil_mode = self.ceil_mode if keeps else None
        else:
            self.ceil_mode = None
        if self.ceil_mode is None and not self.count_include_pad.value.data:
            slides = tuple(map(_clipped, slides, sizes))
        self.kernel_shape = I64_ARRAY.encode([window.kernel for window in slides])
        self.strides = I64_ARRAY.encode([window.stride for window in slides])
        self.pads = I64_ARRAY.encode(pads_of(slides))
        self.auto_pad = None

    def _ceils(self) -> bool:
        return self.ceil_mode is not None and bool(self.ceil_mode.value.data)


def _stretched(window: Window, size: int) -> Window:
    """The window with padding after it that makes rounding up unnecessary."""
    last = (window.positions(size, ceil_mode=True) - 1) * window.stride
    return replace(window, after=max(window.after, last + window.extent - size - window.before))


def _clipped(window: Window, size: int) -> Window:
    """The window without the padding in it, where it is the only one and holds all elements."""
    if window.kernel <= size or window.kernel - window.before < size or window.dilation > 1:
        return window
    return Window(size) if window.positions(size) == 1 else window


@irdl_op_definition
class AvgPoolOp(PoolOp):
    """The mean of each window; padding counts as `pad_value` when `count_include_pad`."""

    name = "top.AvgPool"


@irdl_op_definition
class MaxPoolOp(PoolOp):
    """The maximum of each window; padding never wins."""

    name = "top.MaxPool"


@irdl_op_definition
class MaxPoolWithMaskOp(PoolAttributes):
    """Max pooling that also says, as a mask, which element of each window won."""

    name = "top.MaxPoolWithMask"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    mask = result_def(TENSOR)

    traits = traits_def(Pure(), SupportFuseRelu(), ChannelFirst())


@irdl_op_definition
class AdaptiveAvgPoolOp(ShapedOp):
    """Average pooling to a fixed size (torch.nn.AdaptiveAvgPool2d).

    Output i of n averages the input from floor(i * size / n) up to ceil((i + 1) * size / n).
    """

    name = "top.AdaptiveAvgPool"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    output_size = attr_def(I64_ARRAY)

    traits = traits_def(Pure(), SupportFuseRelu(), ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, sizes = self.shape_of(self.input, 3, 4, 5), ints(self.output_size)
        if len(sizes) != len(shape) - 2:
            raise ShapeError(f"output_size has {len(sizes)} values for input {dims(shape)}")
        return ((*shape[:2], *sizes),)


@irdl_op_definition
class PoolMaskOp(NamedOp):
    """The winners of a non-overlapping scale x scale max pool as a mask of the input's size."""

    name = "top.PoolMask"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    scale = attr_def(I64_INT)

    traits = traits_def(Pure(), ChannelFirst())


@irdl_op_definition
class MaxUnpoolOp(ShapedOp):
    """The opposite of max pooling: each value goes where its mask says, zeros elsewhere."""

    name = "top.MaxUnpool"

    input = operand_def(TENSOR)
    mask = operand_def(TENSOR)
    output = result_def(TENSOR)
    scale_h = attr_def(I64_INT)
    scale_w = attr_def(I64_INT)

    traits = traits_def(Pure(), ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        n, c, h, w = self.shape_of(self.input, 4)
        return ((n, c, h * self.scale_h.value.data, w * self.scale_w.value.data),)
