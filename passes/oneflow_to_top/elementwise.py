"""Element by element: functions, arithmetic, biases and dropout."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

from xdsl.dialects.builtin import FixedBitwidthType, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import oneflow, top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.oneflow.arithmetic import BroadcastOp, ScalarOp, SumOp
from xdsl_tpu.dialects.oneflow.base import UnaryOp
from xdsl_tpu.dialects.random_masks import RandomMask
from xdsl_tpu.passes.oneflow_to_top.context import (
    Context,
    Converter,
    Converters,
    UnsupportedOp,
    along,
    result_shape,
)
from xdsl_tpu.passes.tensors import shape_of


@dataclass(frozen=True)
class _Element:
    """What a tensor holds."""

    is_integer: bool
    bits: int

    @classmethod
    def of(cls, value: SSAValue) -> Self:
        kind = cast(TensorType[Attribute], value.type).element_type
        bits = kind.bitwidth if isinstance(kind, FixedBitwidthType) else 0
        return cls(isinstance(kind, IntegerType), bits)


BiasOp = oneflow.BiasAddOp | oneflow.FusedBiasAddGeluOp | oneflow.FusedBiasAddMaskScaleOp


def _unary(kind: type[NamedOp], **attributes: Any) -> Converter:
    """One op of one operand."""

    def convert(context: Context, op: UnaryOp) -> None:
        made = context.emit(op, kind, (context.value(op.input),), **attributes)
        context.finish(op, made)

    return convert


def _binary(kind: type[NamedOp]) -> Converter:
    """One op of two operands."""

    def convert(context: Context, op: BroadcastOp) -> None:
        operands = (context.value(op.x), context.value(op.y))
        context.finish(op, context.emit(op, kind, operands))

    return convert


def convert_identity(context: Context, op: oneflow.IdentityOp) -> None:
    """Nothing."""
    context.finish(op, context.value(op.input))


def convert_cast(context: Context, op: oneflow.CastOp) -> None:
    """Nothing, as all tensors are f32; numbers that would lose their fraction are refused."""
    source, target = _Element.of(op.input), _Element.of(op.output)
    if target.is_integer and not (source.is_integer and source.bits <= target.bits):
        raise UnsupportedOp(f"elements of {op.input.type} may not fit {op.output.type}")
    context.finish(op, context.value(op.input))


def convert_leaky_relu(context: Context, op: oneflow.LeakyReluOp) -> None:
    """leaky_relu -> top.LeakyRelu."""
    _unary(top.LeakyReluOp, alpha=op.alpha.value.data)(context, op)


def convert_elu(context: Context, op: oneflow.EluOp) -> None:
    """elu -> top.Elu."""
    _unary(top.EluOp, alpha=op.alpha.value.data)(context, op)


def convert_hardtanh(context: Context, op: oneflow.HardtanhOp) -> None:
    """hardtanh -> top.Clip."""
    _unary(top.ClipOp, min=op.min_val.value.data, max=op.max_val.value.data)(context, op)


def convert_square(context: Context, op: oneflow.SquareOp) -> None:
    """square -> top.Mul of the operand with itself."""
    x = context.value(op.input)
    context.finish(op, context.emit(op, top.MulOp, (x, x)))


def convert_sum(context: Context, op: SumOp) -> None:
    """add_n, add_n2 -> top.Add, two operands at a time."""
    total, *rest = (context.value(operand) for operand in op.operands)
    for value in rest:
        total = context.emit(op, top.AddOp, (total, value))
    context.finish(op, total)


def convert_scalar(context: Context, op: ScalarOp) -> None:
    """scalar_add, _mul, _div, _pow -> AddConst, MulConst, Pow."""
    x, number = context.value(op.input), op.number
    match op:
        case oneflow.ScalarAddOp():
            made = context.emit(op, top.AddConstOp, (x,), const_val=number)
        case oneflow.ScalarPowOp():
            made = context.emit(op, top.PowOp, (x,), exponent=number)
        case oneflow.ScalarDivOp() if number == 0.0:
            raise UnsupportedOp("it divides by zero")
        case oneflow.ScalarDivOp():
            made = context.times(op, x, 1.0 / number)
        case _:
            made = context.times(op, x, number)
    context.finish(op, made)


def _biased(context: Context, op: BiasOp) -> SSAValue:
    shape = along(shape_of(op.a), op.axis.value.data)
    bias = context.reshaped(op, context.value(op.b), shape)
    return context.emit(op, top.AddOp, (context.value(op.a), bias))


def convert_bias_add(context: Context, op: oneflow.BiasAddOp) -> None:
    """bias_add -> top.Add."""
    context.finish(op, _biased(context, op))


def convert_bias_gelu(context: Context, op: oneflow.FusedBiasAddGeluOp) -> None:
    """fused_bias_add_gelu -> top.Add, top.GELU."""
    context.finish(op, context.emit(op, top.GELUOp, (_biased(context, op),)))


def convert_bias_mask_scale(context: Context, op: oneflow.FusedBiasAddMaskScaleOp) -> None:
    """fused_bias_add_mask_scale -> top.Add, top.Mul, top.MulConst; no top.Mul for rate 0."""
    value = _biased(context, op)
    if not _keeps_all(op.mask):
        value = context.emit(op, top.MulOp, (value, context.value(op.mask)))
    scaled = context.times(op, value, op.scale.value.data)
    context.finish(op, context.plus(op, scaled, op.add_to_output))


def _keeps_all(mask: SSAValue) -> bool:
    maker = mask.owner
    return isinstance(maker, oneflow.RandomMaskLikeOp) and maker.rate.value.data == 0.0


def convert_mask(context: Context, op: oneflow.RandomMaskLikeOp) -> None:
    """random_mask_like -> an input of the network."""
    shape, mask = result_shape(op.output), RandomMask(op.seed.value.data, op.rate.value.data)
    # Made where it is first read: what is computed in between needs no place for it.
    context.bind_later(op.output, lambda: context.mask(op, shape, mask))


def convert_dropout(context: Context, op: oneflow.DropoutOp) -> None:
    """dropout -> an input of the network and top.Mul, top.MulConst; nothing for rate 0."""
    x, rate = context.value(op.input), op.rate.value.data
    if rate == 0.0 and not any(True for _ in op.mask.uses):
        context.finish(op, context.plus(op, x, op.add_to_output))
        return
    mask = context.mask(op, result_shape(op.mask), RandomMask(op.seed.value.data, rate))
    masked = context.emit(op, top.MulOp, (x, mask))
    scaled = context.times(op, masked, oneflow.dropout_scale(rate))
    context.finish(op, context.plus(op, scaled, op.add_to_output), mask)


_FUNCTIONS: Mapping[type[Operation], Converter] = {
    oneflow.AbsOp: _unary(top.AbsOp),
    oneflow.ErfOp: _unary(top.ErfOp),
    oneflow.ExpOp: _unary(top.ExpOp),
    oneflow.FastGeluOp: _unary(top.GELUOp, approx_mode="tanh"),
    oneflow.GeluOp: _unary(top.GELUOp),
    oneflow.HardsigmoidOp: _unary(top.HardSigmoidOp, alpha=1.0 / 6.0, beta=0.5),
    oneflow.HardswishOp: _unary(top.HardSwishOp),
    oneflow.LogOp: _unary(top.LogOp),
    oneflow.MishOp: _unary(top.MishOp),
    oneflow.NegativeOp: _unary(top.MulConstOp, const_val=-1.0),
    oneflow.QuickGeluOp: _unary(top.GELUOp, approx_mode="sigm"),
    oneflow.ReciprocalOp: _unary(top.ReciprocalOp),
    oneflow.ReluOp: _unary(top.ReluOp),
    oneflow.RsqrtOp: _unary(top.RsqrtOp),
    oneflow.SigmoidOp: _unary(top.SigmoidOp),
    oneflow.SiluOp: _unary(top.SiLUOp),
    oneflow.SqrtOp: _unary(top.SqrtOp),
    oneflow.TanhOp: _unary(top.TanhOp),
}

CONVERTERS: Converters = {
    **_FUNCTIONS,
    oneflow.AddN2Op: convert_sum,
    oneflow.AddNOp: convert_sum,
    oneflow.BiasAddOp: convert_bias_add,
    oneflow.BroadcastAddOp: _binary(top.AddOp),
    oneflow.BroadcastDivOp: _binary(top.DivOp),
    oneflow.BroadcastMaximumOp: _binary(top.MaxOp),
    oneflow.BroadcastMinimumOp: _binary(top.MinOp),
    oneflow.BroadcastMulOp: _binary(top.MulOp),
    oneflow.BroadcastSubOp: _binary(top.SubOp),
    oneflow.CastOp: convert_cast,
    oneflow.DropoutOp: convert_dropout,
    oneflow.EluOp: convert_elu,
    oneflow.FusedBiasAddGeluOp: convert_bias_gelu,
    oneflow.FusedBiasAddMaskScaleOp: convert_bias_mask_scale,
    oneflow.HardtanhOp: convert_hardtanh,
    oneflow.IdentityOp: convert_identity,
    oneflow.LeakyReluOp: convert_leaky_relu,
    oneflow.RandomMaskLikeOp: convert_mask,
    oneflow.ScalarAddOp: convert_scalar,
    oneflow.ScalarDivOp: convert_scalar,
    oneflow.ScalarMulOp: convert_scalar,
    oneflow.ScalarPowOp: convert_scalar,
    oneflow.SquareOp: convert_square,
}
