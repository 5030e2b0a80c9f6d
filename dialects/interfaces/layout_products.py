"""Layout behaviour of matrix products that can read their factors transposed."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    LayoutInterface,
    Order,
    Orders,
    Slot,
    operand_slots,
    rebuilt,
    result_slots,
    tensor_shape,
)
from xdsl_tpu.dialects.interfaces.layout_rules import attribute_of

LEFT, RIGHT = operand_slots(0, 1)
MATRIX = (0, 2, 1)
"""The order that transposes the matrices of a batch."""


@dataclass(frozen=True)
class ProductRule(LayoutInterface, ABC):
    """A product keeps its form, but can read the matrices of a batch transposed for nothing.

    Two attributes, true or false, say which of the factors it transposes.
    """

    left: str
    right: str

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (LEFT, RIGHT, *result_slots(0))

    def tied(self, op: Operation) -> Sequence[Sequence[Slot]]:
        return ()

    def absorb(self, op: Operation, operand: Slot, order: Order) -> int | None:
        return 0 if order == MATRIX and self.can_turn(op, operand) else None

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        changed = {
            name: BoolAttr.from_bool(not flag(op, name))
            for slot, name in ((LEFT, self.left), (RIGHT, self.right))
            if slot in orders
        }
        return rebuilt(op, orders, operands, builder, **changed)

    @abstractmethod
    def can_turn(self, op: Operation, operand: Slot) -> bool:
        """Whether the product can read this factor with its last two dimensions exchanged.

        The answers for both must hold together.
        """


def flag(op: Operation, name: str) -> bool:
    """An attribute that is true or false."""
    return attribute_of(op, name) == BoolAttr.from_bool(True)


def multiplies_last(op: Operation, left: bool, right: bool) -> bool:
    """Whether K is one dimension of the left side rather than the product of several.

    `left` and `right` say which factors are transposed.
    """
    sides = [tensor_shape(operand.type) for operand in op.operands[:2]]
    one, other = sides
    if one is None or other is None or min(len(one), len(other)) < 2:
        return False
    return (one[-2] if left else one[-1]) == (other[-1] if right else other[-2])
