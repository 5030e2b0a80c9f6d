"""Element by element on two or more tensors."""

from abc import ABC
from typing import Any

from xdsl.dialects.builtin import ArrayAttr
from xdsl.irdl import (
    attr_def,
    irdl_op_definition,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xdsl_tpu.dialects.attrs import BOOL, F64, F64_ARRAY, I32_INT, I64_ARRAY, SI32, default_attr_def
from xdsl_tpu.dialects.base import RANKED
from xdsl_tpu.dialects.interfaces.local_gen import Part, Range, clipped
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError, ShapeInference
from xdsl_tpu.dialects.tpu.enums import RequantMode, RoundMode
from xdsl_tpu.dialects.tpu.kinds import COMPARE_MODE, REQUANT_MODE, ROUND_MODE
from xdsl_tpu.dialects.tpu.local import LocalBroadcast
from xdsl_tpu.dialects.tpu.op import (
    RANKED_OR_NONE,
    Broadcast,
    FusedReluOp,
    LocalOp,
    ShiftedOp,
)
from xdsl_tpu.dialects.traits import SupportEarlyStride, SupportFuseRelu


def check_input_count(op: ShapeInference, count: int) -> None:
    """Raise ShapeError unless the op has `count` inputs."""
    if len(op.operands) != count:
        raise ShapeError(f"needs {count} inputs, not {len(op.operands)}")


def check_one_per_input(op: ShapeInference, **lists: ArrayAttr[Any] | None) -> None:
    """Raise ShapeError unless every list that is there has one value an input."""
    for name, values in lists.items():
        if values is not None and len(values) != len(op.operands):
            raise ShapeError(f"{name} has {len(values)} values for {len(op.operands)} inputs")


class BroadcastOp(LocalBroadcast, Broadcast, LocalOp, ABC):
    """Element by element with numpy's broadcasting."""

    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())


class SeveralInputsOp(FusedReluOp, BroadcastOp, ABC):
    """Element by element over any number of inputs; then the ReLU."""

    inputs = var_operand_def(RANKED)

    def may_overwrite(self) -> bool:
        return True


class CoefficientsOp(SeveralInputsOp, ABC):
    """An op that may multiply each input by its own element of `coeff`.

    Quantised, each input is scaled by its own element of `multipliers` and `rshifts` first.
    """

    coeff = opt_attr_def(F64_ARRAY)
    multipliers = opt_attr_def(I64_ARRAY)
    rshifts = opt_attr_def(I64_ARRAY)


class SumOp(CoefficientsOp, ABC):
    """Sum or difference of inputs, each times its `coeff`; then the ReLU."""

    f8_scales = opt_attr_def(F64_ARRAY)
    is_scalar = default_attr_def(BOOL, False)

    traits = traits_def(SupportFuseRelu())

    def result_shapes(self) -> tuple[Shape, ...]:
        check_one_per_input(
            self, coeff=self.coeff, multipliers=self.multipliers, rshifts=self.rshifts
        )
        return super().result_shapes()


class ProductOp(SeveralInputsOp, ABC):
    """Product or quotient of inputs, which is scaled by `multiplier` and `rshift` if quantised."""

    multiplier = default_attr_def(SI32, 1)
    rshift = default_attr_def(SI32, 0)
    is_scalar = default_attr_def(BOOL, False)


@irdl_op_definition
class AddOp(SumOp):
    """Sum of all inputs, each times its `coeff`, with numpy's broadcasting; then the ReLU."""

    name = "tpu.Add"

    do_early_stride = opt_attr_def(BOOL)
    early_stride_h = opt_attr_def(I32_INT)
    early_stride_w = opt_attr_def(I32_INT)

    traits = traits_def(SupportEarlyStride())

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        strides = {"h": self.early_stride_h, "w": self.early_stride_w}
        stride = strides.get(part.axis)
        if not self.do_early_stride or stride is None or size == 1:
            return super().backward(part, operand, size)
        return clipped(part.start * stride.value.data, part.end * stride.value.data, size)


