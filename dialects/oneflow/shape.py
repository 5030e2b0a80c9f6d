"""Ops that move elements and compute none."""

from xdsl.irdl import attr_def, operand_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of, flattened, reshaped
from xdsl_tpu.dialects.oneflow.base import (
    SI32,
    SI32_ARRAY,
    SI64,
    SI64_ARRAY,
    OneFlowOp,
    default_attr_def,
)
from xdsl_tpu.dialects.oneflow.layout import (
    AxisLayout,
    NarrowLayout,
    TransposeAbsorbs,
    TransposeOrder,
    ViewLayout,
)
from xdsl_tpu.dialects.oneflow.segments import oneflow_op


@oneflow_op
class TransposeOp(OneFlowOp):
    """Dimension i of the result is dimension perm[i] of the input."""

    name = "oneflow.transpose"

    input = operand_def(RANKED)
    output = result_def(RANKED)
    perm = attr_def(SI32_ARRAY)

    traits = traits_def(Pure(), TransposeOrder(), TransposeAbsorbs())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, perm = self.shape_of(self.input), ints(self.perm)
        if sorted(perm) != list(range(len(shape))):
            raise ShapeError(f"perm [{', '.join(map(str, perm))}] does not permute {dims(shape)}")
        return (tuple(shape[axis] for axis in perm),)


@oneflow_op
class ReshapeOp(OneFlowOp):
    """The same elements in the same order; one size may be -1."""

    name = "oneflow.reshape"

    input = operand_def(RANKED)
    output = result_def(RANKED)
    shape = attr_def(SI64_ARRAY)

    traits = traits_def(Pure(), ViewLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (reshaped(self.shape_of(self.input), ints(self.shape)),)


@oneflow_op
class FlattenOp(OneFlowOp):
    """Dimensions `start_dim` to `end_dim` become one."""

    name = "oneflow.flatten"

    input = operand_def(RANKED)
    output = result_def(RANKED)
    start_dim = default_attr_def(SI32, 0)
    end_dim = default_attr_def(SI32, -1)

    traits = traits_def(Pure(), ViewLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        start = axis_of(self.start_dim.value.data, len(shape))
        end = axis_of(self.end_dim.value.data, len(shape))
        return (flattened(shape, start, end),)


@oneflow_op
class SqueezeOp(OneFlowOp):
    """Dimensions `axes`, of size 1, are left out."""

    name = "oneflow.squeeze"

    input = operand_def(RANKED)
    output = result_def(RANKED)
    axes = attr_def(SI32_ARRAY)

    traits = traits_def(Pure(), ViewLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        gone = {axis_of(axis, len(shape)) for axis in ints(self.axes)}
        if wrong := [axis for axis in sorted(gone) if shape[axis] != 1]:
            raise ShapeError(f"dimension {wrong[0]} of {dims(shape)} is not 1")
        return (tuple(size for axis, size in enumerate(shape) if axis not in gone),)


@oneflow_op
class ExpandDimsOp(OneFlowOp):
    """A dimension of size 1 at `axis`."""

    name = "oneflow.expand_dims"

    input = operand_def(RANKED)
    output = result_def(RANKED)
    axis = default_attr_def(SI32, 0)

    traits = traits_def(Pure(), ViewLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis = axis_of(self.axis.value.data, len(shape) + 1)
        return ((*shape[:axis], 1, *shape[axis:]),)


@oneflow_op
class CatOp(OneFlowOp):
    """Tensors one behind the other along `axis`."""

    name = "oneflow.cat"

    inputs = var_operand_def(RANKED)
    output = result_def(RANKED)
    axis = default_attr_def(SI64, 0)
    max_dim_size = default_attr_def(SI64, 0)

    traits = traits_def(Pure(), AxisLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shapes = [self.shape_of(operand) for operand in self.inputs]
        if not shapes:
            raise ShapeError("it has no operands")
        axis = axis_of(self.axis.value.data, len(shapes[0]))
        rest = {(*shape[:axis], *shape[axis + 1 :]) for shape in shapes}
        if len(rest) > 1 or len(set(map(len, shapes))) > 1:
            raise ShapeError(f"{', '.join(map(dims, shapes))} differ beside dimension {axis}")
        total = sum(shape[axis] for shape in shapes)
        return ((*shapes[0][:axis], total, *shapes[0][axis + 1 :]),)


@oneflow_op
class NarrowOp(OneFlowOp):
    """`length` indices of dimension `dim` from `start` on."""

    name = "oneflow.narrow"

    input = operand_def(RANKED)
    output = result_def(RANKED)
    dim = default_attr_def(SI64, 0)
    start = default_attr_def(SI64, 0)
    length = default_attr_def(SI64, 0)

    traits = traits_def(Pure(), NarrowLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        dim = axis_of(self.dim.value.data, len(shape))
        start, length = self.start.value.data, self.length.value.data
        if start < 0 or length < 0 or start + length > shape[dim]:
            raise ShapeError(
                f"{start} + {length} is beyond the {shape[dim]} of dimension {dim} of {dims(shape)}"
            )
        return ((*shape[:dim], length, *shape[dim + 1 :]),)
