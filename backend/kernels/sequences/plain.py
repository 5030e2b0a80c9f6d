"""Functions of an instruction or a few: exact ones, and the hard form of SiLU.

    hard_swish(x) = x * (clip(x + 3, 0, 6) / 6)

Near -3, where the result vanishes, the sum is exact, so that small results keep their digits; and
6 times the f16 next to 1/6 is 1, so that from 3 on the result is x.
"""

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.sequences.unary import Tensors, Unary
from xdsl_tpu.backend.tensor import DType, LocalTensor

F16 = DType.F16


def _hard_swish(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    a, b = scratch
    e.arith(Arith.ADD, a, x, 3.0)
    e.arith(Arith.MAX, b, a, 0.0)
    e.arith(Arith.MIN, a, b, 6.0)
    e.arith(Arith.MUL, b, a, 1 / 6)
    e.arith(Arith.MUL, out, x, b)


def _absolute(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    e.absolute(out, x)


def _square(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    e.arith(Arith.MUL, out, x, x)


HARD_SWISH_F16 = Unary(_hard_swish, (F16, F16), (), 5)
"""Relative error up to 1.4e-3; none from 3 on."""

ABSOLUTE_F16 = Unary(_absolute, (), (), 1)
SQUARE_F16 = Unary(_square, (), (), 1)
"""The bits that f32 between two casts gives."""
