"""Ops that give integers: computed on 32-bit integers whatever the mode of the network.

What only moves, adds, multiplies, compares or chooses has the lowering it has for floats, in
another element type. Division, sums and the like are composed (`integer_steps`). For the few that
are left the float form is used and its result rounded, which is exact up to 2^24.
"""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.integers import INTEGER, is_integer_tensor
from xdsl_tpu.dialects.names import fused_loc
from xdsl_tpu.passes.lowering import (
    elementwise,
    indexing,
    matrices,
    movement,
    ranking,
    scatter,
    top_k,
)
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import F32, LoweringContext, Lowerings
from xdsl_tpu.passes.lowering.integer_steps import (
    FOLDS,
    divided,
    magnitude,
    reduced_integers,
    running_sum,
    sign,
)
from xdsl_tpu.passes.lowering.steps import Steps
from xdsl_tpu.passes.lowering.table import STAY
from xdsl_tpu.passes.tensors import required_name, shape_of

LARGEST_POWER = 31
"""Exponents up to this are written out; beyond it only -1, 0 and 1 stay within 32 bits."""


def _ready(values: Sequence[SSAValue], ctx: LoweringContext) -> list[SSAValue]:
    return [ctx.as_type(value, INTEGER) for value in values]


def _cast(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """cast(x) -> Cast of f32 by the rounding mode; of truth values, too."""
    assert isinstance(op, top.CastOp)
    mode = op.round_mode.data
    return build(op, ctx, tpu.CastOp, (op.input,), INTEGER, keep=False, round_mode=mode)


def _quotient(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """a / b without the fraction."""
    assert isinstance(op, top.DivOp)
    a, b = _ready(op.inputs, ctx)
    if op.is_reverse.value.data:
        a, b = b, a
    do, shape = Steps(op, ctx), shape_of(op.output)
    return _named(do, divided(do, a, b, shape).quotient, bool(op.do_relu.value.data))


def _rest(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """What is left of a / b, with the sign of a."""
    do = Steps(op, ctx)
    a, b = _ready(op.operands, ctx)
    return _named(do, divided(do, a, b, shape_of(op.results[0])).rest)


def _remainder(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """What is left of a / b with the sign of b: b is added where the signs differ."""
    do, shape = Steps(op, ctx), shape_of(op.results[0])
    a, b = _ready(op.operands, ctx)
    rest = divided(do, a, b, shape).rest
    signs = [sign(do, "sign_of_rest", rest), sign(do, "wanted", b)]
    agree = do.step("agreement", tpu.MulOp, signs, shape, INTEGER)
    differs = do.compared_with("differs", agree, 0, "Less")
    turn = do.step("turn", tpu.MulOp, [differs, b], shape, INTEGER)
    return [do.last(tpu.AddOp, [rest, turn], INTEGER)]


def _absolute(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    do = Steps(op, ctx)
    return _named(do, magnitude(do, "size", *_ready(op.operands, ctx)))


def _sign(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    operands = _ready(op.operands, ctx)
    return [Steps(op, ctx).last(tpu.ClipOp, operands, INTEGER, min=-1.0, max=1.0)]


def _power(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """x to a small whole power: squares multiplied."""
    assert isinstance(op, top.PowOp)
    do, shape = Steps(op, ctx), shape_of(op.output)
    left, factors = int(op.exponent.value.data), list[SSAValue]()
    (square,) = _ready([op.input], ctx)
    while left:
        if left % 2:
            factors.append(square)
        left //= 2
        if left:
            square = do.step(f"square{left}", tpu.MulOp, [square, square], shape, INTEGER)
    if len(factors) > 1:
        factors = [do.step("product", tpu.MulOp, factors, shape, INTEGER)]
    return _named(do, factors[0])


def _reduce(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    assert isinstance(op, top.ReduceOp)
    do, rank = Steps(op, ctx), len(shape_of(op.input))
    axes = sorted(axis % rank for axis in ints(op.axes)) or [*range(rank)]
    (value,) = _ready([op.input], ctx)
    return _named(do, reduced_integers(do, "part", value, axes, op.mode.data))


def _running_sum(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    assert isinstance(op, top.CumSumOp)
    do = Steps(op, ctx)
    (value,) = _ready([op.input], ctx)
    axis = op.axis.value.data % len(shape_of(value))
    return _named(do, running_sum(do, value, axis))


def _named(do: Steps, value: SSAValue, relu: bool = False) -> Sequence[SSAValue]:
    """A value as the op's result, in its shape."""
    if relu:
        value = do.step("positive", tpu.ReluOp, [value], shape_of(value), INTEGER)
    shape = list(shape_of(do.op.results[0]))
    return [do.last(tpu.ReshapeOp, [value], INTEGER, shape=shape)]


FORMS: tuple[Lowerings, ...] = (
    elementwise.LOWERINGS,
    indexing.LOWERINGS,
    movement.LOWERINGS,
    ranking.LOWERINGS,
    scatter.LOWERINGS,
    top_k.LOWERINGS,
)
"""Lowerings that serve integers as they serve floats, but for those of `ONLY_FLOATS`."""

ONLY_FLOATS = (top.ReciprocalOp, top.ScaleOp, top.GridSamplerOp, top.SampledSumOp, top.UpsampleOp)

INTEGERS: Lowerings = {
    **{kind: rule for form in FORMS for kind, rule in form.items() if kind not in ONLY_FLOATS},
    top.AbsOp: _absolute,
    top.CastOp: _cast,
    top.CumSumOp: _running_sum,
    top.DivOp: _quotient,
    top.ModOp: _rest,
    top.PowOp: _power,
    top.ReduceOp: _reduce,
    top.ReluOp: same(tpu.ReluOp),
    top.RemainderOp: _remainder,
    top.SignOp: _sign,
    top.TriluOp: matrices.LOWERINGS[top.TriluOp],
}
"""How ops are lowered whose result holds integers."""


def gives_integers(op: Operation) -> bool:
    """Whether a result of an op holds integers."""
    return any(map(is_integer_tensor, op.results))


def _is_exact(op: Operation) -> bool:
    """Whether an op that gives integers can be computed on them."""
    if isinstance(op, top.ReduceOp):
        return op.mode.data in FOLDS
    if isinstance(op, top.PowOp):
        exponent = op.exponent.value.data
        return exponent.is_integer() and 1 <= exponent <= LARGEST_POWER
    return type(op) in INTEGERS


def round_others(func: FuncOp) -> list[str]:
    """Let ops without an integer form give f32, and a Cast behind them integers; their names.

    %1 = Exp(%0) : si32    ->    %1 = Exp(%0) : f32,  %2 = Cast(%1) : si32
    """
    names: list[str] = []
    for op in list(func.body.block.ops):
        if op.dialect_name() != top.Top.name or isinstance(op, STAY) or not gives_integers(op):
            continue
        if _is_exact(op):
            continue
        names.append(required_name(op))
        for result in list(op.results):
            if is_integer_tensor(result):
                _rounded(op, result)
    return names


def _rounded(op: Operation, result: OpResult) -> None:
    kind, name = result.type, required_name(result)
    new_names = [f"{name}_f32" if one is result else required_name(one) for one in op.results]
    new = Rewriter.replace_value_with_new_type(result, TensorType(F32, shape_of(result)))
    cast = top.CastOp.make(name, (new,), result_types=(kind,), to="INT32")
    Builder(InsertPoint.after(op)).insert(cast)
    new.replace_uses_with_if(cast.output, lambda use: use.operation is not cast)
    op.location = fused_loc(new_names)
