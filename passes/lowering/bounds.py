"""Between which numbers integers lie, as far as the graph says."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.integers import HIGHEST, LOWEST, is_integer_tensor
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.tensors import required_name, shape_of


class Bounds(NamedTuple):
    """The least and the greatest number."""

    low: float
    high: float

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return max(abs(self.low), abs(self.high))


ANY = Bounds(LOWEST, HIGHEST)
TRUTH = Bounds(0, 1)
SIGN = Bounds(-1, 1)

Known = Mapping[SSAValue, Bounds]
Rule = Callable[[Operation, Sequence[Bounds]], Bounds]
"""The bounds of a result from those of the operands, absent ones left out."""

MOVES = (
    *(top.FlattenOp, top.PermuteOp, top.ReshapeOp, top.ReverseOp, top.SliceOp, top.SplitOp),
    *(top.SqueezeOp, top.TileOp, top.UnsqueezeOp),
)
"""Ops whose result has elements of the first operand only."""

WHOLE_MOVES = (top.FlattenOp, top.PermuteOp, top.ReshapeOp, top.SqueezeOp, top.UnsqueezeOp)
"""Those that keep every element: what holds for the result holds for the operand."""


def integer_bounds(func: FuncOp, weights: Weights | None) -> dict[SSAValue, Bounds]:
    """Bounds of every integer tensor of top IR, and of floats that are cast integers, moved.

    An input that rows of a table are read by has the table's; the run refuses others.
    """
    known: dict[SSAValue, Bounds] = {}
    for op in func.body.block.ops:
        for value in op.results:
            found = _bounds(op, value, known, weights)
            if found is not None:
                known[value] = found
    return known


def wrapping(func: FuncOp, weights: Weights | None) -> list[str]:
    """The names of integers that may need more than 32 bits, although their operands do not.

    Of integers that may be anything nothing is said: any sum with them might.
    """
    known = integer_bounds(func, weights)
    names: list[str] = []
    for op in func.body.block.ops:
        rule = RULES.get(type(op))
        if rule is None or not op.results or not is_integer_tensor(op.results[0]):
            continue
        given = [known.get(operand, ANY) for operand in op.operands if not is_none(operand)]
        if ANY not in given and not _fits(rule(op, given)):
            names.append(required_name(op))
    return names


def _bounds(op: Operation, value: SSAValue, known: Known, weights: Weights | None) -> Bounds | None:
    integers = is_integer_tensor(value)
    if isinstance(op, top.CompareOp | top.CompareConstOp | top.LogicalAndOp):
        return TRUTH
    if isinstance(op, top.CastOp) or (not integers and isinstance(op, MOVES)):
        return known.get(op.operands[0], ANY if integers else None)
    if not integers:
        return None
    if isinstance(op, top.WeightOp):
        return _of_weight(op, weights)
    if isinstance(op, top.InputOp):
        return _of_index(value)
    rule = RULES.get(type(op))
    given = [known.get(operand, ANY) for operand in op.operands if not is_none(operand)]
    return ANY if rule is None else _within(rule(op, given))


def _within(found: Bounds) -> Bounds:
    """Bounds that 32 bits hold; what goes beyond wraps to anywhere."""
    return found if _fits(found) else ANY


def _fits(found: Bounds) -> bool:
    return found.low >= LOWEST and found.high <= HIGHEST


def _of_weight(op: top.WeightOp, weights: Weights | None) -> Bounds:
    if weights is None:
        return ANY
    values = weights[required_name(op)]
    return Bounds(int(values.min()), int(values.max())) if values.size else TRUTH


def _of_index(value: SSAValue) -> Bounds:
    """The bounds of an input that is an index as it is."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, top.GatherOp) and use.index == 1:
            shape = shape_of(user.input)
            size = shape[user.axis.value.data % len(shape)]
            return Bounds(-size, size - 1)
        if isinstance(user, WHOLE_MOVES) and (found := _of_index(user.results[0])) != ANY:
            return found
    return ANY


def _union(op: Operation, given: Sequence[Bounds]) -> Bounds:
    return Bounds(min(one.low for one in given), max(one.high for one in given))


def _first(op: Operation, given: Sequence[Bounds]) -> Bounds:
    return given[0]


def _sum(op: Operation, given: Sequence[Bounds]) -> Bounds:
    return Bounds(sum(one.low for one in given), sum(one.high for one in given))


def _product(op: Operation, given: Sequence[Bounds]) -> Bounds:
    result = given[0]
    for one in given[1:]:
        ends = [a * b for a in result for b in one]
        result = Bounds(min(ends), max(ends))
    return result


