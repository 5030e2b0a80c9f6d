"""Functions of one operand: `tpu.Active`.

f16 and bf16 ones have short sequences of their own, those that `sequences.table` lists for the
precision the module asks for; everything else is computed in f32.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter, Rounding
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Types, Work
from xdsl_tpu.backend.kernels.sequences import gelu, hyperbolic, log, trigonometric
from xdsl_tpu.backend.kernels.sequences.exp import EXP2_6, EXP2_F32_SCRATCH, exp_f32
from xdsl_tpu.backend.kernels.sequences.logistic import TANH_NEAR
from xdsl_tpu.backend.kernels.sequences.table import BF16_SEQUENCES, SEQUENCES
from xdsl_tpu.backend.kernels.sequences.unary import Compute, Tensors, Unary
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.precision import precision_of

F32 = DType.F32


def _exp(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    exp_f32(e, out, x, scratch, tables[0], 1.0)


def logistic(
    e: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    scratch: Tensors,
    tables: Tensors,
    slope: float = 1.0,
) -> None:
    """out = 1 / (1 + exp(-slope x)); scratch as of `exp_f32`, and one more f32 tensor before it."""
    power, *rest = scratch
    exp_f32(e, power, x, rest, tables[0], -slope)
    e.arith(Arith.ADD, rest[0], power, 1.0)
    e.div(out, 1.0, rest[0])


def _tanh(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    """2 / (1 + exp(-2 x)) - 1, or an odd polynomial where that would cancel."""
    s, *rest = scratch
    twice, square = rest[:2]
    logistic(e, s, x, rest, tables, 2.0)
    e.arith(Arith.MUL, twice, s, 2.0)
    e.arith(Arith.SUB, s, twice, 1.0)
    e.arith(Arith.MUL, square, x, x)
    e.taylor(twice, square, tables[1])
    e.arith(Arith.MUL, square, twice, x)
    e.absolute(twice, x)
    e.select(Compare.GREATER, out, twice, TANH_NEAR, s, square)


def _swish(
    e: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    scratch: Tensors,
    tables: Tensors,
    slope: float = 1.0,
) -> None:
    s, *rest = scratch
    logistic(e, s, x, rest, tables, slope)
    e.arith(Arith.MUL, out, x, s)


def _erf(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    """sign(x) * (1 - 2 q), q = 0.5 erfc(|x|)."""
    scaled, *rest = scratch
    e.arith(Arith.MUL, scaled, x, 2**0.5)
    q, negative, positive = gelu.tail(e, scaled, rest, tables[0], gelu.LIMIT_ERF_14)
    e.arith(Arith.MUL, positive, q, -2.0)
    e.arith(Arith.ADD, q, positive, 1.0)
    e.arith(Arith.MUL, negative, q, -1.0)
    e.select(Compare.GREATER, out, x, 0.0, q, negative)


def _elu(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors, alpha: float
) -> None:
    grown, *rest = scratch
    exp_f32(e, grown, x, rest, tables[0], 1.0)
    e.arith(Arith.SUB, rest[0], grown, 1.0)
    e.arith(Arith.MUL, grown, rest[0], alpha)
    e.select(Compare.GREATER, out, x, 0.0, x, grown)


def _hard_sigmoid(
    e: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    scratch: Tensors,
    tables: Tensors,
    alpha: float,
    beta: float,
) -> None:
    """clip(alpha x + beta, 0, 1)."""
    a, b = scratch
    e.arith(Arith.MUL, a, x, alpha)
    e.arith(Arith.ADD, b, a, beta)
    e.arith(Arith.MAX, a, b, 0.0)
    e.arith(Arith.MIN, out, a, 1.0)


def _hard_swish(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    _hard_sigmoid(e, scratch[1], x, scratch, tables, 1 / 6, 0.5)
    e.arith(Arith.MUL, out, x, scratch[1])


def _sqrt(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    """x * rsqrt(x); 0 for 0, NaN below it."""
    root, product, other = scratch
    e.rsqrt(root, x)
    e.arith(Arith.MUL, product, x, root)
    e.select(Compare.EQUAL, other, x, 0.0, 0.0, math.nan)
    e.select(Compare.GREATER, out, x, 0.0, product, other)


def _soft_sign(
    e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors
) -> None:
    a, b = scratch
    e.absolute(a, x)
    e.arith(Arith.ADD, b, a, 1.0)
    e.div(out, x, b)


def _sign(e: Emitter, out: LocalTensor, x: LocalTensor, scratch: Tensors, tables: Tensors) -> None:
    positive, negated = scratch
    e.select(Compare.GREATER, positive, x, 0.0, 1.0, 0.0)
    e.arith(Arith.MUL, negated, x, -1.0)
    e.select(Compare.GREATER, out, negated, 0.0, -1.0, positive)


def _rounded(rounding: Rounding) -> Unary:
    return _f32(lambda e, out, x, scratch, tables: e.cast(out, x, rounding))


FIT_TANH_6 = (1.0, -0.333332986, 0.133319244, -0.0537838228, 0.0207959488, -0.00589513127)
"""tanh(x) / x in powers of x * x, for |x| <= 0.6; relative error 4.8e-8."""


def _f32(
    compute: Compute,
    scratch: tuple[DType, ...] = (),
    tables: tuple[tuple[float, ...], ...] = (),
    cycles: int = 0,
) -> Unary:
    return Unary(compute, scratch, tables, cycles, F32)


_POWER = (F32, *EXP2_F32_SCRATCH)
LOGISTIC_SCRATCH = (F32, *_POWER)
_LOGISTIC = ((F32, *LOGISTIC_SCRATCH), (EXP2_6,))

RECIPES: dict[str, Unary] = {
    "ABSVAL": _f32(lambda e, out, x, scratch, tables: e.absolute(out, x)),
    "ARCCOS": trigonometric.ARCCOS_F32,
    "ARCTANH": hyperbolic.ARCTANH_F32,
    "CEIL": _rounded(Rounding.CEIL),
    "COS": trigonometric.COS_F32,
    "COSH": hyperbolic.COSH_F32,
    "ELU": _f32(partial(_elu, alpha=1.0), LOGISTIC_SCRATCH, (EXP2_6,)),
    "ERF": _f32(_erf, (F32,) * 4, (gelu.FIT_ERF_14,)),
    "EXP": _f32(_exp, _POWER, (EXP2_6,)),
    "FLOOR": _rounded(Rounding.FLOOR),
    "GELU": gelu.GELU_F32,
    "HSIGMOID": _f32(partial(_hard_sigmoid, alpha=1 / 6, beta=0.5), (F32, F32)),
    "HSWISH": _f32(_hard_swish, (F32, F32)),
    "LN": log.LOG_F32,
    "LOG_SIGMOID": hyperbolic.LOG_SIGMOID_F32,
    "MISH": hyperbolic.MISH_F32,
    "QGELU": _f32(partial(_swish, slope=1.702), *_LOGISTIC),
    "RELU": _f32(lambda e, out, x, scratch, tables: e.arith(Arith.MAX, out, x, 0.0)),
    "ROUND": _rounded(Rounding.HALF_EVEN),
    "RSQRT": _f32(lambda e, out, x, scratch, tables: e.rsqrt(out, x)),
    "SIGMOID": _f32(logistic, LOGISTIC_SCRATCH, (EXP2_6,)),
    "SIGN": _f32(_sign, (F32, F32)),
    "SILU": _f32(_swish, *_LOGISTIC),
    "SIN": trigonometric.SIN_F32,
    "SINH": hyperbolic.SINH_F32,
    "SOFT_PLUS": hyperbolic.SOFT_PLUS_F32,
    "SOFT_SIGN": _f32(_soft_sign, (F32, F32)),
    "SQRT": _f32(_sqrt, (F32, F32, F32)),
    "SQUARE": _f32(lambda e, out, x, scratch, tables: e.arith(Arith.MUL, out, x, x)),
    "SWISH": _f32(_swish, *_LOGISTIC),
    "TAN": trigonometric.TAN_F32,
    "TANH": _f32(_tanh, (F32, *LOGISTIC_SCRATCH), (EXP2_6, FIT_TANH_6)),
    "TGELU": gelu.TANH_GELU_F32,
}
"""Mode of `tpu.Active` -> how it is computed."""

COEFFICIENTS = {
    "ELU": ("alpha",),
    "HSIGMOID": ("beta", "alpha"),
    "SILU": ("slope",),
    "SWISH": ("slope",),
}
"""What the coefficients of an op say of its mode, if it has any."""


_SHORT = {DType.F16: SEQUENCES, DType.BF16: BF16_SEQUENCES}


def describe(op: Operation, types: Types) -> ElementWise:
    """How a tpu.Active is computed: by a 16-bit sequence, or in f32 with casts around it.

    Raises TpuError for a mode that has no recipe.
    """
    assert isinstance(op, tpu.ActiveOp)
    mode = op.mode.data.value
    given = () if op.coeffs is None else floats(op.coeffs)
    named = dict(zip(COEFFICIENTS.get(mode, ()), given, strict=False))
    if types.out is types.operands[0] and (short := _SHORT.get(types.out)) is not None:
        sequence = short[precision_of(op)].get(mode)
        if sequence is not None:
            return _described(_with(sequence, named))
    recipe = RECIPES.get(mode)
    if recipe is None:
        raise NoKernel(f"{where(op)}: mode {mode} has no kernel; known: {', '.join(RECIPES)}")
    is_cast = types.out is not F32 or types.operands[0] is not F32
    return _described(_with(recipe, named), is_cast)


def _with(unary: Unary, named: Mapping[str, float]) -> Unary:
    """The function for these coefficients."""
    return replace(unary, compute=partial(unary.compute, **named)) if named else unary


def _described(unary: Unary, casts: bool = False) -> ElementWise:
    """A sequence, on numbers of another type by way of f32."""

    def compute(e: Emitter, work: Work) -> None:
        out, x, scratch = work.out, work.operands[0], work.scratch
        if casts:
            out, x, *scratch = scratch
            e.cast(x, work.operands[0])
        unary.compute(e, out, x, scratch, work.tables)
        if casts:
            e.cast(work.out, out)

    kinds = (F32, F32, *unary.scratch) if casts else unary.scratch
    scratch = tuple(Scratch(dtype) for dtype in kinds)
    return ElementWise(compute, scratch, unary.tables, unary.table_dtype)
