"""Normalisations."""

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

from xdsl_tpu.dialects.attrs import BOOL, F64, I64_ARRAY, I64_INT, SI32, default_attr_def, ints
from xdsl_tpu.dialects.base import RANKED, is_none
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of, row_shape
from xdsl_tpu.dialects.interfaces.local_gen import Axis, GroupType
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, dims
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of
from xdsl_tpu.dialects.tpu.enums import RoundMode
from xdsl_tpu.dialects.tpu.kinds import ROUND_MODE
from xdsl_tpu.dialects.tpu.local import (
    AlikeEverywhere,
    as_it_stands,
    splits_before,
)
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, SameShape, TpuOp, check_elements
from xdsl_tpu.dialects.traits import InOutSameShape


@irdl_op_definition
class LayerNormOp(AlikeEverywhere, LaneView, SameShape, LocalOp):
    """(x - mean) / sqrt(variance + eps) * weight + bias over the dimensions from `axis` on.

    Weight and bias have the elements of these dimensions, or are none for all ones and all
    zeros. The tables are those of another chip and none here.
    """

    name = "tpu.LayerNorm"

    input = operand_def(RANKED)
    weight = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    table = operand_def(RANKED_OR_NONE)
    mantissa_table = operand_def(RANKED_OR_NONE)
    normalized_shape = attr_def(I64_ARRAY)
    axis = attr_def(SI32)
    eps = attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def may_overwrite(self) -> bool:
        return True

    def result_shapes(self) -> tuple[Shape, ...]:
        (shape,) = super().result_shapes()
        normalized = shape[axis_of(self.axis.value.data, len(shape)) :]
        if (declared := ints(self.normalized_shape)) != normalized:
            raise ShapeError(f"normalized_shape is {dims(declared)}, but input {dims(shape)}")
        check_elements(self, "weight", self.weight, prod(normalized))
        check_elements(self, "bias", self.bias, prod(normalized))
        return (shape,)

    def local_support(self, kind: GroupType) -> str | None:
        axis = self._first_axis()
        return None if 0 < axis <= 4 else f"it is over axis {axis}; only axes 1 to 4 are local"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return splits_before(axis, kind, self._first_axis())

    def compact_weights(self) -> tuple[int, ...]:
        return (1, 2)

    def _first_axis(self) -> int:
        return axis_of(self.axis.value.data, len(self.shape_of(self.input)))

    def row_operands(self) -> tuple[int, ...]:
        return (1, 2)

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        outer = self.shape_of(self.input)[: self._first_axis()]
        return (Lanes(1, prod(outer)), Lanes(prod(outer[:-1]), prod(outer[-1:])))

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shape, first = self.shape_of(self.input), self._first_axis()
        if lanes_of(shape) == lanes and first >= 2:
            return as_it_stands(self)
        width = prod(shape[first:])
        seen = row_shape(shape, lanes, width)
        if seen is None:
            return None
        changed = {
            "axis": SI32.convert(len(seen) - 1),
            "normalized_shape": I64_ARRAY.convert([width]),
        }
        row = (*(1 for _ in seen[1:]), width)
        rows = (None if is_none(value) else row for value in (self.weight, self.bias))
        return Viewed((seen, *rows, None, None), seen, changed)


@irdl_op_definition
class LayerNormCastOp(TpuOp):
    """Layer normalisation whose result comes in another number format."""

    name = "tpu.LayerNormCast"

    input = operand_def(RANKED)
    weight = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    axis = attr_def(SI32)
    eps = attr_def(F64)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    isCastAtEnd = default_attr_def(I64_INT, 1)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class GroupNormOp(SameShape, LocalOp):
    """Normalisation of N, C, .. over groups of C / num_groups channels and all positions.

    Then times weight plus bias, which have C elements each, or are none.
    """

    name = "tpu.GroupNorm"

    input = operand_def(RANKED)
    weight = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    table = operand_def(RANKED_OR_NONE)
    mantissa_table = operand_def(RANKED_OR_NONE)
    num_groups = attr_def(I64_INT)
    eps = attr_def(F64)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        (shape,) = super().result_shapes()
        groups = self.num_groups.value.data
        if len(shape) < 2 or groups < 1 or shape[1] % groups:
            raise ShapeError(f"the channels of {dims(shape)} do not make {groups} groups")
        check_elements(self, "weight", self.weight, shape[1])
        check_elements(self, "bias", self.bias, shape[1])
        return (shape,)

    def may_overwrite(self) -> bool:
        return True

    def local_support(self, kind: GroupType) -> str | None:
        shape, groups = self.shape_of(self.input), self.num_groups.value.data
        if shape[1] != groups:
            return f"groups of {shape[1] // groups} channels lie in several lanes"
        return None if len(shape) in (3, 4) else f"its rank is {len(shape)}; only 3 and 4 are local"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis in ("n", "c")

    def channel_weights(self) -> tuple[int, ...]:
        return (1, 2)

    def lane_weights(self) -> tuple[int, ...]:
        return (1, 2)


