"""Ops that work element by element, with broadcasting."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    LayoutConstant,
    Order,
    Orders,
    Slot,
    moves_data,
    operand_slots,
    rebuilt,
    result_slots,
    tensor_shape,
)
from xdsl_tpu.dialects.names import name_loc, name_of
from xdsl_tpu.dialects.top.layout.base import TopLayout, insert_reshape, shape_of
from xdsl_tpu.dialects.top.layout.constant import permuted_weight


class ElementwiseUnary(TopLayout):
    """One tensor in, all results of its shape."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (*operand_slots(0), *result_slots(*range(len(op.results))))


class Elementwise(TopLayout):
    """Several tensors that broadcast to the result, aligned at their last dimensions.

    Operands of the result's rank are slots. One of fewer dimensions is brought to full rank,
    which is free unless data move then; a constant may, another operand keeps the op from
    changing its layout.
    """

    def slots(self, op: Operation) -> Sequence[Slot]:
        rank = _rank(op)
        places = [
            index
            for index, operand in enumerate(op.operands)
            if (shape := tensor_shape(operand.type)) is not None and len(shape) == rank
        ]
        return (*operand_slots(*places), *result_slots(0))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        order = orders[result_slots(0)[0]]
        for operand in op.operands:
            shape = tensor_shape(operand.type)
            if shape is None or len(shape) >= len(order) or operand_is_constant(operand):
                continue
            if moves_data(aligned(shape, len(order)), order):
                return False
        return True

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        order = orders[result_slots(0)[0]]
        given = list(operands)
        for index, operand in enumerate(operands):
            shape = tensor_shape(operand.type)
            if shape is not None and _needs_alignment(shape, order):
                given[index] = _aligned_operand(op, operand, order, index, builder)
        return rebuilt(op, orders, given, builder)


def operand_is_constant(value: SSAValue) -> bool:
    """Whether a value is known before the network runs."""
    return isinstance(value.owner, Operation) and LayoutConstant.of(value.owner) is not None


def aligned(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """A shape with ones in front up to `rank`, as broadcasting sees it."""
    return (1,) * (rank - len(shape)) + shape


def _needs_alignment(shape: tuple[int, ...], order: Order) -> bool:
    """Whether an operand of fewer dimensions has any but the one element of a scalar."""
    return len(shape) < len(order) and any(size != 1 for size in shape)


def _aligned_operand(
    op: Operation, value: SSAValue, order: Order, index: int, builder: Builder
) -> SSAValue:
    """An operand of fewer dimensions at full rank and in `order`."""
    full = aligned(shape_of(value), len(order))
    name = f"{name_of(value) or name_of(op) or 'operand'}_for_{name_of(op) or op.name}_{index}"
    if isinstance(value.owner, Operation) and operand_is_constant(value):
        return permuted_weight(value.owner, full, order, name, builder)
    return insert_reshape(value, [full[axis] for axis in order], name_loc(name), builder)


def _rank(op: Operation) -> int:
    shape = tensor_shape(op.results[0].type)
    return -1 if shape is None else len(shape)
