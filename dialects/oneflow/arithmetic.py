"""Sums, products and the like of tensors, or of a tensor and a number."""

from abc import ABC
from math import isfinite

from xdsl.irdl import operand_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast
from xdsl_tpu.dialects.oneflow.base import (
    BOOL,
    F64,
    SI64,
    OneFlowOp,
    default_attr_def,
)
from xdsl_tpu.dialects.oneflow.elementwise import ElementwiseOp
from xdsl_tpu.dialects.oneflow.layout import BroadcastLayout, SameShapeLayout
from xdsl_tpu.dialects.oneflow.segments import oneflow_op


class BroadcastOp(OneFlowOp, ABC):
    """Element by element, over shapes that broadcast as numpy's do."""

    x = operand_def(RANKED)
    y = operand_def(RANKED)
    z = result_def(RANKED)

    traits = traits_def(Pure(), BroadcastLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (broadcast(self.shape_of(self.x), self.shape_of(self.y)),)


@oneflow_op
class BroadcastAddOp(BroadcastOp):
    """x + y."""

    name = "oneflow.broadcast_add"


@oneflow_op
class BroadcastSubOp(BroadcastOp):
    """x - y."""

    name = "oneflow.broadcast_sub"


@oneflow_op
class BroadcastMulOp(BroadcastOp):
    """x * y."""

    name = "oneflow.broadcast_mul"


@oneflow_op
class BroadcastDivOp(BroadcastOp):
    """x / y."""

    name = "oneflow.broadcast_div"


@oneflow_op
class BroadcastMaximumOp(BroadcastOp):
    """The larger of x and y."""

    name = "oneflow.broadcast_maximum"


@oneflow_op
class BroadcastMinimumOp(BroadcastOp):
    """The smaller of x and y."""

    name = "oneflow.broadcast_minimum"


class SumOp(OneFlowOp, ABC):
    """The sum of tensors of one shape."""

    output = result_def(RANKED)

    traits = traits_def(Pure(), SameShapeLayout())

    def result_shapes(self) -> tuple[Shape, ...]:
        shapes = [self.shape_of(operand) for operand in self.operands]
        if len(set(shapes)) != 1:
            raise ShapeError(f"operands {', '.join(map(dims, shapes))} must have one shape")
        return (shapes[0],)


@oneflow_op
class AddN2Op(SumOp):
    """in0 + in1: what `add_n` of two operands becomes."""

    name = "oneflow.add_n2"

    in0 = operand_def(RANKED)
    in1 = operand_def(RANKED)


@oneflow_op
class AddNOp(SumOp):
    """The sum of any number of tensors."""

    name = "oneflow.add_n"

    inputs = var_operand_def(RANKED)


class ScalarOp(ElementwiseOp, ABC):
    """A tensor and a number, an integer or a float as the `has_` attributes say."""

    has_int_operand = default_attr_def(BOOL, False)
    has_float_operand = default_attr_def(BOOL, False)
    int_operand = default_attr_def(SI64, 0)
    float_operand = default_attr_def(F64, 0.0)

    @property
    def number(self) -> float:
        """The number."""
        if self.has_float_operand.value.data:
            return self.float_operand.value.data
        return float(self.int_operand.value.data)

    def verify_(self) -> None:
        super().verify_()
        kinds = (self.has_int_operand.value.data, self.has_float_operand.value.data)
        if sum(map(bool, kinds)) != 1:
            raise VerifyException("one of has_int_operand and has_float_operand must be true")
        if not isfinite(self.number):
            raise VerifyException(f"its number is {self.number}, which is not finite")


@oneflow_op
class ScalarAddOp(ScalarOp):
    """x plus the number."""

    name = "oneflow.scalar_add"


@oneflow_op
class ScalarMulOp(ScalarOp):
    """x times the number."""

    name = "oneflow.scalar_mul"


@oneflow_op
class ScalarDivOp(ScalarOp):
    """x divided by the number."""

    name = "oneflow.scalar_div"


@oneflow_op
class ScalarPowOp(ScalarOp):
    """x to the power of the number."""

    name = "oneflow.scalar_pow"