@irdl_op_definition
class InstanceNormOp(SameShape, LocalOp):
    """Normalisation of every channel of N, C, .. over its positions, times weight plus bias."""

    name = "tpu.InstanceNorm"

    input = operand_def(RANKED)
    weight = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    table = operand_def(RANKED_OR_NONE)
    mantissa_table = operand_def(RANKED_OR_NONE)
    eps = attr_def(F64)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def may_overwrite(self) -> bool:
        return True

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis in ("n", "c")


@irdl_op_definition
class PixelNormOp(AlikeEverywhere, SameShape, LocalOp):
    """Normalisation over the channels at each position of N, C, ..; parameters are rows."""

    name = "tpu.PixelNorm"

    input = operand_def(RANKED)
    weight = operand_def(RANKED_OR_NONE)
    bias = operand_def(RANKED_OR_NONE)
    table = operand_def(RANKED_OR_NONE)
    mantissa_table = operand_def(RANKED_OR_NONE)
    eps = attr_def(F64)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def may_overwrite(self) -> bool:
        return True

    def local_support(self, kind: GroupType) -> str | None:
        shape = self.shape_of(self.input)
        if len(shape) not in (3, 4):
            return f"its rank is {len(shape)}; only ranks 3 and 4 are local"
        given = [self.shape_of(one) for one in (self.weight, self.bias) if not is_none(one)]
        if any(one[-1] != shape[1] for one in given):
            return "its parameters are no rows"
        return None

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis != "c"

    def row_operands(self) -> tuple[int, ...]:
        return (1, 2)


@irdl_op_definition
class RMSNormOp(AlikeEverywhere, LaneView, SameShape, LocalOp):
    """x / sqrt(mean(x * x) + eps) * gamma over the last dimension."""

    name = "tpu.RMSNorm"

    input = operand_def(RANKED)
    gamma = operand_def(RANKED_OR_NONE)
    eps = attr_def(F64)
    weight_keep_f32 = default_attr_def(BOOL, False)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def may_overwrite(self) -> bool:
        return True

    def result_shapes(self) -> tuple[Shape, ...]:
        (shape,) = super().result_shapes()
        check_elements(self, "gamma", self.gamma, shape[-1])
        return (shape,)

    def local_support(self, kind: GroupType) -> str | None:
        rank = len(self.shape_of(self.input))
        return None if 2 <= rank <= 5 else f"its rank is {rank}; only ranks 2 to 5 are local"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return splits_before(axis, kind, len(self.shape_of(self.input)) - 1)

    def compact_weights(self) -> tuple[int, ...]:
        return (1,)

    def row_operands(self) -> tuple[int, ...]:
        return (1,)

    def lanes_wanted(self) -> tuple[Lanes, ...]:
        outer = self.shape_of(self.input)[:-1]
        return (Lanes(1, prod(outer)), Lanes(prod(outer[:-1]), prod(outer[-1:])))

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shape = self.shape_of(self.input)
        *outer, width = shape
        if lanes_of(shape) == lanes and len(outer) >= 2:
            return as_it_stands(self)
        seen = row_shape(shape, lanes, width)
        if seen is None:
            return None
        row = None if is_none(self.gamma) else (*(1 for _ in seen[1:]), width)
        return Viewed((seen, row), seen)


@irdl_op_definition
class LRNOp(SameShape, LocalOp):
    """x divided by a power of the squares in nearby channels (AlexNet's normalisation)."""

    name = "tpu.LRN"

    input = operand_def(RANKED)
    table = operand_def(RANKED_OR_NONE)
    mantissa = operand_def(RANKED_OR_NONE)
    size = attr_def(I64_INT)
    alpha = default_attr_def(F64, 0.0001)
    beta = default_attr_def(F64, 0.75)
    bias = default_attr_def(F64, 1.0)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())
