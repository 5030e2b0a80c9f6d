"""Moving data inside a tensor."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, SI32, default_attr_def, ints
from xdsl_tpu.dialects.base import TENSOR, NamedOp
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of
from xdsl_tpu.dialects.top.abstract import SameShapeOp, ShapedOp
from xdsl_tpu.dialects.top.layout import (
    AxisLayout,
    ChannelFirst,
    PermuteAbsorbs,
    PermuteOrder,
    RotationLayout,
    TransposeOrder,
)


@irdl_op_definition
class PermuteOp(ShapedOp):
    """Transposition: dimension i of the result is dimension `order[i]` of the input."""

    name = "top.Permute"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    order = attr_def(I64_ARRAY)

    traits = traits_def(Pure(), PermuteOrder(), PermuteAbsorbs())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, order = self.shape_of(self.input), ints(self.order)
        if sorted(order) != list(range(len(shape))):
            raise ShapeError(f"order {list(order)} is no permutation of the axes of {dims(shape)}")
        return (tuple(shape[axis] for axis in order),)


@irdl_op_definition
class TransposeOp(ShapedOp):
    """Two dimensions change places (torch)."""

    name = "top.Transpose"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    dim0 = attr_def(SI32)
    dim1 = attr_def(SI32)

    traits = traits_def(Pure(), TransposeOrder())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = list(self.shape_of(self.input))
        a, b = (axis_of(dim.value.data, len(shape)) for dim in (self.dim0, self.dim1))
        shape[a], shape[b] = shape[b], shape[a]
        return (tuple(shape),)


@irdl_op_definition
class ReverseOp(SameShapeOp):
    """The elements along `axis` in opposite order."""

    name = "top.Reverse"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)

    traits = traits_def(AxisLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis_of(self.axis.value.data, len(shape))
        return (shape,)


@irdl_op_definition
class Depth2SpaceOp(ShapedOp):
    """Channels become a block_h x block_w tile of positions, or the other way round.

    | is_inversed | N, C, H, W becomes |
    |---|---|
    | false | N, C / (block_h * block_w), H * block_h, W * block_w |
    | true | N, C * block_h * block_w, H / block_h, W / block_w |

    The place in the block is the slow part of the long channel index (DCR), or with `is_CRD`
    the channel is; the place is row * block_w + column, or with `swap_cr`
    column * block_h + row.
    `in_is_NCHW` and `out_is_NCHW` tell whether channels are dimension 1 or the last one.

    Swin's patch merging is the inverse with blocks of 2 x 2, channels last and `swap_cr`.
    """

    name = "top.Depth2Space"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    block_h = attr_def(I64_INT)
    block_w = attr_def(I64_INT)
    is_CRD = attr_def(BOOL)
    is_inversed = attr_def(BOOL)
    in_is_NCHW = default_attr_def(BOOL, True)
    out_is_NCHW = default_attr_def(BOOL, True)
    swap_cr = default_attr_def(BOOL, False)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input, 4)
        n, *inner = shape
        c, h, w = inner if self.in_is_NCHW.value.data else (inner[2], inner[0], inner[1])
        block_h, block_w = self.block_h.value.data, self.block_w.value.data
        if block_h < 1 or block_w < 1:
            raise ShapeError(f"blocks of {block_h} x {block_w} make no sense")
        block = block_h * block_w
        if self.is_inversed.value.data:
            fits = h % block_h == 0 and w % block_w == 0
            c, h, w = c * block, h // block_h, w // block_w
        else:
            fits = c % block == 0
            c, h, w = c // block, h * block_h, w * block_w
        if not fits:
            raise ShapeError(f"{dims(shape)} does not divide into blocks of {block_h} x {block_w}")
        return ((n, c, h, w) if self.out_is_NCHW.value.data else (n, h, w, c),)


@irdl_op_definition
class SwapDimInnerOp(SameShapeOp):
    """Rotation of dimensions: element `offset[i]` of dimension i becomes the first one.

        y[.., j, ..] = x[.., (j + offset) mod size, ..]

    That is the tail from the offset on followed by the head, for each non-zero offset.
    """

    name = "top.SwapDimInner"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    offset = attr_def(I64_ARRAY)

    traits = traits_def(RotationLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, offsets = self.shape_of(self.input), ints(self.offset)
        if len(offsets) != len(shape):
            raise ShapeError(f"offset has {len(offsets)} values for {dims(shape)}")
        if not all(0 <= offset < size for offset, size in zip(offsets, shape, strict=True)):
            raise ShapeError(f"offset {list(offsets)} lies outside {dims(shape)}")
        return (shape,)


@irdl_op_definition
class SwapChannelOp(SameShapeOp):
    """Channel i of the result is channel `channel_order[i]` of the input (N, C, ..)."""

    name = "top.SwapChannel"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    channel_order = attr_def(I64_ARRAY)

    traits = traits_def(ChannelFirst())


@irdl_op_definition
class ShuffleChannelOp(SameShapeOp):
    """Channels seen as `group` rows are read column by column (ShuffleNet)."""

    name = "top.ShuffleChannel"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    group = attr_def(I64_INT)

    traits = traits_def(ChannelFirst())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, group = self.shape_of(self.input), self.group.value.data
        if len(shape) < 2 or group < 1 or shape[1] % group:
            raise ShapeError(f"the channels of {dims(shape)} do not make {group} groups")
        return (shape,)


@irdl_op_definition
class CopyOp(NamedOp):
    """Copy of `shape` elements with a stride of its own on either side."""

    name = "top.Copy"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    shape = attr_def(I64_ARRAY)
    input_stride = attr_def(I64_ARRAY)
    output_stride = attr_def(I64_ARRAY)

    traits = traits_def(Pure())
