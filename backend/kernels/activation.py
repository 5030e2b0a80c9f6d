"""Functions of one operand: `tpu.Active`.

f16 ones have short sequences of their own (`sequences.table`) unless the module asks for `full`
precision; everything else is computed in f32.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter, Rounding
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Types, Work
from xdsl_tpu.backend.kernels.sequences import gelu, hyperbolic, log, trigonometric
from xdsl_tpu.backend.kernels.sequences.exp import EXP2_6 as EXP2
from xdsl_tpu.backend.kernels.sequences.exp import LOG2_E
from xdsl_tpu.backend.kernels.sequences.logistic import TANH_NEAR
from xdsl_tpu.backend.kernels.sequences.table import SEQUENCES
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.precision import precision_of

EXPONENT_BIAS = 127
MANTISSA_BITS = 23
LOWEST_EXPONENT = -126.0
HIGHEST_EXPONENT = 127.0


@dataclass(frozen=True)
class Recipe:
    """How to compute a function: its instructions, f32 scratch tensors, tables."""

    compute: Callable[[Emitter, Work, Sequence[float]], None]
    scratch: tuple[DType, ...] = ()
    tables: tuple[tuple[float, ...], ...] = ()


F32 = DType.F32
_EXP_SCRATCH = (F32, F32, F32, DType.I16, DType.I32)


def exp2(e: Emitter, out: LocalTensor, y: LocalTensor, work: Work, table: LocalTensor) -> None:
    """out = 2 ** y for exponents in the f32 range; uses scratch 1 to 4, y may be scratch 0.

    The exponent is built as an integer, the rest by polynomial.
    """
    whole, fraction, k, power = work.scratch[1:5]
    e.arith(Arith.MAX, fraction, y, LOWEST_EXPONENT)
    e.arith(Arith.MIN, out, fraction, HIGHEST_EXPONENT)
    e.cast(whole, out, Rounding.FLOOR)
    e.arith(Arith.SUB, fraction, out, whole)
    e.cast(k, whole, Rounding.HALF_AWAY)
    e.add_shift(power, k, EXPONENT_BIAS, MANTISSA_BITS)
    e.taylor(whole, fraction, table)
    e.arith(Arith.MUL, out, whole, as_f32(power))


def exp2_of_negative(
    e: Emitter, y: LocalTensor, b: LocalTensor, c: LocalTensor, table: LocalTensor
) -> None:
    """c = 2 ** y for y <= 0 (below -126: 2 ** -126), in nothing but three f32 tensors.

    y and b are overwritten.
    """
    e.arith(Arith.MAX, b, y, LOWEST_EXPONENT)
    e.cast(y, b, Rounding.FLOOR)
    e.arith(Arith.SUB, c, b, y)
    k = aligned(e.chip, b.address, b.shape, DType.I16)
    power = aligned(e.chip, y.address, y.shape, DType.I32)
    e.cast(k, y, Rounding.HALF_AWAY)
    e.add_shift(power, k, EXPONENT_BIAS, MANTISSA_BITS)
    e.taylor(b, c, table)
    e.arith(Arith.MUL, c, b, as_f32(power))


def as_f32(tensor: LocalTensor) -> LocalTensor:
    """The same 32-bit words read as f32."""
    return LocalTensor(tensor.address, tensor.shape, tensor.strides, F32, tensor.layout)


def _exp(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    scaled = work.scratch[0]
    e.arith(Arith.MUL, scaled, work.operands[0], LOG2_E)
    exp2(e, work.out, scaled, work, work.tables[0])


def _logistic(e: Emitter, out: LocalTensor, work: Work, slope: float) -> None:
    """out = 1 / (1 + exp(-slope x))."""
    scaled, one_more = work.scratch[0], work.scratch[1]
    e.arith(Arith.MUL, scaled, work.operands[0], -slope * LOG2_E)
    exp2(e, work.scratch[2], scaled, _shifted(work), work.tables[0])
    e.arith(Arith.ADD, one_more, work.scratch[2], 1.0)
    e.div(out, 1.0, one_more)


def _shifted(work: Work) -> Work:
    """Scratch for an inner exp2 whose result must not be the operand: drop one tensor."""
    return Work(work.out, work.operands, (work.scratch[0], *work.scratch[3:]), work.tables)


_LOGISTIC_SCRATCH = (F32, F32, F32, F32, F32, DType.I16, DType.I32)


def _sigmoid(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    _logistic(e, work.out, work, 1.0)


def _tanh(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    """2 / (1 + exp(-2 x)) - 1, or an odd polynomial where that would cancel."""
    s, twice, square = work.scratch[:3]
    x = work.operands[0]
    _logistic(e, s, work, 2.0)
    e.arith(Arith.MUL, twice, s, 2.0)
    e.arith(Arith.SUB, s, twice, 1.0)
    e.arith(Arith.MUL, square, x, x)
    e.taylor(twice, square, work.tables[1])
    e.arith(Arith.MUL, square, twice, x)
    e.absolute(twice, x)
    e.select(Compare.GREATER, work.out, twice, TANH_NEAR, s, square)


def _swish(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    _logistic(e, work.scratch[0], work, coeffs[0] if coeffs else 1.0)
    e.arith(Arith.MUL, work.out, work.operands[0], work.scratch[0])


def _quick_gelu(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    _swish(e, work, (1.702,))


def _erf(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    """sign(x) * (1 - 2 q), q = 0.5 erfc(|x|)."""
    scaled, *scratch = work.scratch
    e.arith(Arith.MUL, scaled, work.operands[0], 2**0.5)
    q, negative, positive = gelu.tail(e, scaled, scratch, work.tables[0], gelu.LIMIT_ERF_14)
    e.arith(Arith.MUL, positive, q, -2.0)
    e.arith(Arith.ADD, q, positive, 1.0)
    e.arith(Arith.MUL, negative, q, -1.0)
    e.select(Compare.GREATER, work.out, work.operands[0], 0.0, q, negative)


def _elu(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    x, grown = work.operands[0], work.scratch[0]
    e.arith(Arith.MUL, grown, x, LOG2_E)
    exp2(e, work.scratch[5], grown, work, work.tables[0])
    e.arith(Arith.SUB, grown, work.scratch[5], 1.0)
    e.arith(Arith.MUL, work.scratch[5], grown, coeffs[0] if coeffs else 1.0)
    e.select(Compare.GREATER, work.out, x, 0.0, x, work.scratch[5])


def _hard_sigmoid(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    """clip(alpha x + beta, 0, 1); coefficients are beta, alpha."""
    beta, alpha = coeffs or (0.5, 1 / 6)
    _clipped_line(e, work, work.out, alpha, beta)


def _clipped_line(e: Emitter, work: Work, out: LocalTensor, alpha: float, beta: float) -> None:
    a, b = work.scratch[:2]
    e.arith(Arith.MUL, a, work.operands[0], alpha)
    e.arith(Arith.ADD, b, a, beta)
    e.arith(Arith.MAX, a, b, 0.0)
    e.arith(Arith.MIN, out, a, 1.0)


def _hard_swish(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    _clipped_line(e, work, work.scratch[1], 1 / 6, 0.5)
    e.arith(Arith.MUL, work.out, work.operands[0], work.scratch[1])


def _square(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    e.arith(Arith.MUL, work.out, work.operands[0], work.operands[0])


def _rsqrt(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    e.rsqrt(work.out, work.operands[0])


def _sqrt(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    """x * rsqrt(x); 0 for 0, NaN below it."""
    x, (root, product, other) = work.operands[0], work.scratch
    e.rsqrt(root, x)
    e.arith(Arith.MUL, product, x, root)
    e.select(Compare.EQUAL, other, x, 0.0, 0.0, math.nan)
    e.select(Compare.GREATER, work.out, x, 0.0, product, other)


def _absolute(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    e.absolute(work.out, work.operands[0])


def _relu(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    e.arith(Arith.MAX, work.out, work.operands[0], 0.0)


def _soft_sign(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    a, b = work.scratch[:2]
    e.absolute(a, work.operands[0])
    e.arith(Arith.ADD, b, a, 1.0)
    e.div(work.out, work.operands[0], b)


def _sign(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    x, positive, negated = work.operands[0], work.scratch[0], work.scratch[1]
    e.select(Compare.GREATER, positive, x, 0.0, 1.0, 0.0)
    e.arith(Arith.MUL, negated, x, -1.0)
    e.select(Compare.GREATER, work.out, negated, 0.0, -1.0, positive)


def _rounded(rounding: Rounding) -> Callable[[Emitter, Work, Sequence[float]], None]:
    def compute(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
        e.cast(work.out, work.operands[0], rounding)

    return compute


def _sequence(unary: Unary) -> Recipe:
    """A sequence on f32 as a recipe."""

    def compute(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
        unary.compute(e, work.out, work.operands[0], work.scratch, work.tables)

    return Recipe(compute, unary.scratch, unary.tables)


FIT_TANH_6 = (1.0, -0.333332986, 0.133319244, -0.0537838228, 0.0207959488, -0.00589513127)
"""tanh(x) / x in powers of x * x, for |x| <= 0.6; relative error 4.8e-8."""

_LOGISTIC = (_LOGISTIC_SCRATCH, (EXP2,))

RECIPES: dict[str, Recipe] = {
    "ABSVAL": Recipe(_absolute),
    "ARCCOS": _sequence(trigonometric.ARCCOS_F32),
    "ARCTANH": _sequence(hyperbolic.ARCTANH_F32),
    "CEIL": Recipe(_rounded(Rounding.CEIL)),
    "COS": _sequence(trigonometric.COS_F32),
    "COSH": _sequence(hyperbolic.COSH_F32),
    "ELU": Recipe(_elu, (*_EXP_SCRATCH, F32), (EXP2,)),
    "ERF": Recipe(_erf, (F32,) * 4, (gelu.FIT_ERF_14,)),
    "EXP": Recipe(_exp, _EXP_SCRATCH, (EXP2,)),
    "FLOOR": Recipe(_rounded(Rounding.FLOOR)),
    "GELU": _sequence(gelu.GELU_F32),
    "HSIGMOID": Recipe(_hard_sigmoid, (F32, F32)),
    "HSWISH": Recipe(_hard_swish, (F32, F32)),
    "LN": _sequence(log.LOG_F32),
    "LOG_SIGMOID": _sequence(hyperbolic.LOG_SIGMOID_F32),
    "MISH": _sequence(hyperbolic.MISH_F32),
    "QGELU": Recipe(_quick_gelu, *_LOGISTIC),
    "RELU": Recipe(_relu),
    "ROUND": Recipe(_rounded(Rounding.HALF_EVEN)),
    "RSQRT": Recipe(_rsqrt),
    "SIGMOID": Recipe(_sigmoid, *_LOGISTIC),
    "SIGN": Recipe(_sign, (F32, F32)),
    "SILU": Recipe(_swish, *_LOGISTIC),
    "SIN": _sequence(trigonometric.SIN_F32),
    "SINH": _sequence(hyperbolic.SINH_F32),
    "SOFT_PLUS": _sequence(hyperbolic.SOFT_PLUS_F32),
    "SOFT_SIGN": Recipe(_soft_sign, (F32, F32)),
    "SQRT": Recipe(_sqrt, (F32, F32, F32)),
    "SQUARE": Recipe(_square),
    "SWISH": Recipe(_swish, *_LOGISTIC),
    "TAN": _sequence(trigonometric.TAN_F32),
    "TANH": Recipe(_tanh, _LOGISTIC_SCRATCH, (EXP2, FIT_TANH_6)),
    "TGELU": _sequence(gelu.TANH_GELU_F32),
}
"""Mode of `tpu.Active` -> how it is computed."""


def describe(op: Operation, types: Types) -> ElementWise:
    """How a tpu.Active is computed: by an f16 sequence, or in f32 with casts around it.

    Raises TpuError for a mode that has no recipe.
    """
    assert isinstance(op, tpu.ActiveOp)
    mode = op.mode.data.value
    if types.out is types.operands[0] is DType.F16:
        sequence = SEQUENCES[precision_of(op)].get(mode)
        if sequence is not None:
            return _narrow(sequence)
    recipe = RECIPES.get(mode)
    if recipe is None:
        raise NoKernel(f"{where(op)}: mode {mode} has no kernel; known: {', '.join(RECIPES)}")
    coeffs = floats(op.coeffs) if op.coeffs is not None else ()
    narrow = types.out is not F32 or types.operands[0] is not F32

    def compute(emitter: Emitter, work: Work) -> None:
        if not narrow:
            recipe.compute(emitter, work, coeffs)
            return
        wide_out, wide_x, *scratch = work.scratch
        emitter.cast(wide_x, work.operands[0])
        recipe.compute(emitter, Work(wide_out, (wide_x,), scratch, work.tables), coeffs)
        emitter.cast(work.out, wide_out)

    kinds = (F32, F32, *recipe.scratch) if narrow else recipe.scratch
    scratch = tuple(Scratch(dtype) for dtype in kinds)
    return ElementWise(compute, scratch, recipe.tables)


def _narrow(unary: Unary) -> ElementWise:
    def compute(emitter: Emitter, work: Work) -> None:
        unary.compute(emitter, work.out, work.operands[0], work.scratch, work.tables)

    scratch = tuple(Scratch(dtype) for dtype in unary.scratch)
    return ElementWise(compute, scratch, unary.tables, unary.table_dtype)
