"""Element by element on one tensor."""

from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED, is_ranked_tensor
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, Viewed, lanes_of
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.tpu.enums import LutBF16Mode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import ACTIVE_MODE, AFFINE_MAP, LUT_BF16_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import (
    AlikeEverywhere,
    EachElement,
    LocalAnyShape,
    LocalBroadcast,
    TakesMargins,
    as_it_stands,
)
from xdsl_tpu.dialects.tpu.op import RANKED_OR_NONE, LocalOp, SameShape, TpuOp, check_elements
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise, SupportFuseRelu


@irdl_op_definition
class ActiveOp(EachElement, SameShape, LocalOp):
    """The function `mode` of every element: GELU, exp, sigmoid, square root ...

    `coeffs` are the function's parameters, if it has any (alpha of ELU, for instance).
    """

    name = "tpu.Active"

    input = operand_def(RANKED)
    mode = attr_def(ACTIVE_MODE)
    coeffs = opt_attr_def(F64_ARRAY)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class ReluOp(EachElement, SameShape, LocalOp):
    """max(x, 0), and no more than `relu_limit` unless that is negative."""

    name = "tpu.Relu"

    input = operand_def(RANKED)
    relu_limit = default_attr_def(F64, -1.0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class LeakyReluOp(EachElement, SameShape, LocalOp):
    """x where x is positive, alpha * x elsewhere; integer scales when quantised."""

    name = "tpu.LeakyRelu"

    input = operand_def(RANKED)
    alpha = opt_attr_def(F64)
    multiplier = opt_attr_def(SI32)
    multiplier_neg = opt_attr_def(SI32)
    rshift = opt_attr_def(SI32)
    rshift_neg = opt_attr_def(SI32)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class PReluOp(AlikeEverywhere, TakesMargins, LocalAnyShape, SameShape, LocalOp):
    """x where it is positive, else x times the slope of its channel."""

    name = "tpu.PReluOp"

    input = operand_def(RANKED)
    slope = operand_def(RANKED)
    rshift = default_attr_def(SI32, 0)
    rshift_pos = opt_attr_def(SI32)
    multiplier_pos = opt_attr_def(SI32)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())

    def compact_weights(self) -> tuple[int, ...]:
        return (1,)

    def lane_weights(self) -> tuple[int, ...]:
        return (1,)


@irdl_op_definition
class LutOp(EachElement, SameShape, LocalOp):
    """The element of a table of 256 at each 8-bit index; a signed index i < 0 means 256 + i."""

    name = "tpu.Lut"

    input = operand_def(RANKED)
    table = operand_def(RANKED)
    do_core_parallel = opt_attr_def(BOOL)
    indexing_map_s2l = opt_attr_def(AFFINE_MAP)
    indexing_map_l2s = opt_attr_def(AFFINE_MAP)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())

    def result_shapes(self) -> tuple[Shape, ...]:
        check_elements(self, "table", self.table, 256)
        return super().result_shapes()

    def row_operands(self) -> tuple[int, ...]:
        return (1,)


@irdl_op_definition
class SoftRampOp(EachElement, SameShape, LocalOp):
    """A function of 8-bit integers or f16 that is nearly max(x, 0), as GELU and SiLU are, in f16.

    v = x * `factor`, and the result (max(v, 0) - p(min(|v|, `limit`))) * `scale`, integers rounded
    half away from zero. The polynomial p has the coefficients `terms`, from that of 0 on. Integers
    are taken as they are stored: the types' scales are part of factor and terms. Every step is
    rounded to f16; factors and scales of 1 are no step. Between signed integers with neither and
    a whole limit only p is in f16, of min(|x|, limit) * `unit` (1 elsewhere), and is rounded before
    it is taken off. Operand and result are both integers or both f16.
    """

    name = "tpu.SoftRamp"

    input = operand_def(RANKED)
    factor = attr_def(F64)
    limit = attr_def(F64)
    terms = attr_def(F64_ARRAY)
    scale = default_attr_def(F64, 1.0)
    unit = default_attr_def(F64, 1.0)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())

    def verify_(self) -> None:
        super().verify_()
        if not len(self.terms):
            raise VerifyException("a polynomial has at least one of `terms`")
        numbers = (self.factor.value.data, self.scale.value.data)
        kind = self.output.type
        whole = is_ranked_tensor(kind) and isinstance(kind.element_type, UniformType)
        if self.unit.value.data != 1 and (numbers != (1, 1) or not whole):
            raise VerifyException("only between integers without factors may `unit` be another")


@irdl_op_definition
class LutBF16Op(SameShape, LocalOp):
    """A bf16 function by look-up, refined by slopes or mantissas from a second table."""

    name = "tpu.LutBF16"

    input = operand_def(RANKED)
    table = operand_def(RANKED)
    mantissa = operand_def(RANKED_OR_NONE)
    max_range = default_attr_def(F64, 8)
    min_range = default_attr_def(F64, -8)
    lut_mode = default_attr_def(LUT_BF16_MODE, LutBF16Mode.Other)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())


@irdl_op_definition
class ScaleOp(LocalBroadcast, SameShape, LocalOp):
    """x * scale + bias for every channel of N, C, .., then the ReLU if any."""

    name = "tpu.Scale"

    input = operand_def(RANKED)
    scale = operand_def(RANKED)
    bias = operand_def(RANKED)
    lshift = operand_def(RANKED_OR_NONE)
    do_relu = default_attr_def(BOOL, False)
    relu_limit = default_attr_def(F64, -1.0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportFuseRelu())

    def result_shapes(self) -> tuple[Shape, ...]:
        (shape,) = super().result_shapes()
        channels = shape[1] if len(shape) > 1 else 1
        check_elements(self, "scale", self.scale, channels)
        check_elements(self, "bias", self.bias, channels)
        return (shape,)

    def viewed(self, lanes: Lanes) -> Viewed | None:
        """Only with its channels where they are."""
        shape = self.shape_of(self.input)
        return as_it_stands(self) if lanes_of(shape) == lanes else None

    def may_overwrite(self) -> bool:
        return True


@irdl_op_definition
class ScaleLutOp(SameShape, LocalOp):
    """A table of its own for every channel of an 8-bit image."""

    name = "tpu.ScaleLut"

    input = operand_def(RANKED)
    table = operand_def(RANKED)
    scale = attr_def(F64_ARRAY)
    bias = attr_def(F64_ARRAY)
    sign = default_attr_def(BOOL, True)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape())


@irdl_op_definition
class FusedActiveCastOp(SameShape, TpuOp):
    """An activation whose result comes in another number format."""

    name = "tpu.FusedActiveCast"

    input = operand_def(RANKED)
    mode = attr_def(ACTIVE_MODE)
    coeffs = opt_attr_def(F64_ARRAY)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RANKED)

    traits = traits_def(Pure(), InOutSameShape(), SupportElementwise())
