"""Reading and writing by indices, sorting."""

from math import prod

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

from xdsl_tpu.dialects.attrs import BOOL, I32_INT, I64_INT, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, NamedOp, is_none
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of, scalar_as_one
from xdsl_tpu.dialects.top.abstract import SameShapeOp, ShapedOp
from xdsl_tpu.dialects.top.enums import NON_ZERO_ORDER
from xdsl_tpu.dialects.top.traits import ScalarProducer


@irdl_op_definition
class GatherOp(ShapedOp):
    """The slices of the input at `indices` along `axis`; negative indices count from the end.

    The dimensions of the indices take the place of the axis. Without `keepdims` the indices
    are one scalar and the axis vanishes.
    """

    name = "top.Gather"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    output = result_def(TENSOR)
    keepdims = default_attr_def(BOOL, True)
    axis = default_attr_def(SI32, 0)
    is_scalar = default_attr_def(BOOL, False)
    is_lora = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), ScalarProducer())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, indices = self.shape_of(self.input), self.shape_of(self.indices)
        axis = axis_of(self.axis.value.data, len(shape))
        if not self.keepdims.value.data and prod(indices) != 1:
            raise ShapeError(f"indices {dims(indices)} are not a scalar, but keepdims is false")
        middle = indices if self.keepdims.value.data else ()
        return (scalar_as_one((*shape[:axis], *middle, *shape[axis + 1 :])),)

    def resolve(self) -> None:
        """Count the axis from the front."""
        self.axis = SI32.encode(axis_of(self.axis.value.data, len(self.shape_of(self.input))))


@irdl_op_definition
class GatherElementsOp(ShapedOp):
    """For each index the element whose coordinate along `axis` is that index."""

    name = "top.GatherElements"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = default_attr_def(I64_INT, 2)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, indices = self.shape_of(self.input), self.shape_of(self.indices)
        axis_of(self.axis.value.data, len(shape))
        if len(indices) != len(shape):
            raise ShapeError(f"indices {dims(indices)} differ in rank from {dims(shape)}")
        return (indices,)


@irdl_op_definition
class GatherNDOp(ShapedOp):
    """The slices of the input at coordinates, which the last dimension of `indices` holds.

    The first `batch_dims` dimensions are shared by input and indices.
    """

    name = "top.GatherND"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    output = result_def(TENSOR)
    indice_dims = opt_attr_def(I64_INT)
    batch_dims = default_attr_def(I64_INT, 0)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, indices = self.shape_of(self.input), self.shape_of(self.indices)
        batch = self.batch_dims.value.data
        depth = batch + (indices[-1] if indices else 0)
        in_front = 0 <= batch < len(indices)
        if not in_front or shape[:batch] != indices[:batch] or depth > len(shape):
            raise ShapeError(f"indices {dims(indices)} do not reach into {dims(shape)}")
        return (scalar_as_one((*indices[:-1], *shape[depth:])),)


@irdl_op_definition
class A16GatherOp(NamedOp):
    """Embedding look-up in a packed 4- or 8-bit table; the result is a 16-bit float.

    Every `q_group_size` table entries share a scale and a zero point.
    """

    name = "top.A16Gather"

    weight = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    scale = operand_def(TENSOR)
    zp = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = default_attr_def(SI32, 0)
    keepdims = default_attr_def(BOOL, False)
    q_group_size = default_attr_def(I64_INT, 32)
    weight_bits = default_attr_def(I64_INT, 8)

    traits = traits_def(Pure())


@irdl_op_definition
class ScatterElementsOp(SameShapeOp):
    """A copy of the input with `updates` written at the indices along `axis`.

    With a `reduction` other than 0 the updates are added to what is there.
    """

    name = "top.ScatterElements"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    updates = operand_def(TENSOR)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)
    reduction = default_attr_def(I64_INT, 0)
    nc_can_split = default_attr_def(BOOL, False)

    @staticmethod
    def as_scatter_nd(reduction: int) -> int:
        """The `reduction` of a ScatterND that does the same: 0 replaces, every other adds."""
        return min(reduction, 1)

    def result_shapes(self) -> tuple[Shape, ...]:
        indices, updates = self.shape_of(self.indices), self.shape_of(self.updates)
        if indices != updates:
            raise ShapeError(f"updates {dims(updates)} do not fit indices {dims(indices)}")
        return (self.shape_of(self.input),)


