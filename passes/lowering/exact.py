"""Which floats are computed in F32 whatever the mode: those that positions are made of.

The sine of an angle of thousands of turns, or the row that a table is read at, is lost long before
a 16-bit float overflows. F16 is exact to 2048, BF16 to 256.
"""

from collections.abc import Container, Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import is_integer_tensor

ANGLES = (top.CosOp, top.SinOp, top.TanOp)
"""Functions whose result is bounded, or periodic: what counts is the fraction of a turn."""

STEPS = (top.CeilOp, top.FloorOp, top.ModOp, top.RemainderOp, top.RoundOp)
COMPARISONS = (top.CompareOp, top.CompareConstOp)

MOVES = (top.PermuteOp, top.ReshapeOp, top.SliceOp, top.SqueezeOp, top.UnsqueezeOp)
"""Ops that only move elements of their first operand."""

INDICES: dict[type[Operation], int] = {
    top.GatherOp: 1,
    top.GatherElementsOp: 1,
    top.GatherNDOp: 1,
    top.ScatterElementsOp: 1,
    top.ScatterNDOp: 1,
}
"""Which operand is an index; modules from elsewhere may have it in f32."""

CARRIERS = (
    *(top.AbsOp, top.AddOp, top.AddConstOp, top.CastOp, top.ClipOp, top.ConcatOp, top.DivOp),
    *(top.ExpOp, top.FlattenOp, top.GatherOp, top.LogOp, top.MatMulOp, top.MaxOp, top.MaxConstOp),
    *(top.MinOp, top.MinConstOp, top.MulOp, top.MulConstOp, top.PermuteOp, top.PowOp, top.Pow2Op),
    *(top.ReciprocalOp, top.ReduceOp, top.ReluOp, top.ReshapeOp, top.ScaleOp, top.SignOp),
    *(top.SliceOp, top.SplitOp, top.SqrtOp, top.SqueezeOp, top.SubOp, top.SubConstOp, top.TileOp),
    *(top.UnsqueezeOp, top.WhereOp, *STEPS),
)
"""Ops through which a position remains one: arithmetic, and what moves elements."""


def exact_ops(func: FuncOp) -> set[Operation]:
    """The ops between integers, constants and inputs of the network on one side and, on the other,
    angles, comparisons, integers and indices that are made of nothing else.

        position_ids -> Cast -> Mul(frequencies) -> Sin

    A network's own activations are no positions: behind a Conv nothing is asked for. Rounding and
    comparing inputs of the network is left to the mode unless integers are involved.
    """
    positions = _positions(func)
    wanted: set[Operation] = set()
    for op in reversed(list(func.body.block.ops)):
        if op in positions and (_ends(op, positions[op]) or _is_read_exactly(op, wanted)):
            wanted.add(op)
    return wanted


def differences_of_sums(func: FuncOp) -> set[Operation]:
    """Differences of running sums, and the changes of form between: in 16 bits what is left of two
    large numbers is their rounding.

        CumSum -> Unsqueeze -> Sub(.., Reshape of the same)
    """
    found: set[Operation] = set()
    for op in func.body.block.ops:
        if isinstance(op, top.SubOp):
            ways = [_from_running_sum(value) for value in op.inputs]
            if all(ways):
                found.update((op, *(one for way in ways for one in way)))
    return found


def _from_running_sum(value: SSAValue) -> list[Operation]:
    """The CumSum that a value is of, and what only moves it since then; nothing of others."""
    way = list[Operation]()
    while isinstance(value.owner, (top.CumSumOp, *MOVES)):
        way.append(value.owner)
        if isinstance(value.owner, top.CumSumOp):
            return way
        value = value.owner.operands[0]
    return []


def _positions(func: FuncOp) -> dict[Operation, bool]:
    """The ops on positions alone, and whether integers are among these."""
    found: dict[Operation, bool] = {}
    for op in func.body.block.ops:
        if not isinstance(op, (*CARRIERS, *ANGLES, *COMPARISONS)):
            continue
        known = [_position(value, found) for value in op.operands if not is_none(value)]
        if None not in known:
            found[op] = any(known)
    return found


def _position(value: SSAValue, found: Mapping[Operation, bool]) -> bool | None:
    """Whether a position is made of integers; None of what is no position."""
    owner = value.owner
    if is_integer_tensor(value):
        return True
    if isinstance(owner, top.InputOp | top.WeightOp):
        return False
    if isinstance(owner, (Block, *ANGLES)):
        return None
    return found.get(owner)


def _ends(op: Operation, of_integers: bool) -> bool:
    """Whether an op on positions is where exactness ends."""
    if isinstance(op, top.CastOp):
        return "INT" in op.to.data
    if isinstance(op, COMPARISONS) and any(map(is_integer_tensor, op.operands)):
        return False  # these are compared as they are
    return isinstance(op, ANGLES) or (of_integers and isinstance(op, (*COMPARISONS, *STEPS)))


def _is_read_exactly(op: Operation, wanted: Container[Operation]) -> bool:
    return any(
        use.operation in wanted or INDICES.get(type(use.operation)) == use.index
        for result in op.results
        for use in result.uses
    )
