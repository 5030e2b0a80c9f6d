"""Matrix products."""

from xdsl.ir import Operation

from xdsl_tpu.dialects.interfaces.layout import Slot, tensor_shape
from xdsl_tpu.dialects.interfaces.layout_products import (
    LEFT,
    ProductRule,
    flag,
    multiplies_last,
)
from xdsl_tpu.dialects.top.layout.base import TopLayout


class MatMulLayout(ProductRule, TopLayout):
    """The right factor can always be transposed, the left one only when the right one is, too.

    The matrix unit has no other way (docs/hardware/instructions.md#sconv).
    """

    def __init__(self) -> None:
        super().__init__("left_transpose", "right_transpose")

    def can_turn(self, op: Operation, operand: Slot) -> bool:
        left, right = flag(op, self.left), flag(op, self.right)
        if flag(op, "hdim_is_batch") or not multiplies_last(op, left, right):
            return False
        # One of both, so that together they never ask for the left one alone.
        right_moves = len(tensor_shape(op.operands[1].type) or ()) > 2
        return left or (right and not right_moves) if operand == LEFT else not left