@irdl_op_definition
class SubOp(SumOp):
    """First input minus second, the other way round with `is_reverse`, broadcast; then the ReLU."""

    name = "tpu.Sub"

    is_reverse = default_attr_def(BOOL, False)

    def result_shapes(self) -> tuple[Shape, ...]:
        check_input_count(self, 2)
        return super().result_shapes()


@irdl_op_definition
class MulOp(ProductOp):
    """Product of all inputs with numpy's broadcasting, then the ReLU."""

    name = "tpu.Mul"

    quant_mode = default_attr_def(REQUANT_MODE, RequantMode.MultiplierShift)
    out_f8_scales = opt_attr_def(F64_ARRAY)

    traits = traits_def(SupportFuseRelu())


@irdl_op_definition
class DivOp(ProductOp):
    """First input divided by second, the other way round with `is_reverse`, broadcast."""

    name = "tpu.Div"

    is_reverse = default_attr_def(BOOL, False)

    def result_shapes(self) -> tuple[Shape, ...]:
        check_input_count(self, 2)
        return super().result_shapes()


@irdl_op_definition
class MaxOp(CoefficientsOp):
    """The larger of the inputs, element by element with numpy's broadcasting."""

    name = "tpu.Max"


@irdl_op_definition
class MinOp(CoefficientsOp):
    """The smaller of the inputs, element by element with numpy's broadcasting."""

    name = "tpu.Min"


@irdl_op_definition
class CastAddOp(FusedReluOp):
    """The sum of inputs of different number formats, in the format of the result."""

    name = "tpu.CastAdd"

    inputs = var_operand_def(RANKED)
    round_mode = default_attr_def(ROUND_MODE, RoundMode.HalfAwayFromZero)
    output = result_def(RANKED)

    traits = traits_def(Pure(), SupportEarlyStride(), SupportFuseRelu())


@irdl_op_definition
class BinaryShiftOp(ShiftedOp, BroadcastOp):
    """Integer sum, difference or product of two tensors, then an arithmetic shift by `shift`."""

    name = "tpu.BinaryShift"

    input1 = operand_def(RANKED)
    input2 = operand_def(RANKED)


@irdl_op_definition
class CompareOp(BroadcastOp):
    """1 where `lhs mode rhs` holds and 0 elsewhere, with numpy's broadcasting."""

    name = "tpu.Compare"

    lhs = operand_def(RANKED)
    rhs = operand_def(RANKED)
    mode = attr_def(COMPARE_MODE)


@irdl_op_definition
class LogicalAndOp(LocalBroadcast, LocalOp):
    """1 where both inputs are not 0, else 0."""

    name = "tpu.LogicalAnd"

    inputs = var_operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class WhereOp(LocalBroadcast, LocalOp):
    """An element of `tbrn` where `cond` is not 0, else of `fbrn`; numbers may stand for them."""

    name = "tpu.Where"

    cond = operand_def(RANKED)
    tbrn = operand_def(RANKED_OR_NONE)
    fbrn = operand_def(RANKED_OR_NONE)
    buffer = operand_def(RANKED_OR_NONE)
    x_is_const = default_attr_def(BOOL, False)
    y_is_const = default_attr_def(BOOL, False)
    x_const_val = default_attr_def(F64, 0.0)
    y_const_val = default_attr_def(F64, 0.0)
    do_core_parallel = opt_attr_def(BOOL)
    output = result_def(RANKED)

    traits = traits_def(Pure())


@irdl_op_definition
class MaskedFillOp(LocalBroadcast, LocalOp):
    """`const_val` where `cond` holds (or fails, with `inversed`), elsewhere elements of `brn`."""

    name = "tpu.MaskedFill"

    cond = operand_def(RANKED)
    brn = operand_def(RANKED)
    inversed = attr_def(BOOL)
    const_val = attr_def(F64)
    output = result_def(RANKED)

    traits = traits_def(Pure())
