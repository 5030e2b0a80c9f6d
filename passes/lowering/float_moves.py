"""Ops that only move numbers, between ops that compute on floats."""

from collections.abc import Callable, Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering.int8.table import FOLLOWING, SELECTING

MOVES = (*SELECTING, *FOLLOWING, top.ConcatOp)

IsFloat = Callable[[Operation], bool]


def float_moves(
    func: FuncOp, modes: Mapping[Operation, str], in_float: IsFloat, mode: str = "INT8"
) -> set[Operation]:
    """The moves in `mode` whose operands all come out of float ops and that a float op reads.

    In 8 bits they would round floats for readers that want none of it. Readers in 8 bits get
    theirs from a cast behind the move. `in_float` says what an op that is no move computes on;
    chains of moves are looked through. Likewise for 16 bits, with F32 in place of floats.
    """
    sources: dict[Operation, bool] = {}
    readers: dict[Operation, bool] = {}
    moves = [op for op in func.body.block.ops if isinstance(op, MOVES)]

    def comes_from_float(value: SSAValue) -> bool:
        owner = value.owner
        if not isinstance(owner, Operation) or isinstance(owner, top.InputOp):
            return False
        return sources[owner] if owner in sources else in_float(owner)

    for op in moves:
        tensors = op.inputs if isinstance(op, top.ConcatOp) else op.operands[:1]
        sources[op] = in_float(op) or all(map(comes_from_float, tensors))
    for op in reversed(moves):
        users = [use.operation for result in op.results for use in result.uses]
        readers[op] = any(readers[one] if one in readers else in_float(one) for one in users)
    return {
        op
        for op in moves
        if modes.get(op) == mode and sources[op] and readers[op]
        if not isinstance(op, FOLLOWING)
    }
