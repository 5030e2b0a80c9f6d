"""Layer normalisation."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.attrs import I64_ARRAY
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.layout import (
    Orders,
    Slot,
    operand_slots,
    rebuilt,
    result_slots,
    tensor_shape,
)
from xdsl_tpu.dialects.interfaces.layout_rules import operand_is_constant, order_from, shape_of
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top.layout.base import TopLayout
from xdsl_tpu.dialects.top.layout.constant import permuted_weight

INPUT = operand_slots(0)[0]


class LayerNormLayout(TopLayout):
    """The dimensions from `axis` on must stay the last ones, in whatever order.

    Their weight and bias are turned with them, so these must be constants, or have no need to.
    """

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, *result_slots(0))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        inner = order_from(orders[INPUT], _axis(op))
        if inner is None:
            return False
        return inner == tuple(range(len(inner))) or all(
            is_none(operand) or (operand_is_constant(operand) and _has_rank(operand, len(inner)))
            for operand in op.operands[1:]
        )

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        order, axis = orders[INPUT], _axis(op)
        inner, given = order_from(order, axis), list(operands)
        assert inner is not None
        for index, operand in enumerate(op.operands[1:], start=1):
            owner = operand.owner
            if inner == tuple(range(len(inner))) or not isinstance(owner, Operation):
                continue
            if not is_none(operand):
                name = f"{name_of(owner)}_for_{name_of(op)}"
                given[index] = permuted_weight(owner, shape_of(operand), inner, name, builder)
        sizes = [shape_of(op.operands[0])[place] for place in order[axis:]]
        normalized = I64_ARRAY.encode(sizes)
        return rebuilt(op, orders, given, builder, normalized_shape=normalized)


def _axis(op: Operation) -> int:
    attribute = op.attributes["axis"]
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data % len(shape_of(op.operands[0]))


def _has_rank(value: SSAValue, rank: int) -> bool:
    shape = tensor_shape(value.type)
    return shape is not None and len(shape) == rank
