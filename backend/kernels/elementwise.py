"""Arithmetic on two or more tensors, with constants, relu and clip."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Emitter, Operand, Rounding
from xdsl_tpu.backend.kernels import activation, selection
from xdsl_tpu.backend.kernels.int8 import elementwise as int8
from xdsl_tpu.backend.kernels.mapping import (
    Describe,
    ElementWise,
    Scratch,
    Types,
    Work,
)
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.errors import NoKernel

Step = Callable[[Emitter, LocalTensor, LocalTensor], None]
"""(emitter, out, in): one instruction of a chain."""

StepWith = Callable[[Operand, bool], Step]
"""That on an operand, too, which comes first or second."""


def arith_step(kind: Arith, operand: Operand, swap: bool = False) -> Step:
    """out = in (op) operand, or operand (op) in."""

    def step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
        emitter.arith(kind, out, *((operand, x) if swap else (x, operand)))

    return step


def _with(kind: Arith) -> StepWith:
    return partial(arith_step, kind)


def _divide(operand: Operand, swap: bool) -> Step:
    """out = in / operand, or operand / in, in f32: Newton's reciprocal square root, 3 steps."""

    def step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
        emitter.div(out, *((operand, x) if swap else (x, operand)))

    return step


def relu_steps(do_relu: bool, limit: float) -> list[Step]:
    """max(x, 0) and, for a limit that is not negative, min(x, limit)."""
    if not do_relu:
        return []
    steps = [arith_step(Arith.MAX, 0.0)]
    return steps if limit < 0 else [*steps, arith_step(Arith.MIN, limit)]


def run_chain(emitter: Emitter, steps: Sequence[Step], work: Work, x: LocalTensor) -> None:
    """Apply steps one after the other, none in place: the AR form pays double for that.

    Results alternate between scratch tensor 0 and the result so that the last one lands in the
    result; scratch is needed for more than one step.
    """
    for index, step in enumerate(steps):
        is_even = (len(steps) - 1 - index) % 2 == 0
        target = work.out if is_even else work.scratch[0]
        step(emitter, target, x)
        x = target


def fused_relu(op: Operation) -> list[Step]:
    """The steps of the relu that an op carries."""
    do_relu, limit = getattr(op, "do_relu", None), getattr(op, "relu_limit", None)
    if do_relu is None or limit is None:
        return []
    return relu_steps(bool(do_relu.value.data), limit.value.data)


def describe(op: Operation, types: Types) -> ElementWise:
    """How an op is computed on these types; raises NoKernel when there is no way."""
    table = QUANTIZED if int8.is_quantized(types) else DESCRIPTIONS
    if type(op) not in table:
        kinds = ", ".join(kind.label for kind in types.operands)
        raise NoKernel(f"{where(op)}: there is no kernel on {kinds} to {types.out.label}")
    return table[type(op)](op, types)


def operand_order(op: Operation, elements: Sequence[int]) -> list[int]:
    """The operands in the order of computation: the largest first where order is free.

    Each operand of a quantised sum has a factor of its own.
    """
    order = list(range(len(elements)))
    free = isinstance(op, _COMMUTATIVE) and getattr(op, "multipliers", None) is None
    return sorted(order, key=lambda i: -elements[i]) if free else order


_COMMUTATIVE = (tpu.AddOp, tpu.MulOp, tpu.MaxOp, tpu.MinOp)


def chain(steps: Sequence[Step], types: Types) -> ElementWise:
    """Single instructions on one operand, one after the other; a copy if there are none."""
    steps = steps or [lambda emitter, out, x: emitter.copy(out, x)]

    def compute(emitter: Emitter, work: Work) -> None:
        run_chain(emitter, steps, work, work.operands[0])

    return ElementWise(compute, (Scratch(types.out),) if len(steps) > 1 else ())


def _is_reverse(op: Operation) -> bool:
    flag = getattr(op, "is_reverse", None)
    return flag is not None and bool(flag.value.data)


def _constant(step: StepWith, op: Operation, types: Types) -> ElementWise:
    """tpu.AddConst, SubConst, MulConst, MaxConst, MinConst."""
    assert isinstance(
        op, tpu.AddConstOp | tpu.SubConstOp | tpu.MulConstOp | tpu.MaxConstOp | tpu.MinConstOp
    )
    steps = [step(op.const_val.value.data, _is_reverse(op)), *fused_relu(op)]
    return chain(steps, types)


def _relu(op: Operation, types: Types) -> ElementWise:
    assert isinstance(op, tpu.ReluOp)
    return chain(relu_steps(True, op.relu_limit.value.data), types)


