"""ELU and Mish of f16 numbers without exponentials or divisions.

    elu(x)  = max(x, 0) + alpha u (u + 2)      u = e ** (t / 2) - 1 = t p(t), t = min(x, 0)
    mish(x) = max(x, 0) - t q(t)               t = |x|

The half of ELU's exponent makes u a product with t, so that small numbers keep their digits. What
Mish is away from a ReLU falls on both sides of 0, on the right of it twice as fast; as in `gelu`, q
is the fourth power of a polynomial, one on each side:

    q(t) = 2 / (w + 2) where x > 0, else w / (w + 2)      w = e ** x (e ** x + 2)
"""

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter
from xdsl_tpu.backend.kernels.sequences.unary import Tensors, Unary, halves
from xdsl_tpu.backend.tensor import DType, LocalTensor

F16 = DType.F16

ELU_LIMIT = 8.0
FIT_HALF_POWER_5 = halves("37fd 2fd5 24af 167f 03e8")
"""(e ** (t / 2) - 1) / t down to -`ELU_LIMIT`."""

MISH_LIMIT = 10.0
FIT_LEFT_7 = halves("3b0b af80 a844 2365 98d1 0a15 8061")
"""(w / (w + 2)) ** 0.25 of -t, up to `MISH_LIMIT`."""

RIGHT_LIMIT = 5.0
FIT_RIGHT_7 = halves("3a5c b0fc aa3e 2399 16af 9386 0575")
"""(2 / (w + 2)) ** 0.25 of t, up to `RIGHT_LIMIT`."""


def _elu(
    e: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    scratch: Tensors,
    tables: Tensors,
    alpha: float = 1.0,
) -> None:
    a, t, u = scratch
    e.arith(Arith.MIN, a, x, 0.0)
    e.arith(Arith.MAX, t, -ELU_LIMIT, a)  # the other way round it would drop a NaN
    e.taylor(a, t, tables[0])
    e.arith(Arith.MUL, u, a, t)
    e.arith(Arith.ADD, a, u, 2.0)
    e.arith(Arith.MUL, t, a, u)
    if alpha != 1.0:
        e.arith(Arith.MUL, a, t, alpha)
        a, t = t, a
    e.arith(Arith.MAX, u, x, 0.0)
    e.arith(Arith.ADD, out, u, t)


def _mish(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    a, t, right, left = scratch
    e.absolute(a, x)
    e.arith(Arith.MIN, t, a, MISH_LIMIT)
    e.arith(Arith.MIN, a, t, RIGHT_LIMIT)
    e.taylor(right, a, tables[0])
    e.taylor(left, t, tables[1])
    e.select(Compare.GREATER, a, x, 0.0, right, left)
    e.arith(Arith.MUL, left, a, a)
    e.arith(Arith.MUL, a, left, left)
    e.arith(Arith.MUL, left, a, t)
    e.arith(Arith.MAX, right, x, 0.0)
    e.arith(Arith.SUB, out, right, left)


ELU_F16 = Unary(_elu, (F16,) * 3, (FIT_HALF_POWER_5,), 12)
"""Error up to 1.1e-3 left of 0, relative 2.4e-3 down to -1."""

MISH_F16 = Unary(_mish, (F16,) * 4, (FIT_RIGHT_7, FIT_LEFT_7), 24)
"""Error up to 2e-3 (half an f16 ulp at 4), 9e-4 left of -2.5."""
