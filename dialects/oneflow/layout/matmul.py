"""Matrix products."""

from xdsl.ir import Operation

from xdsl_tpu.dialects.interfaces.layout import Slot
from xdsl_tpu.dialects.interfaces.layout_products import ProductRule
from xdsl_tpu.dialects.oneflow.layout.base import OneFlowLayout


class ProductLayout(OneFlowLayout, ProductRule):
    """matmul, batch_matmul and broadcast_matmul: either factor may be transposed."""

    def __init__(self) -> None:
        super().__init__("transpose_a", "transpose_b")

    def can_turn(self, op: Operation, operand: Slot) -> bool:
        return True
