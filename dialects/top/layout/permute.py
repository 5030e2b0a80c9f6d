"""The transpositions of the dialect themselves."""

from collections.abc import Sequence
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.interfaces.layout import (
    LayoutTranspose,
    Order,
    Orders,
    Slot,
    composed,
    inverse,
    operand_slots,
    rebuilt,
    tensor_shape,
)
from xdsl_tpu.dialects.top.layout.base import TopLayout

INPUT = operand_slots(0)[0]


class PermuteOrder(LayoutTranspose):
    """Permute: its attribute `order`."""

    def order(self, op: Operation) -> Order | None:
        return ints(cast(ArrayAttr[IntegerAttr], op.attributes["order"]))


class TransposeOrder(LayoutTranspose):
    """Transpose: two dimensions change places."""

    def order(self, op: Operation) -> Order | None:
        shape = tensor_shape(op.operands[0].type)
        if shape is None:
            return None
        order = list(range(len(shape)))
        one, other = (_dim(op, name) % len(order) for name in ("dim0", "dim1"))
        order[one], order[other] = order[other], order[one]
        return tuple(order)


def _dim(op: Operation, name: str) -> int:
    attribute = op.attributes[name]
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


class PermuteAbsorbs(TopLayout):
    """A Permute that is no change of layout reads its operand in any order for nothing."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT,)

    def tied(self, op: Operation) -> Sequence[Sequence[Slot]]:
        return ()

    def absorb(self, op: Operation, operand: Slot, order: Order) -> int | None:
        return 0

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        trait = LayoutTranspose.of(op)
        own = None if trait is None else trait.order(op)
        assert own is not None
        whole = composed(inverse(orders[INPUT]), own)
        return rebuilt(op, orders, operands, builder, order=I64_ARRAY.encode(whole))
