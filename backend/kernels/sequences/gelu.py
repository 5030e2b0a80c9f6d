"""GELU without exponentials or divisions.

gelu(x) = max(x, 0) - t Q(t) with t = min(|x|, T) and Q the lower tail of the function's
distribution: 0.5 erfc(t / sqrt 2), or sigmoid(-2 sqrt(2/pi) (t + 0.044715 t^3)) for the form with
tanh. A polynomial for t Q(t) itself cancels in f16 near T; the fourth root of Q is nearly linear,
and squaring it twice makes its error vanish with the value.

Coefficients were fitted on the grid of f16 numbers, each step rounded as the SFU rounds it.
"""

from functools import partial

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.sequences.unary import Compute, Tensors, Unary, halves
from xdsl_tpu.backend.tensor import DType, LocalTensor

F16, F32 = DType.F16, DType.F32

FIT_ERF_14 = (
    0.840896428,
    -0.167734534,
    -0.050187584,
    0.00459826132,
    0.00391206658,
    -1.75140405e-4,
    -2.12350729e-4,
    2.25289496e-5,
    2.70048508e-6,
    3.66010539e-7,
    -3.53866511e-7,
    6.21647516e-8,
    -4.75910511e-9,
    1.42122217e-10,
)
"""(0.5 erfc(t / sqrt 2)) ** 0.25 up to `LIMIT_ERF_14`."""

LIMIT_ERF_14 = 5.25

FIT_TANH_12 = (
    0.840895653,
    -0.167719543,
    -0.0502850041,
    0.00503718667,
    0.00349466945,
    0.000244900497,
    -0.000438040763,
    5.68795394e-06,
    5.34868668e-05,
    -1.67770595e-05,
    2.16414219e-06,
    -1.05875884e-07,
)
"""sigmoid(-2 sqrt(2/pi) (t + 0.044715 t^3)) ** 0.25 up to 5.5."""

FIT_PRODUCT_11 = (
    0.0,
    0.49986824,
    -0.39853966,
    0.0032219049,
    0.050374903,
    0.029451756,
    -0.038076021,
    0.015043536,
    -0.0029969909,
    3.0764958e-4,
    -1.3003448e-5,
)
"""t * 0.5 erfc(t / sqrt 2) up to 4.5."""


def tail(
    e: Emitter, x: LocalTensor, scratch: Tensors, table: LocalTensor, limit: float
) -> tuple[LocalTensor, LocalTensor, LocalTensor]:
    """q = p(t) ** 4 and t = min(|x|, limit), in scratch 0 and 1; scratch 2 is free afterwards."""
    a, t, c = scratch[:3]
    e.absolute(a, x)
    e.arith(Arith.MIN, t, a, limit)
    e.taylor(a, t, table)
    e.arith(Arith.MUL, c, a, a)
    e.arith(Arith.MUL, a, c, c)
    return a, t, c


def _gated(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors, limit: float
) -> None:
    q, t, c = tail(e, x, scratch, tables[0], limit)
    e.arith(Arith.MUL, c, q, t)
    e.arith(Arith.MAX, q, x, 0.0)
    e.arith(Arith.SUB, out, q, c)


def gated(limit: float) -> Compute:
    """max(x, 0) - t q: GELU, SiLU and their like, by the table's tail."""
    return partial(_gated, limit=limit)


WIDE_LIMIT = 4.5


def _wide(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    """t Q(t) by an f32 polynomial, everything around it in f16: within one f16 ulp."""
    a, t, wide, product = scratch
    e.absolute(a, x)
    e.arith(Arith.MIN, t, a, WIDE_LIMIT)
    e.cast(wide, t)
    e.taylor(product, wide, tables[0])
    e.cast(a, product)
    e.arith(Arith.MAX, t, x, 0.0)
    e.arith(Arith.SUB, out, t, a)


_HALF = (F16,) * 3

GELU_F16 = Unary(gated(4.0), _HALF, (halves("3aba b156 aac8 1f7d 1a9a 906a"),), 13)
"""Error up to 1.1e-3, half an f16 ulp of the largest values concerned; 1.5e-4 left of -2.5."""

GELU_F16_CLOSE = Unary(_wide, (F16, F16, F32, F32), (FIT_PRODUCT_11,), 30, F32)
"""Error up to 9.8e-4, at most 0.9 ulp where |y| >= 1/16."""

TANH_GELU_F16 = Unary(gated(4.0), _HALF, (halves("3aba b156 aadb 2077 1904 8f22"),), 13)
"""The form with tanh; error up to 1.1e-3."""

QUICK_GELU_F16 = Unary(gated(7.0), _HALF, (halves("3ab8 b175 ad47 2a66 a1cd 1508 8367"),), 14)
"""x sigmoid(1.702 x); error up to 2e-3, half an f16 ulp of the largest values concerned."""

GELU_F32 = Unary(gated(LIMIT_ERF_14), (F32,) * 3, (FIT_ERF_14,), 42, F32)
"""Error up to 4.8e-7."""

TANH_GELU_F32 = Unary(gated(5.5), (F32,) * 3, (FIT_TANH_12,), 38, F32)
"""The form with tanh; error up to 5e-7."""
