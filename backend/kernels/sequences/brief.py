"""Functions of bf16 numbers: f32 inside, with as many digits as bf16 holds.

bf16 rounds by up to 2 ** -9 of a number. Polynomials that are off by at most half of that have half
the terms of those for f32, and no result needs a division, which takes longer than all else
together. What bounds an argument works on bf16 itself, at half the cycles. As in `gelu` and
`logistic`, q(t) with t = min(|x|, T) is a falling tail whose fourth or sixteenth root is nearly a
line:

    gelu, silu    max(x, 0) - t q(t)    rounded once
    sigmoid(x)    x > 0 ? 1 - q : q
    tanh(x)       t p(t t), t = x between -T and T

NaN stays NaN, and infinities count as the largest numbers.
"""

from functools import partial

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter
from xdsl_tpu.backend.kernels.sequences.unary import Tensors, Unary
from xdsl_tpu.backend.tensor import DType, LocalTensor

BF16, F32 = DType.BF16, DType.F32


def _tail(
    e: Emitter, x: LocalTensor, scratch: Tensors, table: LocalTensor, limit: float, squares: int
) -> tuple[LocalTensor, LocalTensor, LocalTensor]:
    """q = p(t) ** (2 ** squares) and t = min(|x|, limit) in f32, and another f32 tensor.

    scratch are two tensors of bf16, which are free afterwards, and three of f32.
    """
    a, t, wide, q, other = scratch
    e.absolute(a, x)
    e.arith(Arith.MIN, t, a, limit)
    e.cast(wide, t)
    e.taylor(q, wide, table)
    for _ in range(squares):
        e.arith(Arith.MUL, other, q, q)
        q, other = other, q
    return q, wide, other


def _gated(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors, limit: float
) -> None:
    q, t, product = _tail(e, x, scratch, tables[0], limit, 2)
    positive = scratch[0]
    e.arith(Arith.MUL, product, q, t)
    e.arith(Arith.MAX, positive, x, 0.0)
    e.cast(t, positive)
    e.arith(Arith.SUB, q, t, product)
    e.cast(out, q)


def _sigmoid(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    q, rest, _ = _tail(e, x, scratch, tables[0], SIGMOID_LIMIT, 4)
    e.arith(Arith.SUB, rest, 1.0, q)
    low, high = scratch[:2]
    e.cast(low, q)
    e.cast(high, rest)
    e.select(Compare.GREATER, out, x, 0.0, high, low)


def _tanh(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    above, t, wide, square, factor = scratch
    e.arith(Arith.MIN, above, x, TANH_LIMIT)
    e.arith(Arith.MAX, t, -TANH_LIMIT, above)  # the other way round it would drop a NaN
    e.cast(wide, t)
    e.arith(Arith.MUL, square, wide, wide)
    e.taylor(factor, square, tables[0])
    e.arith(Arith.MUL, square, factor, wide)
    e.cast(out, square)


SIGMOID_LIMIT = 16.0
FIT_SIGMOID_8 = (
    0.957548707,
    -0.0291786354,
    -0.00868331618,
    0.00156570619,
    -8.14359083e-05,
    -6.7172575e-06,
    9.89914773e-07,
    -3.31117914e-08,
)
"""sigmoid(-t) ** (1 / 16) up to `SIGMOID_LIMIT`."""

FIT_SILU_7 = (
    0.840549851,
    -0.1014536,
    -0.0278551511,
    0.0100535597,
    -0.00136005684,
    8.92698609e-05,
    -2.33794503e-06,
)
"""sigmoid(-t) ** 0.25 up to 10."""

FIT_GELU_7 = (
    0.840917288,
    -0.168165822,
    -0.0483043984,
    0.00129419289,
    0.00679710537,
    -0.00151470684,
    9.95401129e-05,
)
"""(0.5 erfc(t / sqrt 2)) ** 0.25 up to 4."""

FIT_TANH_GELU_7 = (
    0.840863492,
    -0.167274254,
    -0.0513233161,
    0.00530100985,
    0.00474032054,
    -0.001125895,
    7.67901043e-05,
)
"""sigmoid(-2 sqrt(2/pi) (t + 0.044715 t^3)) ** 0.25 up to 4."""

FIT_QUICK_GELU_7 = (
    0.840865439,
    -0.174418293,
    -0.0779538924,
    0.0477330432,
    -0.0108177697,
    0.00118289757,
    -5.13956084e-05,
)
"""sigmoid(-1.702 t) ** 0.25 up to 6.5."""

TANH_LIMIT = 4.0
"""From 3.5 on, bf16 rounds tanh to 1."""
FIT_TANH_10 = (
    0.999380729,
    -0.324721962,
    0.111544302,
    -0.0297900049,
    0.00559088595,
    -0.000704783122,
    5.78410176e-05,
    -2.94906428e-06,
    8.45847501e-08,
    -1.04107073e-09,
)
"""tanh(t) / t in powers of t * t up to `TANH_LIMIT`."""

_ROOM = (BF16, BF16, F32, F32, F32)


def _of(limit: float, table: tuple[float, ...], cycles: int) -> Unary:
    return Unary(partial(_gated, limit=limit), _ROOM, (table,), cycles, F32)


SIGMOID_BF16 = Unary(_sigmoid, _ROOM, (FIT_SIGMOID_8,), 36, F32)
"""Error up to 0.73 ulp where y > 1/64; below, relative 9e-4 up to 0.001, then 1e-6."""

SILU_BF16 = _of(10.0, FIT_SILU_7, 31)
"""Error up to 0.69 ulp where |y| > 1/64; -4.6e-4 left of -10."""

GELU_BF16 = _of(4.0, FIT_GELU_7, 31)
"""Error up to 0.52 ulp where |y| > 1/64; -1.3e-4 left of -4."""

TANH_GELU_BF16 = _of(4.0, FIT_TANH_GELU_7, 31)
QUICK_GELU_BF16 = _of(6.5, FIT_QUICK_GELU_7, 31)

TANH_BF16 = Unary(_tanh, _ROOM, (FIT_TANH_10,), 30, F32)
"""Error up to 0.63 ulp, however small x is."""
