"""Comparisons and choices: 1 where something holds, or one of two tensors.

The select instruction takes tensors of one shape (docs/hardware/instructions.md#scmp), so
operands that repeat are written out first. Of its conditions only "greater" is used: equal bits
are not equal numbers, -0 differs from 0.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter, Operand
from xdsl_tpu.backend.kernels.mapping import ElementWise, Scratch, Work, element_wise
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel

Room = Sequence[LocalTensor]
Step = Callable[[Emitter, LocalTensor, Operand, Operand, Room], None]
"""(emitter, out, a, b, room): one comparison; `room` are tensors like `out`."""


def _above(
    e: Emitter,
    out: LocalTensor,
    a: Operand,
    b: Operand,
    spare: LocalTensor,
    yes: Operand,
    no: Operand,
) -> None:
    """out = yes where a > b, else no; a constant a is compared as -b > -a."""
    if isinstance(a, LocalTensor):
        e.select(Compare.GREATER, out, a, b, yes, no)
        return
    assert isinstance(b, LocalTensor)
    if not b.dtype.is_float:  # the lowest integer has no negative
        e.copy(spare, a)
        e.select(Compare.GREATER, out, spare, b, yes, no)
        return
    _negate(e, spare, b)
    e.select(Compare.GREATER, out, spare, -a, yes, no)


def _negate(e: Emitter, out: LocalTensor, x: LocalTensor) -> None:
    e.arith(Arith.MUL, out, x, -1.0)


def _ordered(swap: bool, yes: float, no: float) -> Step:
    def step(e: Emitter, out: LocalTensor, a: Operand, b: Operand, room: Room) -> None:
        a, b = (b, a) if swap else (a, b)
        _above(e, out, a, b, room[0], yes, no)

    return step


def _alike(yes: float, no: float) -> Step:
    """`yes` where neither is greater."""

    def step(e: Emitter, out: LocalTensor, a: Operand, b: Operand, room: Room) -> None:
        _above(e, room[1], a, b, room[0], no, yes)
        _above(e, out, b, a, room[0], no, room[1])

    return step


def _both(e: Emitter, out: LocalTensor, a: Operand, b: Operand, room: Room) -> None:
    """1 where neither is 0."""
    if not isinstance(a, LocalTensor):
        a, b = b, a
    assert isinstance(a, LocalTensor)
    if isinstance(b, LocalTensor):
        e.absolute(room[0], b)
        e.select(Compare.GREATER, room[1], room[0], 0.0, 1.0, 0.0)
    e.absolute(room[0], a)
    other: Operand = room[1] if isinstance(b, LocalTensor) else float(b != 0)
    e.select(Compare.GREATER, out, room[0], 0.0, other, 0.0)


def _either_alone(e: Emitter, out: LocalTensor, a: Operand, b: Operand, room: Room) -> None:
    """1 where exactly one is 0: where the sum of two truths is 1."""
    if not isinstance(a, LocalTensor):
        a, b = b, a
    assert isinstance(a, LocalTensor)
    e.absolute(room[0], a)
    if not isinstance(b, LocalTensor):
        e.select(Compare.GREATER, out, room[0], 0.0, float(b == 0), float(b != 0))
        return
    e.select(Compare.GREATER, room[1], room[0], 0.0, 1.0, 0.0)
    e.absolute(room[0], b)
    e.select(Compare.GREATER, out, room[0], 0.0, 1.0, 0.0)
    e.arith(Arith.SUB, room[0], out, room[1])
    e.absolute(out, room[0])


COMPARISONS: dict[str, Step] = {
    "And": _both,
    "Equal": _alike(1.0, 0.0),
    "Greater": _ordered(False, 1.0, 0.0),
    "GreaterOrEqual": _ordered(True, 0.0, 1.0),
    "Less": _ordered(True, 1.0, 0.0),
    "LessOrEqual": _ordered(False, 0.0, 1.0),
    "NotEqual": _alike(0.0, 1.0),
    "Xor": _either_alone,
}
"""Mode of a comparison -> its instructions."""


def compare(context: KernelContext, op: Operation) -> None:
    """tpu.Compare: 1 where a comparison of two tensors holds, else 0."""
    assert isinstance(op, tpu.CompareOp)
    step = _comparison(op, op.mode.data)

    def compute(e: Emitter, out: LocalTensor, given: Sequence[LocalTensor], room: Room) -> None:
        step(e, out, given[0], given[1], room)

    _layer(context, op, (op.lhs, op.rhs), compute)


def compare_const(context: KernelContext, op: Operation) -> None:
    """tpu.CompareConst: the same with a number; Not is whether a tensor is 0."""
    assert isinstance(op, tpu.CompareConstOp)
    constant, swapped, mode = op.const_val.value.data, bool(op.inversed.value.data), op.mode.data
    if mode == "Not":
        mode, constant = "Equal", 0.0
    step = _comparison(op, mode)

    def compute(e: Emitter, out: LocalTensor, given: Sequence[LocalTensor], room: Room) -> None:
        a, b = (constant, given[0]) if swapped else (given[0], constant)
        step(e, out, a, b, room)

    _layer(context, op, (op.input,), compute)


def _comparison(op: Operation, mode: str) -> Step:
    if mode not in COMPARISONS:
        raise NoKernel(f"{where(op)}: mode {mode} has no kernel; known: {', '.join(COMPARISONS)}")
    return COMPARISONS[mode]


def logical_and(context: KernelContext, op: Operation) -> None:
    """tpu.LogicalAnd: 1 where no operand is 0."""
    assert isinstance(op, tpu.LogicalAndOp)

    def compute(e: Emitter, out: LocalTensor, given: Sequence[LocalTensor], room: Room) -> None:
        first, *others = given
        for other in others or [first]:
            _both(e, out, first, other, room)
            first = room[2]
            e.copy(first, out)

    _layer(context, op, op.inputs, compute)


def select(context: KernelContext, op: Operation) -> None:
    """tpu.Where: one of two tensors or numbers, by whether a third tensor is not 0."""
    assert isinstance(op, tpu.WhereOp)
    chosen: list[float | None] = [
        constant.value.data if bool(is_constant.value.data) else None
        for is_constant, constant in (
            (op.x_is_const, op.x_const_val),
            (op.y_is_const, op.y_const_val),
        )
    ]
    _choice(context, op, op.cond, (op.tbrn, op.fbrn), chosen)


def masked_fill(context: KernelContext, op: Operation) -> None:
    """tpu.MaskedFill: a number where a tensor is not 0 (or is 0), another tensor elsewhere."""
    assert isinstance(op, tpu.MaskedFillOp)
    sides: list[float | None] = [op.const_val.value.data, None]
    if op.inversed.value.data:
        sides.reverse()
    _choice(context, op, op.cond, (op.brn, op.brn), sides)


def _choice(
    context: KernelContext,
    op: Operation,
    condition: SSAValue,
    branches: Sequence[SSAValue],
    constants: Sequence[float | None],
) -> None:
    """Branches that have a constant are that constant."""
    tensors = [v for v, c in zip(branches, constants, strict=True) if c is None]

    def compute(e: Emitter, out: LocalTensor, given: Sequence[LocalTensor], room: Room) -> None:
        rest = list(given[1:])
        yes, no = (rest.pop(0) if c is None else c for c in constants)
        if not given[0].dtype.is_float:
            e.select(Compare.EQUAL, out, given[0], 0.0, no, yes)
            return
        e.absolute(room[0], given[0])
        e.select(Compare.GREATER, out, room[0], 0.0, yes, no)

    _layer(context, op, [condition, *tensors], compute)


Compute = Callable[[Emitter, LocalTensor, Sequence[LocalTensor], Room], None]
"""(emitter, out, operands, room): all of one shape."""


def _layer(
    context: KernelContext, op: Operation, values: Sequence[SSAValue], compute: Compute
) -> None:
    """Emit a layer whose operands are written out to the shape of the result where they repeat.

    The truth of integers may be wanted as a float: it is cast. Raises TpuError when other types
    differ: they are compared and chosen as they are.
    """
    out = context.value(op.results[0])
    operands = [context.value(value) for value in values]
    kinds = {operand.dtype for operand in operands}
    truth = kinds == {DType.I32} and out.dtype.is_float
    if kinds != {out.dtype} and not truth:
        shown = ", ".join(operand.dtype.label for operand in operands)
        raise NoKernel(f"{where(op)}: operands of {shown} for a result of {out.dtype.label}")

    def run(e: Emitter, work: Work) -> None:
        room, written = work.scratch[:ROOM], work.scratch[ROOM : ROOM + len(operands)]
        given = [_whole(e, x, r) for x, r in zip(work.operands, written, strict=True)]
        if not truth:
            compute(e, work.out, given, room)
            return
        whole, *floats = work.scratch[ROOM + len(operands) :]
        compute(e, whole, given, room)
        for source, target in pairwise((whole, *floats, work.out)):
            e.cast(target, source)

    scratch = [Scratch(kind) for kind in [*kinds] * (ROOM + len(operands))]
    if truth:  # integers become 16-bit floats by way of f32
        scratch.append(Scratch(DType.I32))
        scratch += [Scratch(DType.F32)] if out.dtype is not DType.F32 else []
    element_wise(context, out, operands, ElementWise(run, tuple(scratch)))


ROOM = 3
"""Tensors that a comparison may use beside its operands and its result."""


def _whole(e: Emitter, x: LocalTensor, room: LocalTensor) -> LocalTensor:
    if x.shape == room.shape:
        return x
    e.copy(room, x)
    return room
