"""Matrix products."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    Order,
    Orders,
    Slot,
    operand_slots,
    rebuilt,
    result_slots,
    tensor_shape,
)
from xdsl_tpu.dialects.top.layout.base import TopLayout

LEFT, RIGHT = operand_slots(0, 1)
_FLAGS = {LEFT: "left_transpose", RIGHT: "right_transpose"}
_TRUE = BoolAttr.from_bool(True)


class MatMulLayout(TopLayout):
    """A product keeps its form, but can read the matrices of a batch transposed for nothing.

    The right one always, the left one only when the right one is transposed, too: the matrix
    unit has no other way (BM1684X instruction reference, section 5.4).
    """

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (LEFT, RIGHT, *result_slots(0))

    def tied(self, op: Operation) -> Sequence[Sequence[Slot]]:
        return ()

    def absorb(self, op: Operation, operand: Slot, order: Order) -> int | None:
        if order != (0, 2, 1) or _flag(op, "hdim_is_batch") or not _multiplies_last(op):
            return None
        left, right = (_flag(op, name) for name in _FLAGS.values())
        # One of both, so that together they never ask for the left one alone.
        right_moves = len(tensor_shape(op.operands[1].type) or ()) > 2
        if operand == LEFT:
            return 0 if left or (right and not right_moves) else None
        return None if left else 0

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        changed = {
            name: BoolAttr.from_bool(not _flag(op, name))
            for slot, name in _FLAGS.items()
            if slot in orders
        }
        return rebuilt(op, orders, operands, builder, **changed)


def _flag(op: Operation, name: str) -> bool:
    return op.attributes.get(name) == _TRUE


def _multiplies_last(op: Operation) -> bool:
    """Whether K is one dimension of the left side rather than the product of several."""
    left, right = (tensor_shape(operand.type) for operand in op.operands[:2])
    if left is None or right is None or min(len(left), len(right)) < 2:
        return False
    depth = left[-2] if _flag(op, "left_transpose") else left[-1]
    return depth == (right[-1] if _flag(op, "right_transpose") else right[-2])
