"""Element-wise ops on 8-bit integers: sums and products under new scales, casts, tables.

What they compute is in `dialects/interpreters/families/quantized.py` and
docs/hardware/quantization.md. An instruction's result is signed when one of its operands is, so an
unsigned result of signed operands goes through 16 bits and a cast.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation

from xdsl_tpu.backend.emitter import Arith, Emitter, Rounding
from xdsl_tpu.backend.kernels.int8.requant import Factor, clamp_low, rounding_of
from xdsl_tpu.backend.kernels.mapping import Describe, ElementWise, Scratch, Types, Work
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import DType, Layout, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import floats, ints
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.interpreters.numerics.integers import fits_f16
from xdsl_tpu.dialects.interpreters.numerics.soft_ramp import MOST_BYTES, is_level
from xdsl_tpu.dialects.quant import UniformType

_BYTE = 127
"""The largest magnitude of a multiplier of an 8-bit instruction."""

Narrow = Callable[[Emitter, LocalTensor], None]
"""Computes into a tensor that may be signed, 16 bits wide or the result itself."""


def is_quantized(types: Types) -> bool:
    """Whether an op's result or first operand is an 8-bit integer."""
    return any(t.bytes == 1 for t in (types.out, types.operands[0]))


def _relu(op: Operation) -> bool:
    """Whether a relu is fused; raises TpuError for one with a limit."""
    flag, limit = getattr(op, "do_relu", None), getattr(op, "relu_limit", None)
    if flag is None or not bool(flag.value.data):
        return False
    if limit is not None and limit.value.data >= 0:
        raise NoKernel(f"{where(op)}: a quantised relu with a limit has no kernel")
    return True


def _signed(types: Types) -> bool:
    return any(kind.signed for kind in types.operands)


def _check_factors(op: Operation, *factors: int) -> None:
    if any(abs(factor) > _BYTE for factor in factors):
        raise NoKernel(
            f"{where(op)}: multipliers {list(factors)} are not all in -{_BYTE} to {_BYTE}"
        )


def _finish(emitter: Emitter, work: Work, op: Operation, types: Types, compute: Narrow) -> None:
    """The last step into the result, by way of scratch tensor 0 where signs disagree."""
    out = work.out
    if _signed(types) and not out.dtype.signed:
        wide = work.scratch[0]
        compute(emitter, wide)
        emitter.cast(out, wide)
        return
    compute(emitter, out)
    clamp_low(emitter, out, _relu(op))


def _sum(op: Operation, types: Types) -> ElementWise:
    """tpu.Add, tpu.Sub: each operand scaled and rounded to 16 bits, then the saturating sum."""
    assert isinstance(op, tpu.AddOp | tpu.SubOp)
    if op.multipliers is None or op.rshifts is None or len(op.operands) < 2:
        raise NoKernel(f"{where(op)}: quantised operands need multipliers and rshifts each")
    factors = list(zip(ints(op.multipliers), ints(op.rshifts), strict=True))
    _check_factors(op, *(factor for factor, _ in factors))
    reverse = isinstance(op, tpu.SubOp) and bool(op.is_reverse.value.data)
    subtracts = isinstance(op, tpu.SubOp)
    _relu(op)

    def compute(emitter: Emitter, work: Work) -> None:
        terms = list(zip(work.operands, factors, strict=True))
        if reverse:
            terms.reverse()
        total, other, third = work.scratch[1:]
        (x, (factor, shift)), *rest = terms
        emitter.multiply_shift(total, x, factor, shift)
        for index, (x, (factor, shift)) in enumerate(rest):
            emitter.multiply_shift(other, x, factor, shift)

            def combine(emitter: Emitter, target: LocalTensor, a: LocalTensor = total) -> None:
                if subtracts:
                    emitter.subtract_saturate(target, a, other)
                else:
                    emitter.arith(Arith.ADD_SATURATE, target, a, other)

            if index == len(rest) - 1:
                _finish(emitter, work, op, _as_signed(types), combine)
            else:
                combine(emitter, third)
                total, third = third, total

    return ElementWise(compute, (Scratch(DType.I16),) * 4)


