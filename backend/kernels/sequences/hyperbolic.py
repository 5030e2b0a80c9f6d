"""Functions made of exponentials in f32: hyperbolic ones and their inverses, softplus, mish.

Where a difference of exponentials would cancel, near 0, an odd polynomial takes over.
"""

import math
from functools import partial

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter
from xdsl_tpu.backend.kernels.sequences.exp import (
    EXP2_6,
    EXP2_F32_SCRATCH,
    LOG2_E,
    exp2_f32,
    exp_f32,
)
from xdsl_tpu.backend.kernels.sequences.log import FIT_LOG_9, LOG_SCRATCH, log_of_positive
from xdsl_tpu.backend.kernels.sequences.unary import Tensors, Unary
from xdsl_tpu.backend.tensor import DType, LocalTensor

F32 = DType.F32

FIT_LOG1P_10 = (
    1.0,
    -0.499999315,
    0.33330512,
    -0.249585822,
    0.196953744,
    -0.153553188,
    0.106804229,
    -0.0576631278,
    0.0202038791,
    -0.00331831514,
)
"""log(1 + u) / u for 0 <= u <= 1; relative error 1.5e-7."""

FIT_SINH_5 = (1.0, 0.166666672, 0.0083333496, 0.000198361595, 2.81695179e-06)
"""sinh(x) / x in powers of x * x, for |x| <= 1; relative error 6.8e-8."""

FIT_ATANH_7 = (
    1.0,
    0.333333015,
    0.200025186,
    0.14222762,
    0.118237272,
    0.0513583533,
    0.176691025,
)
"""atanh(x) / x in powers of x * x, for |x| <= 1 / 2; relative error 6.5e-8."""

MISH_LIMIT = 20.0
"""Beyond it mish(x) = x in f32."""


def _odd(
    e: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    far: LocalTensor,
    scratch: Tensors,
    table: LocalTensor,
    limit: float,
) -> None:
    """out = far where |x| > limit, else x times the polynomial in x * x."""
    a, b = scratch
    e.arith(Arith.MUL, a, x, x)
    e.taylor(b, a, table)
    e.arith(Arith.MUL, a, b, x)
    e.absolute(b, x)
    e.select(Compare.GREATER, out, b, limit, far, a)


def _half_sum(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors, sign: Arith
) -> None:
    """out = (e ** |x| +- e ** -|x|) / 2."""
    up, down, *rest = scratch
    e.absolute(out, x)
    exp_f32(e, up, out, (down, *rest), tables[0], 1.0)
    e.arith(Arith.MUL, rest[0], up, 0.5)
    e.div(down, 0.25, rest[0])
    e.arith(sign, out, rest[0], down)


def _sinh(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    far, *rest = scratch
    _half_sum(e, out, x, rest, tables, Arith.SUB)
    e.arith(Arith.MUL, rest[0], out, -1.0)
    e.select(Compare.GREATER, far, x, 0.0, out, rest[0])
    _odd(e, out, x, far, rest[:2], tables[1], 1.0)


def _arctanh(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    """ln((1 + x) / (1 - x)) / 2 beyond 1 / 2; infinite at 1 and -1."""
    far, ratio, *rest = scratch
    k, a, b = rest
    e.arith(Arith.ADD, a, x, 1.0)
    e.arith(Arith.SUB, b, 1.0, x)
    e.div(ratio, a, b)
    log_of_positive(e, out, ratio, (k, a, b), tables[0])
    e.arith(Arith.MUL, far, out, 0.5)
    _odd(e, out, x, far, (a, b), tables[1], 0.5)
    e.select(Compare.EQUAL, a, x, 1.0, math.inf, out)
    e.select(Compare.EQUAL, out, x, -1.0, -math.inf, a)


def _soft_plus(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors, sign: float
) -> None:
    """s * (max(t, 0) + ln(1 + e ** -|t|)) for t = s x, where `sign` s is 1 or -1."""
    u, a, *rest = scratch
    e.absolute(a, x)
    e.arith(Arith.MUL, out, a, -LOG2_E)
    exp2_f32(e, u, out, (a, *rest), tables[0])
    e.taylor(a, u, tables[1])
    e.arith(Arith.MUL, out, a, u)
    if sign == 1.0:
        e.arith(Arith.MAX, a, x, 0.0)
        e.arith(Arith.ADD, out, out, a)
        return
    e.arith(Arith.MUL, u, x, sign)
    e.arith(Arith.MAX, a, u, 0.0)
    e.arith(Arith.ADD, u, out, a)
    e.arith(Arith.MUL, out, u, sign)


def _mish(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    """x w / (w + 2) for w = e ** x (e ** x + 2), the tangent of softplus without a logarithm."""
    a, b, *rest = scratch
    e.arith(Arith.MIN, a, x, MISH_LIMIT)
    exp_f32(e, b, a, (out, *rest), tables[0], 1.0)
    e.arith(Arith.ADD, a, b, 2.0)
    w = rest[0]
    e.arith(Arith.MUL, w, a, b)
    e.arith(Arith.ADD, a, w, 2.0)
    e.div(b, w, a)
    e.arith(Arith.MUL, out, x, b)


_EXP = EXP2_F32_SCRATCH

COSH_F32 = Unary(partial(_half_sum, sign=Arith.ADD), (F32, F32, *_EXP), (EXP2_6,), 96, F32)
SINH_F32 = Unary(_sinh, (F32, F32, F32, *_EXP), (EXP2_6, FIT_SINH_5), 122, F32)
ARCTANH_F32 = Unary(_arctanh, (F32, F32, *LOG_SCRATCH), (FIT_LOG_9, FIT_ATANH_7), 134, F32)
SOFT_PLUS_F32 = Unary(partial(_soft_plus, sign=1.0), (F32, *_EXP), (EXP2_6, FIT_LOG1P_10), 56, F32)
LOG_SIGMOID_F32 = Unary(
    partial(_soft_plus, sign=-1.0), (F32, *_EXP), (EXP2_6, FIT_LOG1P_10), 58, F32
)
MISH_F32 = Unary(_mish, (F32, F32, *_EXP), (EXP2_6,), 100, F32)
