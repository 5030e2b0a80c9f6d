"""Sigmoid, SiLU and tanh without exponentials or divisions.

All rest on q(t) = sigmoid(-t) for t = min(|x|, T), a falling tail between 0.5 and 0, whose fourth
root is a smooth polynomial (see `gelu`). Then

    silu(x)    = max(x, 0) - t q(t)
    sigmoid(x) = x > 0 ? 1 - q : q
    tanh(x)    = sign(x) (1 - 2 q(2 t))
"""

from functools import partial

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter
from xdsl_tpu.backend.kernels.sequences.gelu import gated, tail
from xdsl_tpu.backend.kernels.sequences.unary import Tensors, Unary, as_type, halves
from xdsl_tpu.backend.tensor import DType, LocalTensor

F16, F32 = DType.F16, DType.F32

SIGMOID_LIMIT = 11.0
SILU_LIMIT = 12.0
TANH_LIMIT = 5.0

FIT_SIGMOID_7 = (
    0.84006727,
    -0.10033903,
    -0.028503818,
    0.010153119,
    -0.0013484135,
    8.5478114e-5,
    -2.1182805e-6,
)
"""sigmoid(-t) ** 0.25 up to 12."""

FIT_SIGMOID_9 = (
    0.840885997,
    -0.104878508,
    -0.0204771869,
    0.00372554548,
    0.00132871361,
    -0.000528061239,
    7.52471096e-05,
    -4.99762427e-06,
    1.28462986e-07,
)
"""The same, closer."""

FIT_TANH_6 = (0.84082, -0.20764, -0.09613, 0.062622, -0.012817, 0.00090456)
"""sigmoid(-2 t) ** 0.25 up to 5."""

TANH_NEAR = 0.6
FIT_TANH_NEAR = (1.0, -0.33300781, 0.12963867, -0.04098511)
"""tanh(x) / x in powers of x * x, up to 0.6."""


def _sigmoid(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors, limit: float
) -> None:
    q, rest, _ = tail(e, x, scratch, tables[0], limit)
    e.arith(Arith.SUB, rest, 1.0, q)
    e.select(Compare.GREATER, out, x, 0.0, rest, q)


def _silu_close(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    """The tail in f32, everything around it in f16."""
    a, t, c, wide, power = scratch
    e.absolute(a, x)
    e.arith(Arith.MIN, t, a, SILU_LIMIT)
    e.cast(wide, t)
    e.taylor(power, wide, tables[0])
    e.arith(Arith.MUL, wide, power, power)
    e.arith(Arith.MUL, power, wide, wide)
    e.cast(a, power)
    e.arith(Arith.MUL, c, a, t)
    e.arith(Arith.MAX, a, x, 0.0)
    e.arith(Arith.SUB, out, a, c)


def _tanh_far(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    """sign(x) (1 - 2 q): good to 2.2e-3, which is much where tanh itself is small."""
    q, t, c = tail(e, x, scratch, tables[0], TANH_LIMIT)
    e.arith(Arith.MUL, c, q, 2.0)
    e.arith(Arith.SUB, t, 1.0, c)
    sign = as_type(c, DType.I16)
    e.arith(Arith.AND, sign, as_type(x, DType.I16), _SIGN_BIT)
    e.arith(Arith.OR, as_type(out, DType.I16), as_type(t, DType.I16), sign)


_SIGN_BIT = -0x8000


def _tanh(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    """As `_tanh_far`, but an odd polynomial where |x| <= 0.6."""
    a, b, _, far = scratch
    _tanh_far(e, far, x, scratch, tables)
    e.arith(Arith.MUL, a, x, x)
    e.taylor(b, a, tables[1])
    e.arith(Arith.MUL, a, b, x)
    e.absolute(b, x)
    e.select(Compare.GREATER, out, b, TANH_NEAR, far, a)


_HALF = (F16,) * 3
_MIXED = (*_HALF, F32, F32)

SIGMOID_F16 = Unary(
    partial(_sigmoid, limit=SIGMOID_LIMIT), _HALF, (halves("3aba aea4 a62a 2005 929c 01e2"),), 13
)
"""Error up to 1.2e-3."""

SIGMOID_F32_SHORT = Unary(
    partial(_sigmoid, limit=SILU_LIMIT), (F32,) * 3, (FIT_SIGMOID_9,), 32, F32
)
"""Error up to 3.1e-5, in a third of the cycles of a division: for f32 inside of 16-bit layers."""

SILU_F16 = Unary(gated(SILU_LIMIT), _HALF, (halves("3aba ae8d a6db 20dc 94ff 04cb 801c"),), 14)
"""Error up to 2.8e-3 (half an f16 ulp at 8), 9e-4 left of 0."""

SILU_F16_CLOSE = Unary(_silu_close, _MIXED, (FIT_SIGMOID_7,), 27, F32)
"""Error up to 2.7e-3 (half an f16 ulp at 8), 2.3e-4 left of 0."""

TANH_F16 = Unary(_tanh, (*_HALF, F16), (FIT_TANH_6, FIT_TANH_NEAR), 23)
"""Error up to 2.2e-3 of 1, and 4e-3 of the result however small."""
