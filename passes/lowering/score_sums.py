"""Sums that only a Softmax reads: scores of attention with a bias or a mask.

    MatMul -> Add(mask of 0 and -100) -> Softmax    the sum in F16, as the Softmax

Steps of what is read become shares that are wrong by as much: a step of 100 / 127 makes them up to
one and a half times too large. A Softmax takes floats in any case, so that the cast in front of it
only moves to the other side of the sum, which is one instruction in floats and three in 8 bits.

Scores that are so large that their own steps do the same are not brought to 8 bits either: those of
channels with each other are sums over a whole image.

    MatMul of up to 1200 -> Sub(maximum of a row, scores) -> Softmax    all in F16
"""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.calibration.steps import SIGNED_MAX
from xdsl_tpu.passes.lowering.fine_parts import MOVES

SUMS = (top.AddOp, top.AddConstOp, top.SubOp, top.SubConstOp)

GIVE_SCORES = (top.ConvOp, top.MatMulOp)

COARSE = 0.5
"""Steps of what a Softmax reads above which 8 bits do not hold it: shares are off by a quarter."""


def coarse_scores(func: FuncOp) -> set[Operation]:
    """The ops between products and a Softmax whose results have too coarse steps in 8 bits."""
    found, seen = set[Operation](), set[Operation]()
    for op in func.body.block.ops:
        if isinstance(op, top.SoftmaxOp):
            _mark_coarse(op.input, 1.0, found, seen)
    return found


def _mark_coarse(
    value: SSAValue, factor: float, found: set[Operation], seen: set[Operation]
) -> None:
    """Mark what gives a value, so much of which a Softmax reads, where its steps are coarse."""
    op, known = value.owner, range_of(value)
    if not isinstance(op, (*SUMS, *MOVES, *GIVE_SCORES, top.MulConstOp)) or op in seen:
        return
    seen.add(op)
    if known is not None and known.threshold / SIGNED_MAX * factor > COARSE:
        found.add(op)
    if isinstance(op, GIVE_SCORES):
        return
    if isinstance(op, top.MulConstOp):
        factor *= abs(op.const_val.value.data)
    for operand in op.operands:
        _mark_coarse(operand, factor, found, seen)


def score_sums(func: FuncOp) -> set[Operation]:
    """The sums that are read by a Softmax and nothing else, and what moves them on the way."""
    found: set[Operation] = set()
    for op in func.body.block.ops:
        if isinstance(op, top.SoftmaxOp):
            _mark(op.input, [], found)
    return found


def _mark(value: SSAValue, passed: list[Operation], found: set[Operation]) -> None:
    """Mark the sums behind a value; `passed` are the ops that move it towards a Softmax."""
    op = value.owner
    if not isinstance(op, Operation) or not value.has_one_use():
        return
    if isinstance(op, SUMS):
        found.update([*passed, op])
        for operand in op.operands:
            _mark(operand, [], found)
    elif isinstance(op, MOVES):
        _mark(op.operands[0], [*passed, op], found)
