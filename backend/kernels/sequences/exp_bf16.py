"""Powers of two as bf16 numbers, from exponents in f16.

2 ** s = q 2 ** k with k = floor(s). q is a polynomial in f16, from 1 to 2, 2 ** k has the range of
bf16. Between both types of 16 bits there is no cast; but the bits of a positive f16 number shifted
right by the three digits that bf16 lacks are those of a bf16 number 2 ** 112 times smaller, so the
other factor is made as much larger, and their product is exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl_tpu.backend.emitter import Arith, Emitter, Rounding
from xdsl_tpu.backend.kernels.sequences.unary import as_type
from xdsl_tpu.backend.tensor import DType, LocalTensor

BF16, F16, I16 = DType.BF16, DType.F16, DType.I16

DIGITS = 3
"""How many more an f16 number has."""

MANTISSA_BF16 = 7
BIAS = 127 + 112
"""The exponent of 1 in bf16, and how much smaller numbers become by the shift."""

LOWEST = -float(BIAS)
"""The exponent whose power is 0; all below -126 have none that is a normal number."""


@dataclass(frozen=True, slots=True)
class Power:
    """2 ** s as `mantissa`, f16 from 1 to 2, times `scale` in bf16, 2 ** 112 times too large; and
    tensors of 16 bits that are free, not those."""

    mantissa: LocalTensor
    scale: LocalTensor
    free: tuple[LocalTensor, LocalTensor]


def exp2_bf16(
    e: Emitter, s: LocalTensor, scratch: Sequence[LocalTensor], table: LocalTensor
) -> Power:
    """2 ** s for s <= 0 in f16, 9 cycles; relative error 7.5e-4, and 0 from `LOWEST` down.

    `table` is `EXP2_4`. s is one of four tensors that are worked in, `scratch` the others, all
    dense and of 16 bits. NaN counts as `LOWEST`.
    """
    a, b, c = scratch
    bounded, integer, whole = as_type(a, F16), as_type(b, I16), as_type(c, F16)
    e.arith(Arith.MAX, bounded, s, LOWEST)
    e.cast(integer, bounded, Rounding.FLOOR)
    e.cast(whole, integer)
    e.arith(Arith.SUB, s, bounded, whole)
    e.taylor(whole, s, table)
    e.add_shift(as_type(a, I16), integer, BIAS, MANTISSA_BF16)
    return Power(whole, as_type(a, BF16), (as_type(b, BF16), as_type(s, BF16)))


def narrowed(e: Emitter, out: LocalTensor, x: LocalTensor) -> LocalTensor:
    """x / 2 ** 112 in bf16 in the place of `out`, rounded once; x are positive normal numbers of
    f16, both are of 16 bits and dense."""
    e.add_shift(as_type(out, I16), as_type(x, I16), 0, -DIGITS, Rounding.HALF_EVEN)
    return as_type(out, BF16)