def _as_signed(types: Types) -> Types:
    """The types when every operand has become i16."""
    return Types(types.out, tuple(DType.I16 for _ in types.operands))


def _product(op: Operation, types: Types) -> ElementWise:
    """tpu.Mul: the exact product in 16 bits, then scaled."""
    assert isinstance(op, tpu.MulOp)
    if len(op.operands) != 2:
        raise NoKernel(f"{where(op)}: a quantised product has two operands")
    factor, shift = op.multiplier.value.data, op.rshift.value.data
    _check_factors(op, factor)
    _relu(op)
    wide = DType.I16 if _signed(types) else DType.U16

    def compute(emitter: Emitter, work: Work) -> None:
        product = work.scratch[1]
        emitter.multiply_shift(product, work.operands[0], work.operands[1])

        def narrow(emitter: Emitter, target: LocalTensor) -> None:
            emitter.multiply_shift(target, product, factor, shift)

        _finish(emitter, work, op, types, narrow)

    return ElementWise(compute, (Scratch(DType.I16), Scratch(wide)))


def _scaled(op: Operation, types: Types) -> ElementWise:
    """tpu.MulShift: one instruction, through 16 bits where signs disagree.

    A negative factor counts as an operand with a sign.
    """
    assert isinstance(op, tpu.MulShiftOp)
    factor, shift = op.multiplier.value.data, op.rshift.value.data
    _check_factors(op, factor)
    _relu(op)
    types = _as_signed(types) if factor < 0 else types

    def compute(emitter: Emitter, work: Work) -> None:
        def narrow(emitter: Emitter, target: LocalTensor) -> None:
            emitter.multiply_shift(target, work.operands[0], factor, shift)

        _finish(emitter, work, op, types, narrow)

    through = _signed(types) and not types.out.signed
    return ElementWise(compute, (Scratch(DType.I16),) if through else ())


def _plus_constant(op: Operation, types: Types) -> ElementWise:
    """tpu.AddConst: the exact product in 32 bits, then the sum, shifted."""
    assert isinstance(op, tpu.AddConstOp)
    factor, shift = op.multiplier.value.data, op.rshift.value.data
    constant = round(op.const_val.value.data)
    _check_factors(op, factor)
    _relu(op)

    def compute(emitter: Emitter, work: Work) -> None:
        product = work.scratch[1]
        emitter.multiply_shift(product, work.operands[0], factor)

        def narrow(emitter: Emitter, target: LocalTensor) -> None:
            emitter.add_saturate(target, product, constant, shift)

        _finish(emitter, work, op, _as_signed(types), narrow)

    return ElementWise(compute, (Scratch(DType.I16), Scratch(DType.I32)))


def _extremum(kind: Arith, op: Operation, types: Types) -> ElementWise:
    """tpu.Max, tpu.Min of operands of the result's type."""
    if set(types.operands) != {types.out} or len(types.operands) != 2:
        raise NoKernel(f"{where(op)}: two operands of the result's type are needed")

    def compute(emitter: Emitter, work: Work) -> None:
        emitter.arith(kind, work.out, work.operands[0], work.operands[1])
        clamp_low(emitter, work.out, _relu(op))

    return ElementWise(compute)


def _rectified(op: Operation, types: Types) -> ElementWise:
    """tpu.Relu: what is not negative has the same bits with and without sign."""
    assert isinstance(op, tpu.ReluOp)
    if op.relu_limit.value.data >= 0:
        raise NoKernel(f"{where(op)}: a quantised relu with a limit has no kernel")
    x = types.operands[0]

    def compute(emitter: Emitter, work: Work) -> None:
        source = work.operands[0]
        if not source.dtype.signed and work.out.dtype.signed:
            emitter.cast(work.out, source)  # saturates what an i8 cannot hold
        elif not source.dtype.signed:
            emitter.copy(work.out, source)
        else:
            target = LocalTensor(
                work.out.address, work.out.shape, work.out.strides, x, work.out.layout
            )
            emitter.arith(Arith.MAX, target, source, 0)

    return ElementWise(compute)


