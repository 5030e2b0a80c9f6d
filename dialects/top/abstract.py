"""What families of `top` ops have in common."""

from abc import ABC

from xdsl.irdl import attr_def, operand_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.base import TENSOR, NamedOp, is_none
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeInference
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast
from xdsl_tpu.dialects.top.enums import BINARY_SHIFT, ROUND_MODE
from xdsl_tpu.dialects.top.layout import Elementwise, ElementwiseUnary
from xdsl_tpu.dialects.top.traits import InOutSameShape, SupportElementwise


class ShapedOp(ShapeInference, NamedOp, ABC):
    """A `top` op whose result shapes can be inferred."""


class FusedReluOp(NamedOp, ABC):
    """An op that may end with a ReLU: when `do_relu`, results are clipped below at 0.

    They are clipped above at `relu_limit` too unless that is negative.
    """

    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)


class ShiftedOp(NamedOp, ABC):
    """An integer operation, `mode`, whose exact results are then shifted by `shift`."""

    mode = attr_def(BINARY_SHIFT)
    shift = attr_def(SI32)
    is_reverse = default_attr_def(BOOL, False)
    saturation = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, "HalfAwayFromZero")


class SameShapeOp(ShapedOp, ABC):
    """An op with one result, of the shape of its first operand."""

    traits = traits_def(Pure(), InOutSameShape())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (self.shape_of(self.operands[0]),)


class UnaryOp(SameShapeOp, ABC):
    """One tensor in, one of the same shape out."""

    input = operand_def(TENSOR)
    output = result_def(TENSOR)

    traits = traits_def(ElementwiseUnary())


class BroadcastOp(ShapedOp, ABC):
    """Element by element over tensors of broadcastable shapes (numpy's rules)."""

    traits = traits_def(Pure(), SupportElementwise(), Elementwise())

    def result_shapes(self) -> tuple[Shape, ...]:
        present = (operand for operand in self.operands if not is_none(operand))
        return (broadcast(*map(self.shape_of, present)),)
