"""Changes of shape that keep the order of the data, and repetition."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, I64_INT, SI32, default_attr_def, ints
from xdsl_tpu.dialects.base import TENSOR
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims, known_shape
from xdsl_tpu.dialects.interfaces.shape_rules import (
    axes_of,
    axis_of,
    broadcast,
    flattened,
    reshaped,
    scalar_as_one,
)
from xdsl_tpu.dialects.top.abstract import ShapedOp
from xdsl_tpu.dialects.top.layout import ViewLayout
from xdsl_tpu.dialects.top.traits import (
    ScalarConsumer,
    ScalarProducer,
    ShapeConsumer,
    ShapeProducer,
)


def _is_scalar(value: SSAValue) -> bool:
    """Whether the one element of `value` stands for a scalar, as the op that made it says."""
    owner = value.owner
    return isinstance(owner, Operation) and owner.attributes.get("is_scalar") == _TRUE


_TRUE = BoolAttr.from_bool(True)


@irdl_op_definition
class ReshapeOp(ShapedOp):
    """The same elements in the same order under another shape.

    The shape is, in this order of preference: the constant operand `shapeT`; `shape`, where 0
    copies the input's size and one -1 is what is left; everything from `flatten_start_dim` on
    as one dimension; or, with none of these, the type of the result.
    """

    name = "top.Reshape"

    input = operand_def(TENSOR)
    shapeT = opt_operand_def(TENSOR)
    output = result_def(TENSOR)
    shape = opt_attr_def(I64_ARRAY)
    flatten_start_dim = default_attr_def(I64_INT, -1)

    traits = traits_def(Pure(), ShapeConsumer(), ViewLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        source, start = self.shape_of(self.input), self.flatten_start_dim.value.data
        if self.shapeT is not None:
            return (reshaped(source, _sizes(self, 1)),)
        if self.shape is not None:
            return (reshaped(source, ints(self.shape)),)
        if start >= 0:
            return (flattened(source, start, -1),)
        target = known_shape(self.output.type)
        if target is None:
            raise ShapeError("neither shape nor the type of the result says what to make")
        return (reshaped(source, target),)


def _sizes(op: ShapedOp, index: int) -> tuple[int, ...]:
    return tuple(int(size) for size in op.constant_operand(index))


@irdl_op_definition
class ViewOp(ShapedOp):
    """Reshape to the sizes that the constant operand `shape` holds, one of which may be -1."""

    name = "top.View"

    input = operand_def(TENSOR)
    shape = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure(), ShapeConsumer())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (reshaped(self.shape_of(self.input), _sizes(self, 1)),)


@irdl_op_definition
class FlattenOp(ShapedOp):
    """The dimensions from `start_dim` to `end_dim`, both included, become one.

    ONNX's Flatten(axis) also merges the dimensions in front of axis: the two agree for axis 1.
    """

    name = "top.Flatten"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    start_dim = default_attr_def(I64_INT, 0)
    end_dim = default_attr_def(I64_INT, -1)

    traits = traits_def(Pure(), ViewLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        start, end = self.start_dim.value.data, self.end_dim.value.data
        return (flattened(self.shape_of(self.input), start, end),)


@irdl_op_definition
class SqueezeOp(ShapedOp):
    """Drop the dimensions `axes`, all of size 1; without axes every dimension of size 1.

    A result without dimensions is written as one element with `is_scalar`.
    """

    name = "top.Squeeze"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axes = attr_def(I64_ARRAY)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), ScalarProducer(), ViewLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axes = self._axes(shape)
        if any(shape[axis] != 1 for axis in axes):
            raise ShapeError(f"axes {list(axes)} of {dims(shape)} are not all of size 1")
        return (scalar_as_one(size for axis, size in enumerate(shape) if axis not in axes),)

    def resolve(self) -> None:
        """List the dropped axes, counted from the front."""
        self.axes = I64_ARRAY.encode(self._axes(self.shape_of(self.input)))

    def _axes(self, shape: Shape) -> tuple[int, ...]:
        ones = tuple(axis for axis, size in enumerate(shape) if size == 1)
        return axes_of(ints(self.axes), len(shape)) or ones


@irdl_op_definition
class UnsqueezeOp(ShapedOp):
    """Insert dimensions of size 1 such that they are `axes` of the result."""

    name = "top.Unsqueeze"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axes = attr_def(I64_ARRAY)

    traits = traits_def(Pure(), ScalarConsumer(), ViewLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self._source()
        axes = axes_of(ints(self.axes), len(shape) + len(self.axes))
        sizes = iter(shape)
        rank = len(shape) + len(axes)
        return (tuple(1 if axis in axes else next(sizes) for axis in range(rank)),)

    def resolve(self) -> None:
        """Count the axes from the front and sort them."""
        rank = len(self._source()) + len(self.axes)
        self.axes = I64_ARRAY.encode(axes_of(ints(self.axes), rank))

    def _source(self) -> Shape:
        return () if _is_scalar(self.input) else self.shape_of(self.input)


@irdl_op_definition
class ExpandOp(ShapedOp):
    """Broadcast to `shape` or the constant operand `shapeT`; 1 and -1 keep the input's size."""

    name = "top.Expand"

    input = operand_def(TENSOR)
    shapeT = opt_operand_def(TENSOR)
    output = result_def(TENSOR)
    shape = default_attr_def(I64_ARRAY, [])

    traits = traits_def(Pure(), ShapeConsumer())

    def result_shapes(self) -> tuple[Shape, ...]:
        target = ints(self.shape) if self.shapeT is None else _sizes(self, 1)
        kept = tuple(1 if size == -1 else size for size in target)
        return (broadcast(self.shape_of(self.input), kept),)


