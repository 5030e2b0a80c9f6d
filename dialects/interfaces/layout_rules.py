"""Layout behaviour that ops of many dialects have: element by element, along an axis, reducing.

Each class is a `LayoutInterface` without `make_transpose`; a dialect mixes its own in:

    class MyReduce(ReduceRule, MyLayout): ...

Attributes are found by their name in the text, and keep the type that they have.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutConstant,
    LayoutInterface,
    LayoutTranspose,
    Order,
    Orders,
    Slot,
    composed,
    inverse,
    layout_order,
    moves_data,
    operand_slots,
    rebuilt,
    result_slots,
    tensor_shape,
)

INPUT = operand_slots(0)[0]


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The dimensions of a ranked tensor, which `value` must be."""
    shape = tensor_shape(value.type)
    assert shape is not None
    return shape


def moved_axis(axis: int, order: Order) -> int:
    """Where a dimension, perhaps counted from the back, is after a transposition."""
    return order.index(axis % len(order))


def reordered(values: Sequence[int], order: Order) -> list[int]:
    """One value for each dimension, after a transposition."""
    return [values[axis] for axis in order]


def order_from(order: Order, axis: int) -> Order | None:
    """How the dimensions from `axis` on change places; None when others come among them."""
    inner = tuple(place - axis for place in order[axis:])
    return None if min(inner, default=0) < 0 else inner


def aligned(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    """A shape with ones in front up to `rank`, as broadcasting sees it."""
    return (1,) * (rank - len(shape)) + shape


def operand_is_constant(value: SSAValue) -> bool:
    """Whether a value is known before the network runs."""
    return isinstance(value.owner, Operation) and LayoutConstant.of(value.owner) is not None


def attribute_of(op: Operation, name: str) -> Attribute | None:
    """An attribute of an op, its default if the text has none."""
    found = op.attributes.get(name)
    return found if found is not None else getattr(op, name, None)


def integers_of(op: Operation, name: str) -> list[int]:
    """An attribute that is a list of integers, empty when it is absent."""
    attribute = attribute_of(op, name)
    return [] if attribute is None else list(ints(cast(ArrayAttr[IntegerAttr], attribute)))


def integer_of(op: Operation, name: str) -> int:
    """An attribute that is an integer."""
    return cast(IntegerAttr, attribute_of(op, name)).value.data


def like_integer(op: Operation, name: str, value: int) -> Attribute:
    """An integer attribute of the type that it has now."""
    return IntegerAttr(value, cast(IntegerAttr, attribute_of(op, name)).type)


def like_integers(op: Operation, name: str, values: Sequence[int]) -> Attribute:
    """A list of integers of the type that those in it, which must have some, have now."""
    first, *_ = cast(ArrayAttr[IntegerAttr[Any]], attribute_of(op, name)).data
    return ArrayAttr([IntegerAttr(value, first.type) for value in values])


class UnaryRule(LayoutInterface, ABC):
    """One tensor in, all results of its shape."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (*operand_slots(0), *result_slots(*range(len(op.results))))


class BroadcastRule(LayoutInterface, ABC):
    """Several tensors that broadcast to the result, aligned at their last dimensions.

    Operands of the result's rank are slots. One of fewer dimensions is brought to full rank,
    which is free unless data move then; a constant may, another operand keeps the op from
    changing its layout.
    """

    def slots(self, op: Operation) -> Sequence[Slot]:
        result = tensor_shape(op.results[0].type)
        places = [
            index
            for index, operand in enumerate(op.operands)
            if (shape := tensor_shape(operand.type)) is not None
            and result is not None
            and len(shape) == len(result)
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
            if shape is not None and len(shape) < len(order) and any(size != 1 for size in shape):
                given[index] = self.lifted(op, operand, index, order, builder)
        return rebuilt(op, orders, given, builder)

    @abstractmethod
    def lifted(
        self, op: Operation, value: SSAValue, index: int, order: Order, builder: Builder
    ) -> SSAValue:
        """Insert what gives `value` at full rank, and then in `order`.

        It is to be operand `index` of an op like `op`, and has fewer dimensions than the result.
        It is a constant, or no element changes its place.
        """


@dataclass(frozen=True)
class AxisRule(LayoutInterface, ABC):
    """An attribute, `axis` unless it is called otherwise, that numbers a dimension.

    All tensors have the same rank: concatenation, splitting, softmax.
    """

    attribute: str = "axis"

    def slots(self, op: Operation) -> Sequence[Slot]:
        operands = operand_slots(*range(len(op.operands)))
        return (*operands, *result_slots(*range(len(op.results))))

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        axis = moved_axis(integer_of(op, self.attribute), orders[INPUT])
        changed = {self.attribute: like_integer(op, self.attribute, axis)}
        return rebuilt(op, orders, operands, builder, **changed)


@dataclass(frozen=True)
class ReduceRule(LayoutInterface, ABC):
    """Reductions over dimensions, which stay as ones or vanish.

    If they vanish the op is a view as far as layouts go: reducing over rows keeps the channels
    where they are in the result, reducing over the channels makes the layout of the operand
    irrelevant to the result.
    """

    attribute: str = "axes"
    keep: str = "keepdims"

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, *self._results(op))

    def tied(self, op: Operation) -> Sequence[Sequence[Slot]]:
        return (self.slots(op),) if self._keeps(op) else ((INPUT,), self._results(op))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        if self._keeps(op):
            return True
        results = [orders[slot] for slot in self._results(op) if slot in orders]
        order = orders.get(INPUT)
        inner = self._order_of_result(op, order) if order is not None else None
        rank = len(tensor_shape(op.results[0].type) or ())
        wanted = results[0] if results else tuple(range(rank))
        return inner is not None and inner == wanted

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        order = orders[INPUT]
        axes = sorted(moved_axis(axis, order) for axis in self.axes(op))
        return rebuilt(op, orders, operands, builder, **self.changed(op, axes))

    def transfer(self, op: Operation, layout: Layout) -> Layout | None:
        if self._keeps(op):
            return None
        order = layout_order(len(shape_of(op.operands[0])), layout.other)
        inner = self._order_of_result(op, order)
        return layout if inner == layout_order(len(inner), layout.other) else None

    def axes(self, op: Operation) -> list[int]:
        """The dimensions that are reduced; all of them if none is named."""
        rank = len(shape_of(op.operands[0]))
        return integers_of(op, self.attribute) or list(range(rank))

    def changed(self, op: Operation, axes: list[int]) -> dict[str, Attribute]:
        """The attributes that say so of other dimensions."""
        if not integers_of(op, self.attribute):
            return {}
        return {self.attribute: like_integers(op, self.attribute, axes)}

    def _order_of_result(self, op: Operation, order: Order) -> Order:
        """How the dimensions that are left change their order."""
        axes = {axis % len(order) for axis in self.axes(op)}
        left = [axis for axis in range(len(order)) if axis not in axes]
        return tuple(left.index(axis) for axis in order if axis in left)

    def _results(self, op: Operation) -> tuple[Slot, ...]:
        return result_slots(*(i for i, result in enumerate(op.results) if not is_none(result)))

    def _keeps(self, op: Operation) -> bool:
        return attribute_of(op, self.keep) == BoolAttr.from_bool(True)


@dataclass(frozen=True)
class TransposeAbsorbsRule(LayoutInterface, ABC):
    """A transposition that is no change of layout reads its operand in any order for nothing."""

    attribute: str = "order"

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
        whole = like_integers(op, self.attribute, composed(inverse(orders[INPUT]), own))
        return rebuilt(op, orders, operands, builder, **{self.attribute: whole})
