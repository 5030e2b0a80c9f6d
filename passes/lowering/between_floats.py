"""Ops of few instructions between ops that compute on floats.

    Sigmoid -> AddConst -> MulConst -> Concat(.., exponentials)    all in F16

In 8 bits each would be less than the casts around it, and would round what nobody wants rounded:
positions of boxes in an image of 640 pixels to steps of five.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering.int8.table import FOLLOWING, SELECTING
from xdsl_tpu.passes.tensors import is_weight

MOVES = (*SELECTING, *FOLLOWING)

LIGHT = (
    *MOVES,
    top.AbsOp,
    top.AddConstOp,
    top.AddOp,
    top.ConcatOp,
    top.LeakyReluOp,
    top.MaxOp,
    top.MinOp,
    top.MulConstOp,
    top.MulOp,
    top.ReluOp,
    top.SubConstOp,
    top.SubOp,
)

Asked = Callable[[Operation], bool]


def between_floats(
    func: FuncOp, modes: Mapping[Operation, str], floating: Asked, stays: Asked
) -> set[Operation]:
    """The light ops in 8 bits whose operands all come, by way of each other, out of float ops, and
    that nothing in 8 bits reads.

    `floating` says of other ops whether they compute on floats, `stays` of light ones whether they
    cannot. What comes from the host or from a table, and what only moves on its way to the host,
    has fewer bytes in 8 bits.
    """
    found = {
        op: None
        for op in func.body.block.ops
        if modes.get(op) == "INT8" and isinstance(op, LIGHT) and not stays(op)
    }

    def is_float(op: object) -> bool:
        if op in found or not isinstance(op, Operation):
            return op in found
        follows = isinstance(op, FOLLOWING) and modes.get(op) == "INT8"
        return not follows and floating(op)

    def is_source(op: object) -> bool:
        return is_float(op) and not isinstance(op, top.InputOp | top.GatherOp)

    def fits(op: Operation) -> bool:
        given = [one for one in op.operands if isinstance(one.type, TensorType)]
        computed = [one for one in given if not is_weight(one)]
        users = {use.operation for result in op.results for use in result.uses}
        readers = [one for one in users if one in modes]
        if not readers and isinstance(op, MOVES):
            return False
        return all(is_source(one.owner) for one in computed) and all(map(is_float, readers))

    while out := [op for op in found if not fits(op)]:
        for op in out:
            del found[op]
    return {op for op in found if not isinstance(op, FOLLOWING)}
