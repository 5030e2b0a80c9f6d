"""Softmax in its variants."""

from math import prod

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of, row_shape
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import ROUND_MODE
from xdsl_tpu.dialects.tpu.local import (
    AlikeEverywhere,
    as_it_stands,
    splits_beside,
)
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, SameShape, TpuOp
from xdsl_tpu.dialects.traits import InOutSameShape


@irdl_op_definition
class SoftmaxOp(AlikeEverywhere, LaneView, SameShape, LocalOp):
    """exp(beta * (x - max)) over its sum along `axis`; its logarithm with `log`.

    The tables are those of the 8-bit form and none otherwise.
    """

    name = "tpu.Softmax"

    input = operand_def(RANKED)
    table = operand_def(RANKED_OR_NONE)
    slope_table = operand_def(RANKED_OR_NONE)
    reciprocal_table = operand_def(RANKED_OR_NONE)
    reciprocal_mantissa_table = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    axis = attr_def(SI32)
    log = default_attr_def(BOOL, False)
    beta = default_attr_def(F64, 1.0)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())

    def result_shapes(self) -> tuple[Shape, ...]:
        (shape,) = super().result_shapes()
        axis_of(self.axis.value.data, len(shape))
        return (shape,)

    def may_overwrite(self) -> bool:
        return True

    def local_support(self, kind: GroupType) -> str | None:
        rank = len(self.shape_of(self.input))
        axis = axis_of(self.axis.value.data, rank)
        if rank in (3, 4) and axis >= 2:
            return None
        return f"it is over axis {axis} of rank {rank}; only axes 2 and 3 of rank 3 and 4 are local"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        rank = len(self.shape_of(self.input))
        own = axis_of(self.axis.value.data, rank)
        return splits_beside(axis, kind, own, own, rank)

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        shape = self.shape_of(self.input)
        return (Lanes(1, prod(shape[:-1])), Lanes(prod(shape[:-2]), prod(shape[-2:-1])))

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shape = self.shape_of(self.input)
        axis = axis_of(self.axis.value.data, len(shape))
        if lanes_of(shape) == lanes and axis >= 2:
            return as_it_stands(self)
        seen = row_shape(shape, lanes, shape[-1]) if axis == len(shape) - 1 else None
        if seen is None:
            return None
        last = SI32.convert(len(seen) - 1)
        return Viewed((seen, *(None for _ in self.operands[1:])), seen, {"axis": last})


@irdl_op_definition
class SoftmaxCastOp(TpuOp):
    """Softmax whose result comes in another number format."""

    name = "tpu.SoftmaxCast"

    input = operand_def(RANKED)
    table = operand_def(RANKED_OR_NONE)
    slope_table = operand_def(RANKED_OR_NONE)
    reciprocal_table = operand_def(RANKED_OR_NONE)
    reciprocal_mantissa_table = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    axis = attr_def(SI32)
    log = default_attr_def(BOOL, False)
    beta = default_attr_def(F64, 1.0)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())