@irdl_op_definition
class ScatterNDOp(SameShapeOp):
    """A copy of the input with slices of `updates` written at coordinates.

    The last dimension of `indices` holds the coordinates. `reduction` 0 replaces, 1 adds,
    2 subtracts, 3 takes the maximum, 4 the minimum and 5 multiplies.
    """

    name = "top.ScatterND"

    input_data = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    updates = operand_def(TENSOR)
    output = result_def(TENSOR)
    reduction = default_attr_def(I32_INT, 0)

    def result_shapes(self) -> tuple[Shape, ...]:
        shape, indices = self.shape_of(self.input_data), self.shape_of(self.indices)
        if not indices or indices[-1] > len(shape):
            raise ShapeError(f"indices {dims(indices)} do not reach into {dims(shape)}")
        expected = scalar_as_one((*indices[:-1], *shape[indices[-1] :]))
        if (updates := self.shape_of(self.updates)) != expected:
            raise ShapeError(f"updates are {dims(updates)}, the indices call for {dims(expected)}")
        return (shape,)


@irdl_op_definition
class IndexPutOp(SameShapeOp):
    """A copy of the input with `values` written, or added with `accumulate`, at `indices`."""

    name = "top.IndexPut"

    input = operand_def(TENSOR)
    indices = operand_def(TENSOR)
    values = operand_def(TENSOR)
    output = result_def(TENSOR)
    accumulate = default_attr_def(BOOL, False)


@irdl_op_definition
class NonZeroOp(ShapedOp):
    """Coordinates of the non-zero elements, one row of the result a dimension (RowMajor).

    ColMajor has one column a dimension instead. How many there are is known only at run time;
    the shape leaves room for all elements.
    """

    name = "top.NonZero"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    order = attr_def(NON_ZERO_ORDER)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        rows = (len(shape), prod(shape))
        return (rows if self.order.data == "RowMajor" else rows[::-1],)


@irdl_op_definition
class TopKOp(ShapedOp):
    """The `K` largest (or smallest) elements along `axis`, and their indices.

    K may be the constant operand `kT` instead. A result nobody uses is none.
    """

    name = "top.TopK"

    input = operand_def(TENSOR)
    kT = opt_operand_def(TENSOR)
    values = result_def(TENSOR_OR_NONE)
    indices = result_def(TENSOR_OR_NONE)
    axis = attr_def(I64_INT)
    K = default_attr_def(I64_INT, -1)
    largest = default_attr_def(BOOL, True)
    sorted = default_attr_def(BOOL, True)
    replace_topk_indices = default_attr_def(BOOL, False)
    use_hau = default_attr_def(BOOL, True)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis = axis_of(self.axis.value.data, len(shape))
        count = self.K.value.data if self.kT is None else int(self.constant_scalar(1))
        if not 0 < count <= shape[axis]:
            raise ShapeError(f"K is {count}, but axis {axis} of {dims(shape)} has {shape[axis]}")
        chosen = (*shape[:axis], count, *shape[axis + 1 :])
        return tuple(() if is_none(result) else chosen for result in self.results)


@irdl_op_definition
class SortOp(ShapedOp):
    """The input sorted along `axis`, and where the elements came from."""

    name = "top.Sort"

    input = operand_def(TENSOR)
    values = result_def(TENSOR_OR_NONE)
    indices = result_def(TENSOR)
    axis = attr_def(I64_INT)
    descending = default_attr_def(BOOL, True)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis_of(self.axis.value.data, len(shape))
        return tuple(() if is_none(result) else shape for result in self.results)
