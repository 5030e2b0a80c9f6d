"""Ops with attributes that number dimensions: the numbers follow a transposition."""

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.attrs import I64_ARRAY
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.layout import Orders, Slot, rebuilt, result_slots
from xdsl_tpu.dialects.interfaces.layout_rules import (
    INPUT,
    AxisRule,
    ReduceRule,
    integer_of,
    integers_of,
    like_integer,
    moved_axis,
    reordered,
)
from xdsl_tpu.dialects.top.layout.base import TopLayout


class AxisLayout(AxisRule, TopLayout):
    """An attribute `axis`: Concat, Split, Softmax, Reverse."""


class RotationLayout(TopLayout):
    """SwapDimInner: an offset for each dimension."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, *result_slots(0))

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        offsets = I64_ARRAY.encode(reordered(integers_of(op, "offset"), orders[INPUT]))
        return rebuilt(op, orders, operands, builder, offset=offsets)


class PadLayout(TopLayout):
    """Pad: counts before all dimensions, then after them, unless an operand holds them."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, *result_slots(0))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        counts = integers_of(op, "paddings")
        return all(map(is_none, op.operands[1:])) and len(counts) == 2 * len(orders[INPUT])

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        counts, order = integers_of(op, "paddings"), orders[INPUT]
        before, after = counts[: len(order)], counts[len(order) :]
        moved = [*reordered(before, order), *reordered(after, order)]
        return rebuilt(op, orders, operands, builder, paddings=I64_ARRAY.encode(moved))


class SliceLayout(TopLayout):
    """Slice: bounds for each of `axes`, or without axes for every dimension."""

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, *result_slots(0))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        counts = {len(integers_of(op, name)) for name in ("offset", "ends", "steps")}
        whole = bool(integers_of(op, "axes")) or counts == {len(orders[INPUT])}
        return all(map(is_none, op.operands[1:])) and whole

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        order = orders[INPUT]
        changed: dict[str, Attribute] = {}
        for name in ("axes", "hasparamConvert_axes"):
            if axes := integers_of(op, name):
                changed[name] = I64_ARRAY.encode([moved_axis(axis, order) for axis in axes])
        if not integers_of(op, "axes"):
            for name in ("offset", "ends", "steps"):
                changed[name] = I64_ARRAY.encode(reordered(integers_of(op, name), order))
        return rebuilt(op, orders, operands, builder, **changed)


class ReduceLayout(ReduceRule, TopLayout):
    """Reductions over `axes`."""


class ArgLayout(ReduceLayout):
    """ArgMin and ArgMax: one `axis`. Places along it do not change when it moves."""

    def __init__(self) -> None:
        super().__init__(attribute="axis")

    def axes(self, op: Operation) -> list[int]:
        return [integer_of(op, "axis")]

    def changed(self, op: Operation, axes: list[int]) -> dict[str, Attribute]:
        return {"axis": like_integer(op, "axis", axes[0])}
