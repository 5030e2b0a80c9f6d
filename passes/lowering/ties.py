"""Largest elements that are compared with what they are the largest of, as peaks of heat maps."""

from collections.abc import Iterator, Set

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top

SELECTIONS = (top.MaxPoolOp, top.ReduceOp)
"""Ops whose result has elements of the operand as they are (a Reduce by its mode)."""

_VIEWS = (top.ReshapeOp, top.SqueezeOp, top.TileOp, top.UnsqueezeOp)


def compared_selections(func: FuncOp) -> Set[Operation]:
    """Selections from a value that a comparison has beside that value itself.

        MaxPool(x), Compare(MaxPool(x), x) {mode = "Equal"}

    Rounded to 8 bits on one side only, none is equal to what it was chosen from.
    """
    found = set[Operation]()
    for op in func.body.block.ops:
        if isinstance(op, top.CompareOp):
            for mine, other in ((op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])):
                way = list(_selections(mine))
                if any(other in made.operands for made in way):
                    found.update(way)
    return found


def _selections(value: SSAValue) -> Iterator[Operation]:
    """The selections, and changes of shape, that a value went through last."""
    while isinstance(value.owner, (*SELECTIONS, *_VIEWS)):
        op = value.owner
        if isinstance(op, top.ReduceOp) and op.mode.data not in ("ReduceMax", "ReduceMin"):
            return
        yield op
        value = op.operands[0]