def _clip(op: Operation, types: Types) -> ElementWise:
    assert isinstance(op, tpu.ClipOp)
    steps = [
        arith_step(Arith.MAX, op.min.value.data),
        arith_step(Arith.MIN, op.max.value.data),
    ]
    return chain(steps, types)


def _leaky_relu(op: Operation, types: Types) -> ElementWise:
    """max(x, alpha x), or min for a slope above 1."""
    assert isinstance(op, tpu.LeakyReluOp)
    alpha = op.alpha.value.data if op.alpha is not None else 0.0
    kind = Arith.MAX if alpha <= 1 else Arith.MIN

    def compute(emitter: Emitter, work: Work) -> None:
        x, scaled = work.operands[0], work.scratch[0]
        emitter.arith(Arith.MUL, scaled, x, alpha)
        emitter.arith(kind, work.out, x, scaled)

    return ElementWise(compute, (Scratch(types.out),))


def _p_relu(op: Operation, types: Types) -> ElementWise:
    """max(x, 0) + slope * min(x, 0); the slope broadcasts."""

    def compute(emitter: Emitter, work: Work) -> None:
        x, slope = work.operands
        below, scaled = work.scratch
        emitter.arith(Arith.MIN, below, x, 0.0)
        emitter.arith(Arith.MUL, scaled, below, slope)
        emitter.arith(Arith.MAX, below, x, 0.0)
        emitter.arith(Arith.ADD, work.out, below, scaled)

    return ElementWise(compute, (Scratch(types.out), Scratch(types.out)))


def _several(step: StepWith, op: Operation, types: Types) -> ElementWise:
    """tpu.Add, Sub, Mul, Div, Max, Min of any number of broadcasting operands.

    The first one, or the result, may be of 16 bits where the others are of f32.
    """
    tail = fused_relu(op)
    if any(c != 1 for c in _coefficients(op)):
        raise NoKernel(f"{where(op)}: coefficients other than 1 have no kernel; multiply before it")
    swap = _is_reverse(op)

    def steps(work: Work) -> list[Step]:
        return [*(step(operand, swap) for operand in work.operands[1:]), *tail]

    if any(kind is not types.out for kind in types.operands):
        return _in_f32(op, types, steps)

    def compute(emitter: Emitter, work: Work) -> None:
        run_chain(emitter, steps(work), work, work.operands[0])

    several = len(types.operands) > 2 or bool(tail)
    return ElementWise(compute, (Scratch(types.out),) if several else ())


def _in_f32(op: Operation, types: Types, steps: Callable[[Work], Sequence[Step]]) -> ElementWise:
    """Steps on a first operand that is widened, to a result that is narrowed.

    The tensor is wide a part at a time, so that no lane need have room for it in f32.
    """
    if any(kind is not DType.F32 for kind in types.operands[1:]):
        kinds = ", ".join(kind.label for kind in types.operands)
        raise NoKernel(
            f"{where(op)}: there is no kernel on {kinds} to {types.out.label}; cast all operands "
            "to one type, or all but the first to f32"
        )

    def compute(emitter: Emitter, work: Work) -> None:
        chain = list(steps(work))
        if types.operands[0] is not DType.F32:
            chain.insert(0, _to_another_type)
        if types.out is not DType.F32:
            chain.append(_to_another_type)
        x, (*between, last) = work.operands[0], chain
        for step, target in zip(between, cycle(work.scratch)):
            step(emitter, target, x)
            x = target
        last(emitter, work.out, x)

    return ElementWise(compute, (Scratch(DType.F32), Scratch(DType.F32)))


