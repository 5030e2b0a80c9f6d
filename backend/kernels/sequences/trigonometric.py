"""Sine, cosine, tangent and arccosine.

An angle is brought to r = x - m pi, |r| <= pi / 2, by the nearest integer m (for the cosine: the
nearest half of an odd integer), where pi is three numbers: products with the first two are exact
for |m| < 2 ** 11, so r has no error to speak of there; beyond, it grows with x. Then an odd
polynomial gives sin(r), and m its sign.

Of 16-bit numbers, turns are counted instead, f = x / 2 pi - m, |f| <= 1 / 2, in f32, and one
polynomial gives sin(2 pi f): there is no sign to be found.
"""

import math
from functools import partial

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter, Rounding
from xdsl_tpu.backend.kernels.sequences.unary import Tensors, Unary
from xdsl_tpu.backend.tensor import DType, LocalTensor

F32 = DType.F32

FIT_TURNS_5 = (6.28314018, -41.3344879, 81.4063492, -74.6662292, 33.0903702)
"""sin(2 pi f) / f in powers of f * f, for |f| <= 1 / 2; error 7.2e-6 of the lesser of 2 pi |f| and
1."""

FIT_SIN_5 = (1.0, -0.166666597, 0.00833306555, -0.000198095382, 2.60562979e-06)
"""sin(r) / r in powers of r * r, for |r| <= pi / 2; relative error 1.1e-7."""

FIT_ASIN_6 = (1.0, 0.166667521, 0.0749529749, 0.0454703756, 0.0241795108, 0.0421663113)
"""asin(r) / r in powers of r * r, for |r| <= 1 / 2; relative error 6.6e-8."""

PI_PARTS = (3.140625, 9.67502593994140625e-4, 1.509957990978376432e-7)
"""Their sum is pi; the first two have 12 bits."""


def _sine(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors, shift: float
) -> None:
    """out = sin(x) for a shift of 0, cos(x) for a half; x may be no scratch tensor."""
    m, a, b = scratch
    e.arith(Arith.MUL, a, x, 1 / math.pi)
    e.arith(Arith.SUB, b, a, shift)
    e.cast(a, b, Rounding.HALF_EVEN)
    e.arith(Arith.ADD, m, a, shift)
    source = x
    for part, target in zip(PI_PARTS, (out, b, out), strict=True):
        e.arith(Arith.MUL, a, m, part)
        e.arith(Arith.SUB, target, source, a)
        source = target
    # The sign: 1 - 4 (k / 2 - floor(k / 2)) for k = m - shift, negated for the cosine.
    e.arith(Arith.SUB, a, m, shift)
    e.arith(Arith.MUL, b, a, 0.5)
    e.cast(a, b, Rounding.FLOOR)
    e.arith(Arith.SUB, m, b, a)
    sign = 1.0 if shift == 0 else -1.0
    e.arith(Arith.MUL, a, m, -4.0 * sign)
    e.arith(Arith.ADD, m, a, sign)
    e.arith(Arith.MUL, a, out, out)
    e.taylor(b, a, tables[0])
    e.arith(Arith.MUL, a, b, out)
    e.arith(Arith.MUL, out, a, m)


def _sine_of_turns(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors, shift: float
) -> None:
    """out = sin(x) for a shift of 0, cos(x) for a quarter, both of 16 bits."""
    a, b, c = scratch
    e.cast(a, x)
    e.arith(Arith.MUL, b, a, 0.5 / math.pi)
    if shift:
        e.arith(Arith.ADD, c, b, shift)
        b, c = c, b
    e.cast(c, b, Rounding.HALF_EVEN)
    e.arith(Arith.SUB, a, b, c)
    e.arith(Arith.MUL, b, a, a)
    e.taylor(c, b, tables[0])
    e.arith(Arith.MUL, b, c, a)
    e.cast(out, b)


def _tan(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    sine, cosine, *rest = scratch
    _sine(e, sine, x, rest, tables, 0.0)
    _sine(e, cosine, x, rest, tables, 0.5)
    e.div(out, sine, cosine)


def _arccos(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    """pi / 2 - asin(x) up to 1 / 2; beyond, 2 asin(sqrt((1 - |x|) / 2)), from pi if x < 0."""
    size, a, b, c = scratch
    e.absolute(size, x)
    e.arith(Arith.MUL, a, size, -0.5)
    e.arith(Arith.ADD, b, a, 0.5)
    e.arith(Arith.MUL, a, x, x)
    e.select(Compare.GREATER, out, size, 0.5, b, a)
    e.rsqrt(a, b)
    e.arith(Arith.MUL, c, a, b)
    e.select(Compare.GREATER, a, size, 0.5, c, x)
    e.taylor(b, out, tables[0])
    e.arith(Arith.MUL, c, a, b)  # asin of x, or of the root
    e.arith(Arith.SUB, a, math.pi / 2, c)
    e.arith(Arith.MUL, b, c, 2.0)
    e.arith(Arith.SUB, c, math.pi, b)
    e.select(Compare.GREATER, out, x, 0.0, b, c)
    e.select(Compare.GREATER, out, size, 0.5, out, a)


SIN_F32 = Unary(partial(_sine, shift=0.0), (F32,) * 3, (FIT_SIN_5,), 48, F32)
COS_F32 = Unary(partial(_sine, shift=0.5), (F32,) * 3, (FIT_SIN_5,), 48, F32)
TAN_F32 = Unary(_tan, (F32,) * 5, (FIT_SIN_5,), 158, F32)
ARCCOS_F32 = Unary(_arccos, (F32,) * 4, (FIT_ASIN_6,), 106, F32)

SIN_16 = Unary(partial(_sine_of_turns, shift=0.0), (F32,) * 3, (FIT_TURNS_5,), 24, F32)
COS_16 = Unary(partial(_sine_of_turns, shift=0.25), (F32,) * 3, (FIT_TURNS_5,), 26, F32)
"""Error up to 2.6e-4 where |x| <= 64, half an ulp of 1; then it grows with x, to 7e-3."""
