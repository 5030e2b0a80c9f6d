"""What the layouts of all `top` ops share."""

from abc import ABC
from collections.abc import Sequence
from importlib import import_module

from xdsl.builder import Builder
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.attrs import I64_ARRAY
from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutInterface,
    Order,
    Slot,
    moves_data,
    operand_slots,
    permuted_type,
    result_slots,
)
from xdsl_tpu.dialects.interfaces.layout_rules import shape_of
from xdsl_tpu.dialects.names import name_loc

PACKAGE = "xdsl_tpu.dialects.top"


def insert_permute(value: SSAValue, order: Order, name: str, builder: Builder) -> SSAValue:
    """`value` with its dimensions in another order: a Permute, a Reshape if no data moves."""
    shape = shape_of(value)
    location, kind = name_loc(name), permuted_type(value.type, order)
    if not moves_data(shape, order):
        return insert_reshape(value, tuple(shape[axis] for axis in order), location, builder)
    op = import_module(f"{PACKAGE}.permute").PermuteOp.create(
        operands=[value],
        result_types=[kind],
        attributes={"order": I64_ARRAY.encode(order)},
        location=location,
    )
    return builder.insert(op).results[0]


def insert_reshape(
    value: SSAValue, shape: Sequence[int], location: LocationAttr, builder: Builder
) -> SSAValue:
    """The elements of `value` under another shape."""
    kind = import_module("xdsl_tpu.dialects.interfaces.shape").with_shape(value.type, tuple(shape))
    reshape = import_module(f"{PACKAGE}.reshape").ReshapeOp
    op = reshape.make(location, (value,), result_types=[kind], shape=tuple(shape))
    return builder.insert(op).results[0]


class TopLayout(LayoutInterface, ABC):
    """An op whose transpositions are Permutes."""

    def make_transpose(
        self, op: Operation, value: SSAValue, order: Order, name: str, builder: Builder
    ) -> SSAValue:
        return insert_permute(value, order, name, builder)


class ChannelFirst(TopLayout):
    """N, C, spatial in the first operand and the results, and no other way."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (*operand_slots(0), *result_slots(*range(len(op.results))))

    def required(self, op: Operation) -> Layout | None:
        return Layout.CHANNEL_FIRST

    def tied(self, op: Operation) -> Sequence[Sequence[Slot]]:
        return ()
