"""Arithmetic on two or more tensors, with constants, relu and clip."""

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.emitter import Arith, Emitter, Operand
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work, element_wise
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, where
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.errors import TpuError

Step = Callable[[Emitter, LocalTensor, LocalTensor], None]
"""(emitter, out, in): one instruction of a chain."""


def with_constant(kind: Arith, constant: float) -> Step:
    """out = in (op) constant."""

    def step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
        emitter.arith(kind, out, x, constant)

    return step


def relu_steps(do_relu: bool, limit: float) -> list[Step]:
    """max(x, 0) and, for a limit that is not negative, min(x, limit)."""
    if not do_relu:
        return []
    steps = [with_constant(Arith.MAX, 0.0)]
    return steps if limit < 0 else [*steps, with_constant(Arith.MIN, limit)]


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


def _fused_relu(op: Operation) -> list[Step]:
    do_relu, limit = getattr(op, "do_relu", None), getattr(op, "relu_limit", None)
    if do_relu is None or limit is None:
        return []
    return relu_steps(bool(do_relu.value.data), limit.value.data)


def _unary(context: KernelContext, op: Operation, steps: Sequence[Step]) -> None:
    """A chain of single instructions on one operand."""
    steps = steps or [_copy]
    out, x = context.value(op.results[0]), context.value(op.operands[0])

    def compute(emitter: Emitter, work: Work) -> None:
        run_chain(emitter, steps, work, work.operands[0])

    needs_scratch = (Scratch(out.dtype),) if len(steps) > 1 else ()
    element_wise(context, out, [x], ElementWise(compute, needs_scratch))


def _copy(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
    emitter.copy(out, x)


def _constant_step(kind: Arith, op: Operation, constant: float) -> Step:
    """x (op) constant, or constant (op) x for a reversed op."""
    if not _is_reverse(op):
        return with_constant(kind, constant)

    def step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
        emitter.arith(kind, out, constant, x)

    return step


def _is_reverse(op: Operation) -> bool:
    flag = getattr(op, "is_reverse", None)
    return flag is not None and bool(flag.value.data)


def constant_kernel(kind: Arith, context: KernelContext, op: Operation) -> None:
    """tpu.AddConst, SubConst, MulConst, MaxConst, MinConst."""
    assert isinstance(
        op, tpu.AddConstOp | tpu.SubConstOp | tpu.MulConstOp | tpu.MaxConstOp | tpu.MinConstOp
    )
    step = _constant_step(kind, op, op.const_val.value.data)
    _unary(context, op, [step, *_fused_relu(op)])


add_const = partial(constant_kernel, Arith.ADD)
sub_const = partial(constant_kernel, Arith.SUB)
mul_const = partial(constant_kernel, Arith.MUL)
max_const = partial(constant_kernel, Arith.MAX)
min_const = partial(constant_kernel, Arith.MIN)


def relu(context: KernelContext, op: Operation) -> None:
    """tpu.Relu."""
    assert isinstance(op, tpu.ReluOp)
    _unary(context, op, relu_steps(True, op.relu_limit.value.data))


def clip(context: KernelContext, op: Operation) -> None:
    """tpu.Clip."""
    assert isinstance(op, tpu.ClipOp)
    steps = [
        with_constant(Arith.MAX, op.min.value.data),
        with_constant(Arith.MIN, op.max.value.data),
    ]
    _unary(context, op, steps)


def leaky_relu(context: KernelContext, op: Operation) -> None:
    """tpu.LeakyRelu: max(x, alpha x), or min for a slope above 1."""
    assert isinstance(op, tpu.LeakyReluOp)
    alpha = op.alpha.value.data if op.alpha is not None else 0.0
    kind = Arith.MAX if alpha <= 1 else Arith.MIN
    out, x = context.value(op.output), context.value(op.input)

    def compute(emitter: Emitter, work: Work) -> None:
        x, scaled = work.operands[0], work.scratch[0]
        emitter.arith(Arith.MUL, scaled, x, alpha)
        emitter.arith(kind, work.out, x, scaled)

    element_wise(context, out, [x], ElementWise(compute, (Scratch(out.dtype),)))


def binary_kernel(kind: Arith, context: KernelContext, op: Operation) -> None:
    """tpu.Add, Sub, Mul, Max, Min of any number of broadcasting operands."""
    tail = _fused_relu(op)
    coefficients = _coefficients(op)

    def compute(emitter: Emitter, work: Work) -> None:
        combine = _combine_reversed if _is_reverse(op) else _combine
        steps = [combine(kind, operand) for operand in work.operands[1:]]
        run_chain(emitter, [*steps, *tail], work, work.operands[0])

    if any(c != 1 for c in coefficients):
        raise TpuError(f"{where(op)}: coefficients other than 1 have no kernel; multiply before it")
    several = len(op.operands) > 2 or bool(tail)
    out = context.value(op.results[0])
    scratch = (Scratch(out.dtype),) if several else ()
    operands = _widest_first(context, op.operands, kind)
    element_wise(context, out, operands, ElementWise(compute, scratch))


def _widest_first(
    context: KernelContext, operands: Sequence[SSAValue], kind: Arith
) -> list[DdrValue]:
    values = [context.value(operand) for operand in operands]
    if kind is Arith.SUB:
        return values
    return sorted(values, key=lambda v: -v.elements)


def _combine(kind: Arith, operand: Operand) -> Step:
    def step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
        emitter.arith(kind, out, x, operand)

    return step


def _combine_reversed(kind: Arith, operand: Operand) -> Step:
    def step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
        emitter.arith(kind, out, operand, x)

    return step


def _coefficients(op: Operation) -> tuple[float, ...]:
    coeff = getattr(op, "coeff", None)
    return floats(coeff) if coeff is not None else ()


add = partial(binary_kernel, Arith.ADD)
sub = partial(binary_kernel, Arith.SUB)
mul = partial(binary_kernel, Arith.MUL)
maximum = partial(binary_kernel, Arith.MAX)
minimum = partial(binary_kernel, Arith.MIN)


def div(context: KernelContext, op: Operation) -> None:
    """tpu.Div in f32: Newton's reciprocal square root, 3 steps."""
    assert isinstance(op, tpu.DivOp)
    tail = _fused_relu(op)

    def compute(emitter: Emitter, work: Work) -> None:
        a, b = reversed(work.operands) if _is_reverse(op) else work.operands
        run_chain(emitter, [_divide(b), *tail], work, a)

    out = context.value(op.output)
    operands = [context.value(v) for v in op.inputs]
    scratch = (Scratch(out.dtype),) if tail else ()
    element_wise(context, out, operands, ElementWise(compute, scratch))


def _divide(divisor: Operand) -> Step:
    def step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
        emitter.div(out, x, divisor)

    return step


def reciprocal(context: KernelContext, op: Operation) -> None:
    """tpu.Reciprocal: const_val / x in f32."""
    assert isinstance(op, tpu.ReciprocalOp)
    constant = op.const_val.value.data

    def step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
        emitter.div(out, constant, x)

    _unary(context, op, [step, *_fused_relu(op)])


def _cast_step(emitter: Emitter, out: LocalTensor, x: LocalTensor) -> None:
    emitter.cast(out, x)


def cast(context: KernelContext, op: Operation) -> None:
    """tpu.Cast between float types, to nearest even."""
    assert isinstance(op, tpu.CastOp)
    out, x = context.value(op.output), context.value(op.input)
    if not (out.dtype.is_float and x.dtype.is_float):
        raise TpuError(f"{where(op)}: a cast {x.dtype.label} to {out.dtype.label} has no kernel")
    _unary(context, op, [_cast_step])
