"""Comparisons and choices: 1 where something holds, or one of two tensors.

The select instruction takes tensors of one shape (docs/hardware/instructions.md#scmp), so
operands that repeat are written out first. Of its conditions only "greater" is used: equal bits
are not equal numbers, -0 differs from 0.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Compare, Emitter, Operand
from xdsl_tpu.backend.kernels.mapping import Describe, ElementWise, Scratch, Types, Work
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.tensor import DType, LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
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
    """out = yes where a > b, else no."""
    e.select(Compare.GREATER, out, _tensor(e, a, spare), b, yes, no)


def _tensor(e: Emitter, x: Operand, room: LocalTensor) -> LocalTensor:
    """A constant written out."""
    if not isinstance(x, LocalTensor):
        e.copy(room, x)
        x = room
    return x


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
    _true(e, room[1], b, room[0])
    e.absolute(room[0], _tensor(e, a, room[0]))
    e.select(Compare.GREATER, out, room[0], 0.0, room[1], 0.0)


def _either_alone(e: Emitter, out: LocalTensor, a: Operand, b: Operand, room: Room) -> None:
    """1 where exactly one is 0: where the sum of two truths is 1."""
    _true(e, room[1], a, room[0])
    _true(e, out, b, room[0])
    e.arith(Arith.SUB, room[0], out, room[1])
    e.absolute(out, room[0])


def _true(e: Emitter, out: LocalTensor, x: Operand, spare: LocalTensor) -> None:
    """1 where x is not 0."""
    e.absolute(spare, _tensor(e, x, spare))
    e.select(Compare.GREATER, out, spare, 0.0, 1.0, 0.0)


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


def compare(op: Operation, types: Types) -> ElementWise:
    """tpu.Compare: 1 where a comparison of two tensors holds, else 0."""
    assert isinstance(op, tpu.CompareOp)
    step = _comparison(op, op.mode.data)

    def compute(e: Emitter, out: LocalTensor, given: Sequence[LocalTensor], room: Room) -> None:
        step(e, out, given[0], given[1], room)

    return _described(op, types, compute)


def compare_const(op: Operation, types: Types) -> ElementWise:
    """tpu.CompareConst: the same with a number; Not is whether a tensor is 0."""
    assert isinstance(op, tpu.CompareConstOp)
    constant, swapped, mode = op.const_val.value.data, bool(op.inversed.value.data), op.mode.data
    if mode == "Not":
        mode, constant = "Equal", 0.0
    step = _comparison(op, mode)

    def compute(e: Emitter, out: LocalTensor, given: Sequence[LocalTensor], room: Room) -> None:
        a, b = (constant, given[0]) if swapped else (given[0], constant)
        step(e, out, a, b, room)

    return _described(op, types, compute)


def _comparison(op: Operation, mode: str) -> Step:
    if mode not in COMPARISONS:
        raise NoKernel(f"{where(op)}: mode {mode} has no kernel; known: {', '.join(COMPARISONS)}")
    return COMPARISONS[mode]


def logical_and(op: Operation, types: Types) -> ElementWise:
    """tpu.LogicalAnd: 1 where no operand is 0."""
    assert isinstance(op, tpu.LogicalAndOp)

    def compute(e: Emitter, out: LocalTensor, given: Sequence[LocalTensor], room: Room) -> None:
        first, *others = given
        for other in others or [first]:
            _both(e, out, first, other, room)
            first = room[2]
            e.copy(first, out)

    return _described(op, types, compute)


def select(op: Operation, types: Types) -> ElementWise:
    """tpu.Where: one of two tensors or numbers, by whether a third tensor is not 0."""
    assert isinstance(op, tpu.WhereOp)
    places, sides = iter(range(1, len(types.operands))), list[_Side]()
    for branch, is_constant, constant in (
        (op.tbrn, op.x_is_const, op.x_const_val),
        (op.fbrn, op.y_is_const, op.y_const_val),
    ):
        place = None if is_none(branch) else next(places)
        sides.append(constant.value.data if place is None or is_constant else place)
    return _choice(op, types, sides[0], sides[1])


def masked_fill(op: Operation, types: Types) -> ElementWise:
    """tpu.MaskedFill: a number where a tensor is not 0 (or is 0), another tensor elsewhere."""
    assert isinstance(op, tpu.MaskedFillOp)
    number: float = op.const_val.value.data
    return _choice(op, types, 1, number) if op.inversed else _choice(op, types, number, 1)


_Side = int | float
"""The number of an operand, or (a float) a constant."""


def _choice(op: Operation, types: Types, yes: _Side, no: _Side) -> ElementWise:
    """`yes` where operand 0 is not 0, `no` elsewhere."""

    def compute(e: Emitter, out: LocalTensor, given: Sequence[LocalTensor], room: Room) -> None:
        chosen, other = (given[one] if isinstance(one, int) else one for one in (yes, no))
        if not given[0].dtype.is_float:
            e.select(Compare.EQUAL, out, given[0], 0.0, other, chosen)
            return
        e.absolute(room[0], given[0])
        e.select(Compare.GREATER, out, room[0], 0.0, chosen, other)

    return _described(op, types, compute)


Compute = Callable[[Emitter, LocalTensor, Sequence[LocalTensor], Room], None]
"""(emitter, out, operands, room): all of one shape."""


def _described(op: Operation, types: Types, compute: Compute) -> ElementWise:
    """An op whose operands are written out to the shape of the result where they repeat.

    The truth of integers may be wanted as a float: it is cast. Raises NoKernel when other types
    differ: they are compared and chosen as they are.
    """
    kinds, count = set(types.operands), len(types.operands)
    truth = kinds == {DType.I32} and types.out.is_float
    if kinds != {types.out} and not truth:
        shown = ", ".join(kind.label for kind in types.operands)
        raise NoKernel(f"{where(op)}: operands of {shown} for a result of {types.out.label}")

    def run(e: Emitter, work: Work) -> None:
        room, written = work.scratch[:ROOM], work.scratch[ROOM : ROOM + count]
        given = [_whole(e, x, r) for x, r in zip(work.operands, written, strict=True)]
        if not truth:
            compute(e, work.out, given, room)
            return
        whole, *floats = work.scratch[ROOM + count :]
        compute(e, whole, given, room)
        for source, target in pairwise((whole, *floats, work.out)):
            e.cast(target, source)

    scratch = [Scratch(kind) for kind in [*kinds] * (ROOM + count)]
    if truth:  # integers become 16-bit floats by way of f32
        scratch.append(Scratch(DType.I32))
        scratch += [Scratch(DType.F32)] if types.out is not DType.F32 else []
    return ElementWise(run, tuple(scratch))


ROOM = 3
"""Tensors that a comparison may use beside its operands and its result."""


def _whole(e: Emitter, x: LocalTensor, room: LocalTensor) -> LocalTensor:
    if x.shape == room.shape:
        return x
    e.copy(room, x)
    return room


DESCRIPTIONS: dict[type[Operation], Describe] = {
    tpu.CompareOp: compare,
    tpu.CompareConstOp: compare_const,
    tpu.LogicalAndOp: logical_and,
    tpu.MaskedFillOp: masked_fill,
    tpu.WhereOp: select,
}
"""Comparisons and choices, on floats and integers alike."""