def _to_another_type(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
    emitter.cast(out, x)


def _coefficients(op: Operation) -> tuple[float, ...]:
    coeff = getattr(op, "coeff", None)
    return floats(coeff) if coeff is not None else ()


def _scale(op: Operation, types: Types) -> ElementWise:
    """tpu.Scale: x times a factor plus a term, which broadcast."""
    assert isinstance(op, tpu.ScaleOp)
    tail = fused_relu(op)

    def compute(emitter: Emitter, work: Work) -> None:
        x, factor, term = work.operands
        steps = [arith_step(Arith.MUL, factor), arith_step(Arith.ADD, term)]
        run_chain(emitter, [*steps, *tail], work, x)

    return ElementWise(compute, (Scratch(types.out),))


def _reciprocal(op: Operation, types: Types) -> ElementWise:
    """tpu.Reciprocal: const_val / x in f32."""
    assert isinstance(op, tpu.ReciprocalOp)
    return chain([_divide(op.const_val.value.data, swap=True), *fused_relu(op)], types)


WHOLE: dict[str, Rounding] = {
    "Down": Rounding.FLOOR,
    "HalfAwayFromZero": Rounding.HALF_AWAY,
    "HalfToEven": Rounding.HALF_EVEN,
    "TowardsZero": Rounding.TOWARD_ZERO,
    "Up": Rounding.CEIL,
}
"""Rounding modes of casts to integers."""


def _cast(op: Operation, types: Types) -> ElementWise:
    """tpu.Cast between float types, to nearest even; to i32 by its rounding mode.

    Between i32 and 16-bit floats by way of f32: there is no other cast on the chip that rounds as
    two of them do.
    """
    assert isinstance(op, tpu.CastOp)
    out, x = types.out, types.operands[0]
    mode = op.round_mode.data.value
    if out is x:
        return chain([], types)
    if any(not kind.is_float and kind is not DType.I32 for kind in (out, x)):
        raise NoKernel(f"{where(op)}: a cast {x.label} to {out.label} has no kernel")
    if out is DType.I32 and mode not in WHOLE:
        raise NoKernel(f"{where(op)}: rounding mode {mode} has no kernel; use {', '.join(WHOLE)}")
    rounding = WHOLE[mode] if out is DType.I32 else Rounding.HALF_EVEN
    if DType.I32 not in (out, x) or DType.F32 in (out, x):
        return chain([lambda emitter, out, x: emitter.cast(out, x, rounding)], types)

    def compute(emitter: Emitter, work: Work) -> None:
        emitter.cast(work.scratch[0], work.operands[0])
        emitter.cast(work.out, work.scratch[0], rounding)

    return ElementWise(compute, (Scratch(DType.F32),))


def _soft_ramp(op: Operation, types: Types) -> ElementWise:
    """tpu.SoftRamp of f16."""
    assert isinstance(op, tpu.SoftRampOp)
    if {types.out, *types.operands} != {DType.F16}:
        raise NoKernel(
            f"{where(op)}: only operands and results of 8 bits, or of f16, have a kernel"
        )
    factor, limit, scale = op.factor.value.data, op.limit.value.data, op.scale.value.data

    def compute(emitter: Emitter, work: Work) -> None:
        value, (a, b, *more) = work.operands[0], work.scratch
        if factor != 1:
            emitter.arith(Arith.MUL, more[0], value, factor)
            value = more[0]
        out = work.out if scale == 1 else b
        int8.less_polynomial(emitter, out, value, (a, b), limit, work.tables[0])
        if scale != 1:
            emitter.arith(Arith.MUL, work.out, out, scale)

    scratch = (Scratch(DType.F16),) * (2 + (factor != 1))
    return ElementWise(compute, scratch, (floats(op.terms),), DType.F16)


DESCRIPTIONS: dict[type[Operation], Describe] = {
    **selection.DESCRIPTIONS,
    tpu.ActiveOp: activation.describe,
    tpu.AddOp: partial(_several, _with(Arith.ADD)),
    tpu.AddConstOp: partial(_constant, _with(Arith.ADD)),
    tpu.CastOp: _cast,
    tpu.ClipOp: _clip,
    tpu.DivOp: partial(_several, _divide),
    tpu.LeakyReluOp: _leaky_relu,
    tpu.MaxOp: partial(_several, _with(Arith.MAX)),
    tpu.MaxConstOp: partial(_constant, _with(Arith.MAX)),
    tpu.MinOp: partial(_several, _with(Arith.MIN)),
    tpu.MinConstOp: partial(_constant, _with(Arith.MIN)),
    tpu.PReluOp: _p_relu,
    tpu.MulOp: partial(_several, _with(Arith.MUL)),
    tpu.MulConstOp: partial(_constant, _with(Arith.MUL)),
    tpu.ReciprocalOp: _reciprocal,
    tpu.ReluOp: _relu,
    tpu.ScaleOp: _scale,
    tpu.SoftRampOp: _soft_ramp,
    tpu.SubOp: partial(_several, _with(Arith.SUB)),
    tpu.SubConstOp: partial(_constant, _with(Arith.SUB)),
}
"""How ops are computed element by element, of one or several tensors."""

QUANTIZED: dict[type[Operation], Describe] = {
    **selection.DESCRIPTIONS,
    **int8.DESCRIPTIONS,
    tpu.ActiveOp: activation.describe,
}
"""The same when a result or first operand has 8 bits; a magnitude is taken in f32."""
