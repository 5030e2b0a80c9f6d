"""Functions of one operand: `tpu.Active`.

All are computed in f32. Coefficients are polynomial fits; their measured errors are stated. The
tail of erfc is fitted as its fourth root, which is nearly linear, so that squaring twice makes
relative errors vanish with the value.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter, Rounding
from xdsl_tpu.backend.kernels.elementwise import Types
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work, element_wise
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.errors import TpuError

LOG2_E = 1.4426950408889634

Q_LIMIT = 5.25
Q_ROOT = (
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
"""(0.5 erfc(t / sqrt 2)) ** 0.25 for 0 <= t <= 5.25; gives GELU to 4.8e-7."""

EXP2 = (0.99999994, 0.693153083, 0.240153626, 0.0558263063, 0.00898934249, 0.00187757856)
"""2 ** f for 0 <= f < 1; relative error 1.6e-7."""

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
    s, twice = work.scratch[0], work.scratch[1]
    _logistic(e, s, work, 2.0)
    e.arith(Arith.MUL, twice, s, 2.0)
    e.arith(Arith.SUB, work.out, twice, 1.0)


def _swish(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    _logistic(e, work.scratch[0], work, coeffs[0] if coeffs else 1.0)
    e.arith(Arith.MUL, work.out, work.operands[0], work.scratch[0])


def _quick_gelu(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    _swish(e, work, (1.702,))


def _tanh_gelu(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    """x * sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3))."""
    x, a, b = work.operands[0], work.scratch[0], work.scratch[1]
    e.arith(Arith.MUL, a, x, x)
    e.arith(Arith.MUL, b, a, 0.044715)
    e.arith(Arith.ADD, a, b, 1.0)
    e.arith(Arith.MUL, work.out, a, x)
    _logistic(e, b, Work(work.out, (work.out,), work.scratch, work.tables), 1.5957691216057308)
    e.arith(Arith.MUL, work.out, b, x)


def _tail(e: Emitter, work: Work, scale: float) -> None:
    """scratch 0 = 0.5 erfc(t / sqrt 2) and scratch 1 = t, for t = min(scale |x|, limit)."""
    a, t, c = work.scratch[:3]
    e.absolute(a, work.operands[0])
    if scale != 1:
        e.arith(Arith.MUL, c, a, scale)
        a, c = c, a
    e.arith(Arith.MIN, t, a, Q_LIMIT)
    a, c = work.scratch[0], work.scratch[2]
    e.taylor(a, t, work.tables[0])
    e.arith(Arith.MUL, c, a, a)
    e.arith(Arith.MUL, a, c, c)


def _gelu(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    """max(x, 0) - t * 0.5 erfc(t / sqrt 2), t = |x|."""
    _tail(e, work, 1.0)
    q, t, c = work.scratch[:3]
    e.arith(Arith.MUL, c, q, t)
    e.arith(Arith.MAX, q, work.operands[0], 0.0)
    e.arith(Arith.SUB, work.out, q, c)


def _erf(e: Emitter, work: Work, coeffs: Sequence[float]) -> None:
    """sign(x) * (1 - 2 q), q = 0.5 erfc(|x|)."""
    _tail(e, work, 2**0.5)
    q, negative, positive = work.scratch[:3]
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
    """x * rsqrt(x); zero stays zero because rsqrt(0) is finite on this chip."""
    e.rsqrt(work.scratch[0], work.operands[0])
    e.arith(Arith.MUL, work.out, work.operands[0], work.scratch[0])


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


_TAIL = ((F32,) * 3, (Q_ROOT,))
_LOGISTIC = (_LOGISTIC_SCRATCH, (EXP2,))

RECIPES: dict[str, Recipe] = {
    "ABSVAL": Recipe(_absolute),
    "CEIL": Recipe(_rounded(Rounding.CEIL)),
    "ELU": Recipe(_elu, (*_EXP_SCRATCH, F32), (EXP2,)),
    "ERF": Recipe(_erf, *_TAIL),
    "EXP": Recipe(_exp, _EXP_SCRATCH, (EXP2,)),
    "FLOOR": Recipe(_rounded(Rounding.FLOOR)),
    "GELU": Recipe(_gelu, *_TAIL),
    "HSIGMOID": Recipe(_hard_sigmoid, (F32, F32)),
    "HSWISH": Recipe(_hard_swish, (F32, F32)),
    "QGELU": Recipe(_quick_gelu, *_LOGISTIC),
    "RELU": Recipe(_relu),
    "ROUND": Recipe(_rounded(Rounding.HALF_EVEN)),
    "RSQRT": Recipe(_rsqrt),
    "SIGMOID": Recipe(_sigmoid, *_LOGISTIC),
    "SIGN": Recipe(_sign, (F32, F32)),
    "SILU": Recipe(_swish, *_LOGISTIC),
    "SOFT_SIGN": Recipe(_soft_sign, (F32, F32)),
    "SQRT": Recipe(_sqrt, (F32,)),
    "SQUARE": Recipe(_square),
    "SWISH": Recipe(_swish, *_LOGISTIC),
    "TANH": Recipe(_tanh, *_LOGISTIC),
    "TGELU": Recipe(_tanh_gelu, *_LOGISTIC),
}
"""Mode of `tpu.Active` -> how it is computed."""


def active(context: KernelContext, op: Operation) -> None:
    """tpu.Active over whole tensors."""
    assert isinstance(op, tpu.ActiveOp)
    out, x = context.value(op.output), context.value(op.input)
    element_wise(context, out, [x], describe(op, Types(out.dtype, (x.dtype,))))


def describe(op: Operation, types: Types) -> ElementWise:
    """How a tpu.Active is computed; 16-bit operands are widened to f32, the result narrowed.

    Raises TpuError for a mode that has no recipe.
    """
    assert isinstance(op, tpu.ActiveOp)
    mode = op.mode.data.value
    recipe = RECIPES.get(mode)
    if recipe is None:
        raise TpuError(f"{where(op)}: mode {mode} has no kernel; known: {', '.join(RECIPES)}")
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
