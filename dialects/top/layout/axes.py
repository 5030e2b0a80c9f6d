"""Ops with attributes that number dimensions: the numbers follow a transposition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    Order,
    Orders,
    Slot,
    layout_order,
    operand_slots,
    rebuilt,
    result_slots,
    tensor_shape,
)
from xdsl_tpu.dialects.top.layout.base import TopLayout, moved_axis, reordered, shape_of

INPUT = operand_slots(0)[0]


def _integers(op: Operation, name: str) -> list[int]:
    """An attribute that is a list of integers, empty when it is absent."""
    attribute = op.attributes.get(name)
    return [] if attribute is None else list(ints(cast(ArrayAttr[IntegerAttr], attribute)))


def _attribute(op: Operation, name: str) -> IntegerAttr:
    return cast(IntegerAttr, op.attributes[name])


def _integer(op: Operation, name: str) -> int:
    return _attribute(op, name).value.data


def _like(op: Operation, name: str, value: int) -> Attribute:
    """An integer attribute of the type that it has now."""
    return IntegerAttr(value, _attribute(op, name).type)


@dataclass(frozen=True)
class AxisLayout(TopLayout):
    """An attribute `axis`: Concat, Split, Softmax, Reverse. All tensors have the same rank."""

    attribute: str = "axis"

    def slots(self, op: Operation) -> Sequence[Slot]:
        operands = operand_slots(*range(len(op.operands)))
        return (*operands, *result_slots(*range(len(op.results))))

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        axis = moved_axis(_integer(op, self.attribute), orders[INPUT])
        changed = {self.attribute: _like(op, self.attribute, axis)}
        return rebuilt(op, orders, operands, builder, **changed)


class RotationLayout(TopLayout):
    """SwapDimInner: an offset for each dimension."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, *result_slots(0))

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        offsets = I64_ARRAY.encode(reordered(_integers(op, "offset"), orders[INPUT]))
        return rebuilt(op, orders, operands, builder, offset=offsets)


class PadLayout(TopLayout):
    """Pad: counts before all dimensions, then after them, unless an operand holds them."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, *result_slots(0))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        counts = _integers(op, "paddings")
        return all(map(is_none, op.operands[1:])) and len(counts) == 2 * len(orders[INPUT])

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        counts, order = _integers(op, "paddings"), orders[INPUT]
        before, after = counts[: len(order)], counts[len(order) :]
        moved = [*reordered(before, order), *reordered(after, order)]
        return rebuilt(op, orders, operands, builder, paddings=I64_ARRAY.encode(moved))


class SliceLayout(TopLayout):
    """Slice: bounds for each of `axes`, or without axes for every dimension."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, *result_slots(0))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        counts = {len(_integers(op, name)) for name in ("offset", "ends", "steps")}
        whole = bool(_integers(op, "axes")) or counts == {len(orders[INPUT])}
        return all(map(is_none, op.operands[1:])) and whole

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        order = orders[INPUT]
        changed: dict[str, Attribute] = {}
        for name in ("axes", "hasparamConvert_axes"):
            if axes := _integers(op, name):
                changed[name] = I64_ARRAY.encode([moved_axis(axis, order) for axis in axes])
        if not _integers(op, "axes"):
            for name in ("offset", "ends", "steps"):
                changed[name] = I64_ARRAY.encode(reordered(_integers(op, name), order))
        return rebuilt(op, orders, operands, builder, **changed)


@dataclass(frozen=True)
class ReduceLayout(TopLayout):
    """Reductions over `axes`, which stay as ones or vanish.

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
        axes = sorted(moved_axis(axis, order) for axis in self._axes(op))
        return rebuilt(op, orders, operands, builder, **self._changed(op, axes))

    def transfer(self, op: Operation, layout: Layout) -> Layout | None:
        if self._keeps(op):
            return None
        order = layout_order(len(shape_of(op.operands[0])), layout.other)
        inner = self._order_of_result(op, order)
        return layout if inner == layout_order(len(inner), layout.other) else None

    def _order_of_result(self, op: Operation, order: Order) -> Order:
        """How the dimensions that are left change their order."""
        axes = {axis % len(order) for axis in self._axes(op)}
        left = [axis for axis in range(len(order)) if axis not in axes]
        return tuple(left.index(axis) for axis in order if axis in left)

    def _results(self, op: Operation) -> tuple[Slot, ...]:
        return result_slots(*(i for i, result in enumerate(op.results) if not is_none(result)))

    def _keeps(self, op: Operation) -> bool:
        return op.attributes.get(self.keep) == BoolAttr.from_bool(True)

    def _axes(self, op: Operation) -> list[int]:
        rank = len(shape_of(op.operands[0]))
        return _integers(op, self.attribute) or list(range(rank))

    def _changed(self, op: Operation, axes: list[int]) -> dict[str, Attribute]:
        return {self.attribute: I64_ARRAY.encode(axes)}


class ArgLayout(ReduceLayout):
    """ArgMin and ArgMax: one `axis`. Places along it do not change when it moves."""

    def __init__(self) -> None:
        super().__init__(attribute="axis")

    def _axes(self, op: Operation) -> list[int]:
        return [_integer(op, "axis")]

    def _changed(self, op: Operation, axes: list[int]) -> dict[str, Attribute]:
        return {"axis": _like(op, "axis", axes[0])}
