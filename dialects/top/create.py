"""Tensors made from parameters."""

from math import ceil, prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32
from xdsl_tpu.dialects.base import TENSOR, TENSOR_OR_NONE, is_none
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.top.abstract import SameShapeOp, ShapedOp
from xdsl_tpu.dialects.top.traits import OwnResult, ShapeConsumer


def _steps(op: ShapedOp) -> tuple[Shape, ...]:
    """The length of start, start + step, .. of an op with operands start, end and step."""
    start, end, step = (
        default if is_none(operand) else op.constant_scalar(index)
        for index, (operand, default) in enumerate(zip(op.operands, (0, 0, 1), strict=True))
    )
    if not step:
        raise ShapeError("a range needs a step other than 0")
    return ((max(0, ceil((end - start) / step)),),)


@irdl_op_definition
class ArangeOp(ShapedOp):
    """start, start + step, .. up to but not including end; all three are constants."""

    name = "top.Arange"

    start = operand_def(TENSOR_OR_NONE)
    end = operand_def(TENSOR)
    step = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        return _steps(self)


@irdl_op_definition
class RangeOp(ShapedOp):
    """start, start + delta, .. up to but not including limit; all three are constants."""

    name = "top.Range"

    start = operand_def(TENSOR_OR_NONE)
    limit = operand_def(TENSOR)
    delta = operand_def(TENSOR_OR_NONE)
    output = result_def(TENSOR)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        return _steps(self)


@irdl_op_definition
class ConstantFillOp(ShapedOp):
    """`value` everywhere in a tensor whose shape the constant operand holds."""

    name = "top.ConstantFill"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    value = attr_def(F64)

    traits = traits_def(Pure(), ShapeConsumer())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (tuple(int(size) for size in self.constant_operand(0)) or (1,),)


@irdl_op_definition
class RandnLikeOp(SameShapeOp):
    """Normally distributed numbers in the shape of the input."""

    name = "top.RandnLike"

    input = operand_def(TENSOR)
    randn_data = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(OwnResult())


@irdl_op_definition
class TriluOp(SameShapeOp):
    """The upper (`upper` is 1) or lower triangle of each matrix from `diagonal` on, then zeros."""

    name = "top.Trilu"

    input = operand_def(TENSOR)
    output = result_def(TENSOR)
    upper = attr_def(SI32)
    diagonal = attr_def(SI32)

    def result_shapes(self) -> tuple[Shape, ...]:
        shape = self.shape_of(self.input)
        if len(shape) < 2:
            raise ShapeError(f"input {dims(shape)} holds no matrices")
        return (shape,)


@irdl_op_definition
class MeshGridOp(ShapedOp):
    """Each of the n vectors spread over an n-D grid; `is_reverse` takes the axes backwards."""

    name = "top.MeshGrid"

    inputs = var_operand_def(TENSOR)
    outputs = var_result_def(TENSOR)
    is_reverse = attr_def(BOOL)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        sizes = tuple(prod(self.shape_of(operand)) for operand in self.inputs)
        return (sizes[::-1] if self.is_reverse.value.data else sizes,) * len(sizes)
