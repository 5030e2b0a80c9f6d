"""Ops that work element by element, with broadcasting."""

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import Order
from xdsl_tpu.dialects.interfaces.layout_rules import (
    BroadcastRule,
    UnaryRule,
    aligned,
    operand_is_constant,
    shape_of,
)
from xdsl_tpu.dialects.names import name_loc, name_of
from xdsl_tpu.dialects.top.layout.base import TopLayout, insert_reshape
from xdsl_tpu.dialects.top.layout.constant import permuted_weight


class ElementwiseUnary(UnaryRule, TopLayout):
    """One tensor in, all results of its shape."""


class Elementwise(BroadcastRule, TopLayout):
    """Several tensors that broadcast to the result, aligned at their last dimensions."""

    def lifted(
        self, op: Operation, value: SSAValue, index: int, order: Order, builder: Builder
    ) -> SSAValue:
        full = aligned(shape_of(value), len(order))
        name = f"{name_of(value) or name_of(op) or 'operand'}_for_{name_of(op) or op.name}_{index}"
        if isinstance(value.owner, Operation) and operand_is_constant(value):
            return permuted_weight(value.owner, full, order, name, builder)
        return insert_reshape(value, [full[axis] for axis in order], name_loc(name), builder)