def _requantized(op: Operation, types: Types) -> ElementWise:
    """tpu.RequantInt: i32 under a scale of 8 bits."""
    assert isinstance(op, tpu.RequantIntOp)
    if types.operands[0] is not DType.I32:
        raise NoKernel(f"{where(op)}: requantisation of {types.operands[0].label} has no kernel")
    factor = Factor(op.multiplier.value.data, op.rshift.value.data, rounding_of(op.round_mode))

    def compute(emitter: Emitter, work: Work) -> None:
        factor.apply(emitter, work.out, work.operands[0])

    return ElementWise(compute)


def _numbers(op: Operation, index: int | None) -> tuple[float, int]:
    """Scale and zero point of the result, or of the first operand."""
    value = op.results[0] if index is None else op.operands[index]
    element = cast(TensorType[Attribute], value.type).element_type
    if not isinstance(element, UniformType) or len(element.scales) > 1:
        raise NoKernel(f"{where(op)}: {element} is not a quantised type with one scale")
    return element.scale, element.zero_point


def _cast(op: Operation, types: Types) -> ElementWise:
    """tpu.Cast between a float and an 8-bit type."""
    source = types.operands[0]
    if types.out.is_float and not source.is_float:
        return _to_float(*_numbers(op, 0), types.out)
    if source.is_float and not types.out.is_float:
        return _to_integer(*_numbers(op, None), source)
    raise NoKernel(f"{where(op)}: a cast {source.label} to {types.out.label} has no kernel")


def _to_integer(scale: float, zero: int, source: DType) -> ElementWise:
    """round(x / scale + zero): in f16 when the reciprocal is a normal f16, else in f32."""
    reciprocal = 1.0 / scale
    kind = DType.F16 if source is DType.F16 and fits_f16(reciprocal) else DType.F32

    def compute(emitter: Emitter, work: Work) -> None:
        x, scaled = work.operands[0], work.scratch[0]
        if source is not kind:
            emitter.cast(work.scratch[1], x)
            x = work.scratch[1]
        emitter.arith(Arith.MUL, scaled, x, reciprocal)
        if zero:
            emitter.arith(Arith.ADD, scaled, scaled, float(zero))
        emitter.cast(work.out, scaled, Rounding.HALF_AWAY)

    return ElementWise(compute, (Scratch(kind),) * (1 if source is kind else 2))


def _to_float(scale: float, zero: int, target: DType) -> ElementWise:
    """(x - zero) * scale: in f16 when the scale is a normal f16, else in f32."""
    if target is DType.F32:
        return ElementWise(
            lambda emitter, work: _dequantize(emitter, work.out, work.operands[0], scale, zero)
        )
    narrow = target is DType.F16 and fits_f16(scale)

    def compute(emitter: Emitter, work: Work) -> None:
        wide = work.scratch[0]
        if narrow:
            emitter.cast(wide, work.operands[0])
            if zero:
                emitter.arith(Arith.SUB, wide, wide, float(zero))
            emitter.arith(Arith.MUL, work.out, wide, scale)
        else:
            _dequantize(emitter, wide, work.operands[0], scale, zero)
            emitter.cast(work.out, wide)

    return ElementWise(compute, (Scratch(target if narrow else DType.F32),))


def _dequantize(
    emitter: Emitter, out: LocalTensor, x: LocalTensor, scale: float, zero: int
) -> None:
    """out = (x - zero) * scale in f32, of a window into a larger slice, too: the instruction for it
    reads EU-aligned tensors."""
    if {out.layout, x.layout} == {Layout.ALIGNED}:
        emitter.dequantize(out, x, scale, zero)
        return
    emitter.cast(out, x)
    if zero:
        emitter.arith(Arith.SUB, out, out, float(zero))
    emitter.arith(Arith.MUL, out, out, scale)


