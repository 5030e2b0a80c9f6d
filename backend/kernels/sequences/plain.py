"""Functions of an instruction or a few: exact ones, and the hard form of SiLU.

    hard_swish(x) = x * clip(x / 6 + 1/2, 0, 1)

The f16 next to 1/6 is too small by 2.4e-4. Here that changes x / 6 alone: were the sum multiplied
with it, all results between -3 and 3 would be too small, and a hundred layers one hundredth. From
3 on the sum rounds to 1, so that the result is x.
"""

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.sequences.unary import Tensors, Unary
from xdsl_tpu.backend.tensor import DType, LocalTensor

F16 = DType.F16


def _hard_swish(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    a, b = scratch
    e.arith(Arith.MUL, b, x, 1 / 6)
    e.arith(Arith.ADD, a, b, 0.5)
    e.arith(Arith.MAX, b, a, 0.0)
    e.arith(Arith.MIN, a, b, 1.0)
    e.arith(Arith.MUL, out, x, a)


def _absolute(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    e.absolute(out, x)


def _square(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    e.arith(Arith.MUL, out, x, x)


def _relu(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    e.arith(Arith.MAX, out, x, 0.0)


HARD_SWISH_F16 = Unary(_hard_swish, (F16, F16), (), 5)
"""Error up to 1.9e-3 (an f16 ulp at 2), 5e-4 left of -2.5; none from 3 on, and up to -3.01."""

ABSOLUTE = Unary(_absolute, (), (), 1)
SQUARE = Unary(_square, (), (), 1)
RELU = Unary(_relu, (), (), 1)
"""Of f16 and of bf16, with the bits that f32 between two casts gives."""