@irdl_op_definition
class TileOp(ShapedOp):
    """Repeat the whole tensor along each dimension, `tile` or constant operand `tileT` times."""

    name = "top.Tile"

    input = operand_def(TENSOR)
    tileT = opt_operand_def(TENSOR)
    output = result_def(TENSOR)
    tile = opt_attr_def(I64_ARRAY)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        if self.tileT is not None:
            return (_tiled(self.shape_of(self.input), _sizes(self, 1)),)
        if self.tile is None:
            raise ShapeError("neither tile nor tileT says how often to repeat")
        return (_tiled(self.shape_of(self.input), ints(self.tile)),)


def _tiled(shape: Shape, counts: Sequence[int]) -> Shape:
    """The shorter of the two is filled up with ones in front, as numpy.tile does."""
    rank = max(len(shape), len(counts))
    sizes = (1,) * (rank - len(shape)) + shape
    repeats = (1,) * (rank - len(counts)) + tuple(counts)
    return tuple(size * count for size, count in zip(sizes, repeats, strict=True))


@irdl_op_definition
class RepeatOp(ShapedOp):
    """Repeat the whole tensor along each dimension as a constant operand says (torch)."""

    name = "top.Repeat"

    input = operand_def(TENSOR)
    repeats = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (_tiled(self.shape_of(self.input), _sizes(self, 1)),)


@irdl_op_definition
class ShapeOp(ShapedOp):
    """The sizes of the input's dimensions from `start` up to `end`, as a 1-D tensor."""

    name = "top.Shape"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    start = opt_attr_def(I64_INT)
    end = opt_attr_def(I64_INT)
    step = opt_attr_def(I64_INT)

    traits = traits_def(Pure(), ShapeProducer())

    def result_shapes(self) -> tuple[Shape, ...]:
        return ((len(self.sizes()),),)

    def sizes(self) -> tuple[int, ...]:
        """The value of the result; raises ShapeError when the input's shape is not known."""
        start, end, step = (
            None if bound is None else bound.value.data
            for bound in (self.start, self.end, self.step)
        )
        if step == 0:
            raise ShapeError("a shape cannot be taken in steps of 0")
        return self.shape_of(self.input)[start:end:step]


@irdl_op_definition
class SizeOp(ShapedOp):
    """How many elements the input has, along `axis` if that is given."""

    name = "top.Size"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = opt_attr_def(SI32)

    traits = traits_def(Pure(), ShapeProducer())

    def result_shapes(self) -> tuple[Shape, ...]:
        return ((1,),)

    def size(self) -> int:
        """The value of the result; raises ShapeError when the input's shape is not known."""
        shape = self.shape_of(self.input)
        return (
            prod(shape) if self.axis is None else shape[axis_of(self.axis.value.data, len(shape))]
        )