def _soft_ramp(op: Operation, types: Types) -> ElementWise:
    """Between 8 bits: in f16 from the cast of the operand to that of the result."""
    assert isinstance(op, tpu.SoftRampOp)
    if any(kind.bytes > 1 for kind in (types.out, *types.operands)):
        raise NoKernel(
            f"{where(op)}: only operands and results of 8 bits, or of f16, have a kernel"
        )
    factor, limit, scale = op.factor.value.data, op.limit.value.data, op.scale.value.data
    if {types.out, *types.operands} == {DType.I8} and is_level(factor, limit, scale):
        return _level_ramp(round(limit), floats(op.terms), op.unit.value.data)

    def compute(emitter: Emitter, work: Work) -> None:
        a, value, b = work.scratch
        emitter.cast(a, work.operands[0])
        emitter.arith(Arith.MUL, value, a, factor)
        less_polynomial(emitter, value, value, (a, b), limit, work.tables[0])
        if scale != 1:
            emitter.arith(Arith.MUL, a, value, scale)
            value = a
        emitter.cast(work.out, value, Rounding.HALF_AWAY)

    return ElementWise(compute, (Scratch(DType.F16),) * 3, (floats(op.terms),), DType.F16)


def _level_ramp(limit: int, terms: tuple[float, ...], unit: float) -> ElementWise:
    """Between signed bytes of the same steps: the ramp stays in integers, which are done at twice
    the rate, and only the polynomial is rounded."""

    def compute(emitter: Emitter, work: Work) -> None:
        x, (one, other, wide, result) = work.operands[0], work.scratch
        # The magnitude of the least byte has no sign.
        near = one
        emitter.absolute(replace(near, dtype=DType.I8), x)
        if limit < MOST_BYTES:
            near = other
            emitter.arith(Arith.MIN, near, one, limit)
        emitter.cast(wide, near)
        if unit != 1:
            emitter.arith(Arith.MUL, result, wide, unit)
            wide, result = result, wide
        emitter.taylor(result, wide, work.tables[0])
        bump, ramp = replace(one, dtype=DType.I8), replace(other, dtype=DType.I8)
        emitter.cast(bump, result, Rounding.HALF_AWAY)
        emitter.arith(Arith.MAX, ramp, x, 0)
        emitter.subtract_saturate(work.out, ramp, bump)

    scratch = Scratch(DType.U8), Scratch(DType.U8), Scratch(DType.F16), Scratch(DType.F16)
    return ElementWise(compute, scratch, (terms,), DType.F16)


def less_polynomial(
    emitter: Emitter,
    out: LocalTensor,
    value: LocalTensor,
    scratch: tuple[LocalTensor, LocalTensor],
    limit: float,
    table: LocalTensor,
) -> None:
    """out = max(value, 0) - p(min(|value|, limit)), all of f16; it may be value itself."""
    a, b = scratch
    emitter.absolute(b, value)
    emitter.arith(Arith.MIN, a, b, limit)
    emitter.taylor(b, a, table)
    emitter.arith(Arith.MAX, a, value, 0.0)
    emitter.arith(Arith.SUB, out, a, b)


DESCRIPTIONS: dict[type[Operation], Describe] = {
    tpu.AddOp: _sum,
    tpu.AddConstOp: _plus_constant,
    tpu.CastOp: _cast,
    tpu.MaxOp: partial(_extremum, Arith.MAX),
    tpu.MinOp: partial(_extremum, Arith.MIN),
    tpu.MulOp: _product,
    tpu.MulShiftOp: _scaled,
    tpu.ReluOp: _rectified,
    tpu.RequantIntOp: _requantized,
    tpu.SoftRampOp: _soft_ramp,
    tpu.SubOp: _sum,
}
"""How ops are computed when a result or first operand has 8 bits."""
