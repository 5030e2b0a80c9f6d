"""Layout behaviour of ops that give the same elements in the same order another shape."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from math import prod

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutInterface,
    Order,
    Orders,
    Slot,
    layout_order,
    moves_data,
    operand_slots,
    result_slots,
    tensor_shape,
)

INPUT, OUTPUT = operand_slots(0)[0], result_slots(0)[0]


class ViewRule(LayoutInterface, ABC):
    """Reshape, squeeze, unsqueeze, flatten.

    Either side may change its form as long as the elements come in the same order on both:
    1x64x8x8 as 1x64x64 is 1x8x8x64 as 1x64x64, and a 1x64x1x1 may be turned on its own.
    """

    def slots(self, op: Operation) -> Sequence[Slot]:
        return (INPUT, OUTPUT)

    def tied(self, op: Operation) -> Sequence[Sequence[Slot]]:
        return ((INPUT,), (OUTPUT,))

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        source, result = (tensor_shape(value.type) for value in (op.operands[0], op.results[0]))
        if len(op.operands) > 1 or source is None or result is None:
            return False
        return same_elements(source, orders.get(INPUT), result, orders.get(OUTPUT))

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        shape = tensor_shape(op.results[0].type)
        assert shape is not None
        order = orders.get(OUTPUT, tuple(range(len(shape))))
        return (self.reshaped(op, operands[0], [shape[axis] for axis in order], builder),)

    @abstractmethod
    def reshaped(
        self, op: Operation, value: SSAValue, shape: Sequence[int], builder: Builder
    ) -> SSAValue:
        """Insert what gives the elements of `value` the shape `shape`, in place of `op`."""

    def transfer(self, op: Operation, layout: Layout) -> Layout | None:
        source, result = (tensor_shape(value.type) for value in (op.operands[0], op.results[0]))
        if source is None:
            return None
        order = layout_order(len(source), layout.other)
        for after in (layout, layout.other):
            other = None if result is None else layout_order(len(result), after.other)
            if result is not None and same_elements(source, order, result, other):
                return after
        return None


def same_elements(
    source: Sequence[int], order: Order | None, result: Sequence[int], other: Order | None
) -> bool:
    """Whether reshaping stays reshaping when both shapes are transposed.

    Both shapes are written as products of the same factors. The transposed shapes have the
    same elements in the same order when they have the same factors in the same order.
    """
    if min((*source, *result), default=1) < 1 or prod(source) != prod(result):
        return False
    order = tuple(range(len(source))) if order is None else order
    other = tuple(range(len(result))) if other is None else other
    factors = _common_factors(source, result)
    if factors is None:
        return not moves_data(source, order) and not moves_data(result, other)
    one, two = factors
    return [f for axis in order for f in one[axis]] == [f for axis in other for f in two[axis]]


def _common_factors(
    source: Sequence[int], result: Sequence[int]
) -> tuple[list[list[int]], list[list[int]]] | None:
    """For each dimension of both shapes the numbers of the factors it is made of.

    A factor begins wherever a dimension of one of the shapes begins. None when these places do
    not divide one another: 4x6 and 6x4 have no common factors in this sense.
    """
    starts = sorted({*_strides(source), *_strides(result)})
    if any(large % small for small, large in pairwise(starts)):
        return None
    found: list[list[list[int]]] = []
    for shape in (source, result):
        strides = _strides(shape)
        dimensions: list[list[int]] = []
        for size, stride in zip(shape, strides, strict=True):
            places = [start for start in starts if stride <= start < stride * size]
            dimensions.append(sorted(places, reverse=True))
        found.append(dimensions)
    return found[0], found[1]


def _strides(shape: Sequence[int]) -> list[int]:
    """For each dimension how many elements lie between neighbours along it."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]
