"""Verifying a module after every pass, in the time that the pass's changes take."""

from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

State: TypeAlias = tuple[
    tuple[SSAValue, ...],
    tuple[Attribute, ...],
    tuple[Attribute, ...],
    dict[str, Attribute],
    dict[str, Attribute],
]
"""Operands, their types, the results' types, attributes and properties of an op."""


class Verifier:
    """What `ModuleOp.verify` finds, op by op; one found right is looked at again once it changes.

    An op's verifier sees its operands, types and attributes. Ops with regions, and the last of a
    block, see more and are verified each time. Constants that shape inference reads are known by
    the op that holds them: `ModuleOp.verify` at the end of a stage sees their numbers, too.
    """

    def __init__(self) -> None:
        self._right: dict[Operation, State] = {}

    def verify(self, module: ModuleOp) -> None:
        """Raise xDSL's error for the first op that does not verify."""
        right: dict[Operation, State] = {}
        self._op(module, right)
        self._right = right

    def _op(self, op: Operation, right: dict[Operation, State]) -> None:
        for region in op.regions:
            for block in region.blocks:
                self._block(block, right)
        op.verify(verify_nested_ops=False)

    def _block(self, block: Block, right: dict[Operation, State]) -> None:
        last, ops = block.last_op, list(block.ops)
        if last is None or any([op.parent is not block for op in ops]):
            block.verify()  # says what is wrong with blocks as such
        for op in ops:
            if op is last or op.regions or op.successors:
                self._op(op, right)
                continue
            state = _state(op)
            if self._right.get(op) != state:
                op.verify()
            right[op] = state


def _state(op: Operation) -> State:
    operands = tuple(op.operands)
    return (
        operands,
        tuple([operand.type for operand in operands]),
        tuple([result.type for result in op.results]),
        dict(op.attributes),
        dict(op.properties),
    )
