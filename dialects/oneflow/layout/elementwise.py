"""Ops that work element by element."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    Order,
    Slot,
    moves_data,
    operand_slots,
    result_slots,
)
from xdsl_tpu.dialects.interfaces.layout_rules import (
    BroadcastRule,
    UnaryRule,
    aligned,
    shape_of,
)
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.oneflow.layout.base import (
    OneFlowLayout,
    insert_reshape,
    insert_transpose,
)


class UnaryLayout(OneFlowLayout, UnaryRule):
    """Functions of one element."""


class SameShapeLayout(OneFlowLayout):
    """Sums of tensors of one shape."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (*operand_slots(*range(len(op.operands))), *result_slots(0))


class BroadcastLayout(OneFlowLayout, BroadcastRule):
    """Two tensors that broadcast as numpy's do."""

    def lifted(
        self, op: Operation, value: SSAValue, index: int, order: Order, builder: Builder
    ) -> SSAValue:
        shape, name = shape_of(value), f"{self.name(op) or op.name}_{name_of(value) or index}"
        absent = len(order) - len(shape)
        own = tuple(axis - absent for axis in order if axis >= absent)
        if moves_data(shape, own):
            value = insert_transpose(op, value, own, f"{name}_transpose", builder)
        full = aligned(shape, len(order))
        return insert_reshape(op, value, [full[axis] for axis in order], builder, f"{name}_reshape")
