"""Powers of two and exponentials: the exponent built as an integer, the rest a polynomial."""

from xdsl_tpu.backend.emitter import Arith, Emitter, Rounding
from xdsl_tpu.backend.kernels.sequences.unary import Tensors, Unary, as_type, halves
from xdsl_tpu.backend.tensor import DType, Layout, LocalTensor

LOG2_E = 1.4426950408889634

EXP2_4 = halves("3c00 3991 333b 2cfe")
"""2 ** f for 0 <= f < 1 in f16."""

EXP2_6 = (1.0, 0.693151295, 0.240164444, 0.0557999201, 0.00901702419, 0.00186713261)
"""2 ** f for 0 <= f < 1 in f32; relative error 1.6e-7, none at 0."""

EXP_5 = (1.0, 1.0, 0.5, 0.16674805, 0.041656494)
"""e ** f for 0 <= f < ln 2 in f16."""

LOWEST_F16, BIAS_F16, MANTISSA_F16 = -15.0, 15, 10
LOWEST_F32, BIAS_F32, MANTISSA_F32 = -126.0, 127, 23
HIGHEST_F32 = 127.0

LOWEST_EXP, HIGHEST_EXP = -10.390625, 11.09375
"""Beyond them e ** x is below 2 ** -14, taken for 0, and above all finite f16 numbers."""

LN2_HIGH = 0.6875
LN2_LOW = 0.005647180559945309
"""Their sum is ln 2; LN2_HIGH has four bits, so its products with exponents are exact in f16."""

EXP2_F16_SCRATCH = (DType.F16, DType.F16, DType.I8)
"""Of `exp2_f16`."""

EXP2_F32_SCRATCH = (DType.F32, DType.F32, DType.I16)
"""Of `exp2_f32`."""


def exp2_f16(
    e: Emitter, out: LocalTensor, s: LocalTensor, scratch: Tensors, table: LocalTensor
) -> None:
    """out = 2 ** s for s <= 0 in f16, 10 cycles; relative error 7.5e-4, 0 below 2 ** -14.

    s is worked in, and `out` may lie in its memory. `out` may have another shape and strides,
    if that many elements in order: the last multiplication puts them in place.
    """
    a, b, k = scratch
    e.arith(Arith.MAX, a, s, LOWEST_F16)
    e.cast(k, a, Rounding.FLOOR)
    e.cast(b, k)
    e.arith(Arith.SUB, s, a, b)
    e.taylor(a, s, table)
    power = as_type(b, DType.I16)
    e.add_shift(power, k, BIAS_F16, MANTISSA_F16)
    e.arith(Arith.MUL, out, _shaped(a, out), _shaped(b, out))


def _shaped(tensor: LocalTensor, target: LocalTensor) -> LocalTensor:
    """A dense tensor of one channel group seen with the shape of `target`."""
    if tensor.shape == target.shape:
        return tensor
    _, c, h, w = target.shape
    return LocalTensor(
        tensor.address, target.shape, (c * h * w, h * w, w, 1), tensor.dtype, Layout.ALIGNED
    )


def exp2_f32(
    e: Emitter, out: LocalTensor, s: LocalTensor, scratch: Tensors, table: LocalTensor
) -> None:
    """out = 2 ** s in f32 for s <= 127, 12 f32 instructions; s below -126 count as that.

    Relative error 1.6e-7. s is worked in, and `out` may be s.
    """
    a, b, k = scratch
    e.arith(Arith.MAX, a, s, LOWEST_F32)
    e.cast(s, a, Rounding.FLOOR)
    e.arith(Arith.SUB, b, a, s)
    e.cast(k, s, Rounding.HALF_AWAY)
    e.taylor(a, b, table)
    power = as_type(b, DType.I32)
    e.add_shift(power, k, BIAS_F32, MANTISSA_F32)
    e.arith(Arith.MUL, out, a, b)


def exp_f32(
    e: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    scratch: Tensors,
    table: LocalTensor,
    factor: float,
) -> None:
    """out = e ** (factor x) in f32, at most 2 ** 127; scratch as of `exp2_f32`, and one more f32
    tensor before it."""
    a, *rest = scratch
    e.arith(Arith.MUL, out, x, factor * LOG2_E)
    e.arith(Arith.MIN, a, out, HIGHEST_F32)
    exp2_f32(e, out, a, rest, table)


def _exp(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    """e ** x = 2 ** k * e ** f, k = floor(x log2 e), f = x - k ln 2 in two exact steps.

    The argument is not multiplied before it is cut, for that would round away part of f.
    """
    a, b, cut, k = scratch
    e.arith(Arith.MAX, a, x, LOWEST_EXP)
    e.arith(Arith.MIN, cut, a, HIGHEST_EXP)
    e.arith(Arith.MUL, a, cut, LOG2_E)
    e.cast(k, a, Rounding.FLOOR)
    e.cast(a, k)
    e.arith(Arith.MUL, b, a, LN2_HIGH)
    e.arith(Arith.SUB, out, cut, b)
    e.arith(Arith.MUL, b, a, LN2_LOW)
    e.arith(Arith.SUB, a, out, b)
    e.taylor(b, a, tables[0])
    power = as_type(a, DType.I16)
    e.add_shift(power, k, BIAS_F16, MANTISSA_F16)
    e.arith(Arith.MUL, out, b, a)


EXP_F16 = Unary(_exp, (DType.F16, DType.F16, DType.F16, DType.I8), (EXP_5,), 16)
"""Relative error up to 1.5e-3; below 2 ** -14 it is 0, from 65536 on infinite."""