def _difference(op: Operation, given: Sequence[Bounds]) -> Bounds:
    assert isinstance(op, top.SubOp)
    a, b = reversed(given) if op.is_reverse.value.data else given
    return Bounds(a.low - b.high, a.high - b.low)


def _add_const(op: Operation, given: Sequence[Bounds]) -> Bounds:
    assert isinstance(op, top.AddConstOp)
    return _sum(op, [*given, Bounds(*[op.const_val.value.data] * 2)])


def _mul_const(op: Operation, given: Sequence[Bounds]) -> Bounds:
    assert isinstance(op, top.MulConstOp)
    return _product(op, [*given, Bounds(*[op.const_val.value.data] * 2)])


def _sub_const(op: Operation, given: Sequence[Bounds]) -> Bounds:
    assert isinstance(op, top.SubConstOp)
    x, c = given[0], op.const_val.value.data
    if op.is_reverse.value.data:
        return Bounds(c - x.high, c - x.low)
    return Bounds(x.low - c, x.high - c)


def _least(op: Operation, given: Sequence[Bounds]) -> Bounds:
    return Bounds(min(one.low for one in given), min(one.high for one in given))


def _greatest(op: Operation, given: Sequence[Bounds]) -> Bounds:
    return Bounds(max(one.low for one in given), max(one.high for one in given))


def _limit(op: Operation, given: Sequence[Bounds]) -> Bounds:
    """MaxConst, MinConst, Clip, Relu."""
    (x,) = given
    match op:
        case top.MaxConstOp():
            return _greatest(op, [x, Bounds(*[op.const_val.value.data] * 2)])
        case top.MinConstOp():
            return _least(op, [x, Bounds(*[op.const_val.value.data] * 2)])
        case top.ClipOp():
            low, high = op.min.value.data, op.max.value.data
            return Bounds(min(max(x.low, low), high), max(min(x.high, high), low))
        case _:
            return Bounds(max(x.low, 0), max(x.high, 0))


def _size(op: Operation, given: Sequence[Bounds]) -> Bounds:
    return Bounds(0, given[0].magnitude)


def _quotient(op: Operation, given: Sequence[Bounds]) -> Bounds:
    return Bounds(-given[0].magnitude, given[0].magnitude)


def _rest(op: Operation, given: Sequence[Bounds]) -> Bounds:
    """Smaller than the divisor; not negative when dividend and divisor are not."""
    most = given[1].magnitude
    return Bounds(0 if min(given[0].low, given[1].low) >= 0 else -most, most)


def _chosen(op: Operation, given: Sequence[Bounds]) -> Bounds:
    assert isinstance(op, top.WhereOp)
    parts = [*given[1:]]
    for flag, number in ((op.x_is_const, op.x_const_val), (op.y_is_const, op.y_const_val)):
        if flag.value.data:
            parts.append(Bounds(*[number.value.data] * 2))
    return _union(op, parts)


def _positions(op: Operation, given: Sequence[Bounds]) -> Bounds:
    return Bounds(0, math.prod(shape_of(op.operands[0])) - 1)


def _joined(op: Operation, given: Sequence[Bounds]) -> Bounds:
    """A reduction or running sum: of as many elements as there are."""
    mode = op.mode.data if isinstance(op, top.ReduceOp) else "ReduceSum"
    if mode in ("ReduceMax", "ReduceMin"):
        return given[0]
    if mode not in ("ReduceSum", "ReduceL1"):
        return ANY
    x, count = given[0], math.prod(shape_of(op.operands[0]))
    if mode == "ReduceL1":
        x = _size(op, given)
    return Bounds(min(count * x.low, x.low), max(count * x.high, x.high))


RULES: dict[type[Operation], Rule] = {
    **dict.fromkeys(MOVES, _first),
    top.AbsOp: _size,
    top.AddOp: _sum,
    top.AddConstOp: _add_const,
    top.ArgOp: _positions,
    top.ClipOp: _limit,
    top.ConcatOp: _union,
    top.CumSumOp: _joined,
    top.DivOp: _quotient,
    top.GatherElementsOp: _first,
    top.GatherNDOp: _first,
    top.GatherOp: _first,
    top.MaxConstOp: _limit,
    top.MaxOp: _greatest,
    top.MinConstOp: _limit,
    top.MinOp: _least,
    top.ModOp: _rest,
    top.MulConstOp: _mul_const,
    top.MulOp: _product,
    top.ReduceOp: _joined,
    top.ReluOp: _limit,
    top.RemainderOp: _rest,
    top.SignOp: lambda op, given: SIGN,
    top.SubConstOp: _sub_const,
    top.SubOp: _difference,
    top.TopKOp: _positions,
    top.WhereOp: _chosen,
}
