"""Ops with attributes that number dimensions: the numbers follow a transposition."""

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    Orders,
    Slot,
    operand_slots,
    rebuilt,
    result_slots,
)
from xdsl_tpu.dialects.interfaces.layout_rules import (
    INPUT,
    AxisRule,
    ReduceRule,
    integer_of,
    like_integer,
    moved_axis,
    operand_is_constant,
    order_from,
    shape_of,
)
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.oneflow.base import OneFlowOp
from xdsl_tpu.dialects.oneflow.layout.base import (
    OneFlowLayout,
    insert_transpose,
    operand_indices,
)


class AxisLayout(OneFlowLayout, AxisRule):
    """cat: all tensors have the same rank."""


class NarrowLayout(AxisLayout):
    """narrow: its attribute is called `dim`."""

    def __init__(self) -> None:
        super().__init__(attribute="dim")


class ReduceLayout(OneFlowLayout, ReduceRule):
    """Reductions: their attribute is called `axis`."""

    def __init__(self) -> None:
        super().__init__(attribute="axis")


class ChannelAxisLayout(OneFlowLayout):
    """normalization and bias_add: vectors belong to dimension `axis`, which may be any.

    They can tell the layout when that is the channels, and are as fast in either.
    """

    tensors: ClassVar[tuple[str, ...]] = ("mask", "add_to_output")
    """Operands besides the first that have the shape of the result, where an op has them."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        declared = cast(OneFlowOp, op).get_irdl_definition().operands
        alike = (name for name, _ in declared if name in self.tensors)
        return (*operand_slots(0, *operand_indices(op, *alike)), *result_slots(0))

    def layout(self, op: Operation) -> Layout | None:
        rank = len(shape_of(op.operands[0]))
        axis = integer_of(op, "axis") % rank
        if rank < 3 or axis not in (1, rank - 1):
            return None
        return Layout.CHANNEL_FIRST if axis == 1 else Layout.CHANNEL_LAST

    def wants_target(self, op: Operation) -> bool:
        return False

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        axis = moved_axis(integer_of(op, "axis"), orders[INPUT])
        return rebuilt(op, orders, operands, builder, axis=like_integer(op, "axis", axis))


class LayerNormLayout(OneFlowLayout):
    """layer_norm: dimensions from `begin_norm_axis` on must stay the last ones, in any order.

    beta and gamma are turned with them, so these must be constants, or absent.
    """

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (*operand_slots(0), *result_slots(0))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        inner = order_from(orders[INPUT], self._axis(op))
        if inner is None or not super().can_permute(op, orders):
            return False
        parameters = op.operands[1:]
        return all(operand_is_constant(p) and len(shape_of(p)) == len(inner) for p in parameters)

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        inner, given = order_from(orders[INPUT], self._axis(op)), list(operands)
        assert inner is not None
        for index in range(1, len(given)):
            name = f"{name_of(given[index])}_for_{self.name(op) or op.name}"
            given[index] = insert_transpose(op, given[index], inner, name, builder)
        return rebuilt(op, orders, given, builder)

    def _axis(self, op: Operation) -> int:
        return integer_of(op, "begin_norm_axis") % len(shape_of(op.operands[0]))
