"""Reductions and scans."""

from xdsl.irdl import attr_def, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, default_attr_def, ints
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interfaces.shape_rules import axes_of, axis_of, reduced
from xdsl_tpu.dialects.top.abstract import SameShapeOp, ShapedOp
from xdsl_tpu.dialects.top.enums import ARG_MODE, REDUCE_MODE
from xdsl_tpu.dialects.top.layout import ArgLayout, ReduceLayout
from xdsl_tpu.dialects.top.traits import ScalarProducer


@irdl_op_definition
class ReduceOp(ShapedOp):
    """One value for all indices of `axes`: ReduceMean, ReduceSum, ReduceMax, ReduceL2 ...

    The axes stay as dimensions of size 1 with `keepdims` and vanish otherwise. No axes means
    all of them. A result without dimensions is written as one element with `is_scalar`.
    """

    name = "top.Reduce"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    axes = attr_def(I64_ARRAY)
    keepdims = attr_def(BOOL)
    mode = attr_def(REDUCE_MODE)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), ScalarProducer(), ReduceLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        return (reduced(shape, self._axes(shape), bool(self.keepdims.value.data)),)

    def resolve(self) -> None:
        """Count the axes from the front and sort them; list all of them instead of none."""
        self.axes = I64_ARRAY.encode(self._axes(self.shape_of(self.input)))

    def _axes(self, shape: Shape) -> tuple[int, ...]:
        return axes_of(ints(self.axes), len(shape)) or tuple(range(len(shape)))


@irdl_op_definition
class ArgOp(ShapedOp):
    """Index of the smallest (ArgMin) or largest (ArgMax) element along `axis`, and the element.

    Among equals the last index with `select_last_index`, the first without. The values are
    none when nobody asks for them.
    """

    name = "top.Arg"

    input = operand_def(TENSOR)
    indices = result_def(TENSOR)
    values = result_def(TENSOR_OR_NONE)
    axis = attr_def(I64_INT)
    keepdims = attr_def(BOOL)
    mode = attr_def(ARG_MODE)
    select_last_index = default_attr_def(BOOL, True)

    traits = traits_def(Pure(), ArgLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis = axis_of(self.axis.value.data, len(shape))
        result = reduced(shape, (axis,), bool(self.keepdims.value.data))
        return (result, () if is_none(self.values) else result)

    def resolve(self) -> None:
        """Count the axis from the front."""
        axis = axis_of(self.axis.value.data, len(self.shape_of(self.input)))
        self.axis = I64_INT.encode(axis)


@irdl_op_definition
class CumSumOp(SameShapeOp):
    """Sums of the elements up to and including each, along `axis`."""

    name = "top.CumSum"

    input = operand_def(TENSOR)
    dim = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)
    axis = attr_def(I64_INT)

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axis_of(self.axis.value.data, len(shape))
        return (shape,)


@irdl_op_definition
class VarianceOp(ShapedOp):
    """Variance over the dimensions in `reduce_list`, divided by the count less `correction`."""

    name = "top.Variance"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    reduce_list = attr_def(I64_ARRAY)
    correction = attr_def(F64)
    keep_dims = default_attr_def(BOOL, False)

    traits = traits_def(Pure(), ReduceLayout("reduce_list", "keep_dims"))

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        axes = axes_of(ints(self.reduce_list), len(shape)) or tuple(range(len(shape)))
        return (reduced(shape, axes, bool(self.keep_dims.value.data)),)
