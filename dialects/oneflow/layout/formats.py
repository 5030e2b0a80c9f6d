"""Ops that say their layout in the attribute `data_format`."""

from abc import ABC
from collections.abc import Sequence
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    Orders,
    Slot,
    operand_slots,
    rebuilt,
    result_slots,
)
from xdsl_tpu.dialects.interfaces.layout_rules import attribute_of
from xdsl_tpu.dialects.oneflow.layout.base import OneFlowLayout, operand_indices

_FORMATS = {Layout.CHANNEL_FIRST: "channels_first", Layout.CHANNEL_LAST: "channels_last"}


class FormatLayout(OneFlowLayout, ABC):
    """`data_format` says it, and changes with the layout."""

    def layout(self, op: Operation) -> Layout | None:
        written = cast(StringAttr, attribute_of(op, "data_format")).data
        return next(layout for layout, name in _FORMATS.items() if name == written)

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        layout = self.layout(op)
        assert layout is not None
        other = StringAttr(_FORMATS[layout.other])
        return rebuilt(op, orders, operands, builder, data_format=other)


class ConvLayout(FormatLayout):
    """conv2d: image, weight and what is added to the output; the bias has one dimension."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (*operand_slots(0, 1, *operand_indices(op, "add_to_output")), *result_slots(0))


class PoolLayout(FormatLayout):
    """Pools. Where a maximum was is a number that the layout may change, so nobody may read it."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (*operand_slots(0), *result_slots(*range(len(op.results))))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        read = any(result.first_use is not None for result in op.results[1:])
        return super().can_permute(op, orders) and not read


class GroupNormLayout(FormatLayout):
    """group_norm: mean and inv_variance, by group, are the same in either layout."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (*operand_slots(0), *result_slots(0))
