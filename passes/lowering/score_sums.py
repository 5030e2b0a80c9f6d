"""Sums that only a Softmax reads: scores of attention with a bias or a mask.

    MatMul -> Add(mask of 0 and -100) -> Softmax    the sum in F16, as the Softmax

Steps of what is read become shares that are wrong by as much: a step of 100 / 127 makes them up to
one and a half times too large. A Softmax takes floats in any case, so that the cast in front of it
only moves to the other side of the sum, which is one instruction in floats and three in 8 bits.
"""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering.fine_parts import MOVES

SUMS = (top.AddOp, top.AddConstOp, top.SubOp, top.SubConstOp)


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
