"""What families of `tpu` ops have in common."""

from abc import ABC
from math import prod

from xdsl.dialects.builtin import NoneType
from xdsl.ir import SSAValue
from xdsl.irdl import AttrConstraint, attr_def, operand_def, opt_attr_def, result_def, traits_def
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.base import NONE, RANKED, NamedOp, RankedTensor, is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.dialects.interfaces.shape import (
    Shape,
    ShapeError,
    ShapeInference,
    UnknownShapeError,
    dims,
    known_shape,
)
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import BINARY_SHIFT, LAYER_GROUP, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import EachElement
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise

RANKED_OR_NONE: AttrConstraint[RankedTensor | NoneType] = RANKED | NONE
"""An operand that may be absent: the `none` value that `top.None` makes takes its place."""


class TpuOp(NamedOp):
    """An op the chip (or, for a few, its host) carries out on tensors in global memory."""

    multicore = opt_attr_def(BOOL)
    """Whether several cores share the work; left out on chips with one core."""


class LocalOp(LocalGen, TpuOp):
    """An op that can also work inside a group, on slices in local memory.

    Whether and how it does is what the methods of LocalGen say.
    """

    ginfo = opt_attr_def(LAYER_GROUP)
    """Slices, addresses and pipeline stage of the op in its group; absent outside groups."""


class FusedReluOp(TpuOp, ABC):
    """An op that may end with a ReLU: when `do_relu`, results are clipped below at 0.

    They are clipped above at `relu_limit` too unless that is negative.
    """

    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)


class ShiftedOp(TpuOp, ABC):
    """An integer operation, `mode`, whose exact results are then shifted by `shift`."""

    mode = attr_def(BINARY_SHIFT)
    shift = attr_def(SI32)
    is_reverse = default_attr_def(BOOL, False)
    saturation = default_attr_def(BOOL, True)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)


class SameShape(ShapeInference, ABC):
    """The (only) result has the shape of the first operand."""

    def result_shapes(self) -> tuple[Shape, ...]:
        return (self.shape_of(self.operands[0]),)


class UnaryOp(EachElement, SameShape, LocalOp, ABC):
    """One tensor in, one of the same shape out.

    An op with more operands declares `input` anew: those of a base come after its own.
    """

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())


class ElementwiseOp(UnaryOp, ABC):
    """Element by element on one tensor."""

    do_core_parallel = opt_attr_def(BOOL)

    traits = traits_def(SupportElementwise())


class Broadcast(ShapeInference, ABC):
    """Element by element over all operands, whose shapes numpy would broadcast."""

    def result_shapes(self) -> tuple[Shape, ...]:
        present = (operand for operand in self.operands if not is_none(operand))
        return (broadcast(*map(self.shape_of, present)),)


def declared_shape(result: SSAValue) -> Shape:
    """The shape in a result's type, for ops whose operands leave it open.

    Raises:
        UnknownShapeError: the type has no shape, or not a full one.
    """
    shape = known_shape(result.type)
    if shape is None:
        raise UnknownShapeError(f"the result type {result.type} must say the shape")
    return shape


def check_elements(op: ShapeInference, name: str, operand: SSAValue, count: int) -> None:
    """Raise ShapeError unless `operand`, which the message calls `name`, has `count` elements.

    An absent operand passes.
    """
    if not is_none(operand) and prod(shape := op.shape_of(operand)) != count:
        raise ShapeError(f"{name} {dims(shape)} needs {count} elements")
