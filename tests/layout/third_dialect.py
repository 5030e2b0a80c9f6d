"""A dialect of somebody else, with layouts: what the passes know of it are the traits."""

import math
from abc import ABC
from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import (
    Attribute,
    Block,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    attr_def,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutConstant,
    LayoutInterface,
    LayoutTranspose,
    Order,
    Orders,
    Slot,
    composed,
    operand_slots,
    permuted_type,
    rebuilt,
    result_slots,
    tensor_shape,
)

Array = npt.NDArray[np.float64]


@irdl_attr_definition
class ParcelType(ParametrizedAttribute, TypeAttribute):
    """A value that nobody can transpose."""

    name = "third.parcel"


class ThirdLayout(LayoutInterface):
    """What all ops of the dialect share: the transposition."""

    def make_transpose(
        self, op: Operation, value: SSAValue, order: Order, name: str, builder: Builder
    ) -> SSAValue:
        return builder.insert(TurnOp.of(value, order)).results[0]

    def slots(self, op: Operation) -> Sequence[Slot]:
        operands = operand_slots(*range(len(op.operands)))
        return (*operands, *result_slots(*range(len(op.results))))


def _written(op: Operation) -> Layout:
    """The layout that `format` says."""
    first = op.attributes["format"] == StringAttr("first")
    return Layout.CHANNEL_FIRST if first else Layout.CHANNEL_LAST


class FilterLayout(ThirdLayout):
    """Works in both layouts, as `format` says, and is faster in the target's."""

    def layout(self, op: Operation) -> Layout | None:
        return _written(op)

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        other = "first" if _written(op) is Layout.CHANNEL_LAST else "last"
        return rebuilt(op, orders, operands, builder, format=StringAttr(other))


class BoundLayout(ThirdLayout):
    """Has the layout that `format` says and no other."""

    def required(self, op: Operation) -> Layout | None:
        return _written(op)

    def tied(self, op: Operation) -> Sequence[Sequence[Slot]]:
        return ()


class StubbornLayout(BoundLayout):
    """Says that it must be channel-last, and that it is not."""

    def required(self, op: Operation) -> Layout | None:
        return Layout.CHANNEL_LAST

    def layout(self, op: Operation) -> Layout | None:
        return Layout.CHANNEL_FIRST


class TurnOrder(LayoutTranspose):
    """The attribute `by`."""

    def order(self, op: Operation) -> Order | None:
        assert isinstance(op, TurnOp)
        return tuple(item.value.data for item in op.by)


class FoldedConstant(LayoutConstant):
    """A constant that is told by its seed and the order in which it is turned."""

    def permuted(self, op: Operation, order: Order, builder: Builder) -> SSAValue | None:
        kind = permuted_type(op.results[0].type, order)
        earlier = op.attributes.get("turned")
        if earlier is not None:
            order = composed(_integers(earlier), order)
        turned = {"turned": ArrayAttr([IntegerAttr(axis, i64) for axis in order])}
        new = KnownOp.create(result_types=[kind], attributes={**op.attributes, **turned})
        return builder.insert(new).results[0]


@irdl_op_definition
class TurnOp(IRDLOperation):
    """A transposition."""

    name = "third.turn"
    source = operand_def(AnyAttr())
    result = result_def(AnyAttr())
    by = attr_def(ArrayAttr[IntegerAttr])
    traits = traits_def(TurnOrder())

    @staticmethod
    def of(value: SSAValue, order: Order) -> "TurnOp":
        """The transposition of a value."""
        by = ArrayAttr([IntegerAttr(axis, i64) for axis in order])
        kind = permuted_type(value.type, order)
        return TurnOp.create(operands=[value], result_types=[kind], attributes={"by": by})


@irdl_op_definition
class KnownOp(IRDLOperation):
    """A constant."""

    name = "third.known"
    result = result_def(AnyAttr())
    traits = traits_def(FoldedConstant())


@irdl_op_definition
class SumOp(IRDLOperation):
    """The sum of any number of tensors."""

    name = "third.sum"
    sources = var_operand_def(AnyAttr())
    result = result_def(AnyAttr())
    traits = traits_def(ThirdLayout())


@irdl_op_definition
class ForkOp(IRDLOperation):
    """x + 1 and 2 * x."""

    name = "third.fork"
    source = operand_def(AnyAttr())
    one = result_def(AnyAttr())
    other = result_def(AnyAttr())
    traits = traits_def(ThirdLayout())


class FormattedOp(IRDLOperation, ABC):
    """An op of one tensor in the layout that `format` says."""

    source = operand_def(AnyAttr())
    result = result_def(AnyAttr())
    format = attr_def(StringAttr)


@irdl_op_definition
class FilterOp(FormattedOp):
    """Channel c times c + 1, in either layout."""

    name = "third.filter"
    traits = traits_def(FilterLayout())


@irdl_op_definition
class BoundOp(FormattedOp):
    """Channel c less c, in one layout."""

    name = "third.bound"
    traits = traits_def(BoundLayout())


@irdl_op_definition
class StubbornOp(IRDLOperation):
    """An op that nothing can be done for."""

    name = "third.stubborn"
    source = operand_def(AnyAttr())
    result = result_def(AnyAttr())
    traits = traits_def(StubbornLayout())


THIRD = Dialect(
    "third", [TurnOp, KnownOp, SumOp, ForkOp, FilterOp, BoundOp, StubbornOp], [ParcelType]
)


def tensor(*shape: int) -> TensorType[Attribute]:
    """A tensor type."""
    return TensorType(f32, shape)


def function(inputs: Sequence[Attribute], outputs: Sequence[SSAValue], block: Block) -> ModuleOp:
    """A module with one function that returns `outputs`."""
    block.add_op(ReturnOp(*outputs))
    kind = FunctionType.from_lists(list(inputs), [output.type for output in outputs])
    return ModuleOp([FuncOp("main", kind, Region(block))])


def evaluate(module: ModuleOp, inputs: Sequence[Array]) -> list[Array]:
    """What the function returns."""
    (function,) = module.body.block.ops
    assert isinstance(function, FuncOp)
    values: dict[SSAValue, Array] = dict(zip(function.body.block.args, inputs, strict=True))
    for op in function.body.block.ops:
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, ReturnOp):
            return operands
        values.update(zip(op.results, _compute(op, operands), strict=True))
    raise AssertionError("no return")


def _compute(op: Operation, operands: list[Array]) -> list[Array]:
    match op:
        case TurnOp():
            return [operands[0].transpose([item.value.data for item in op.by])]
        case SumOp():
            return [np.sum(operands, axis=0)]
        case ForkOp():
            return [operands[0] + 1, operands[0] * 2]
        case FilterOp():
            return [operands[0] * (_channels(op.format, operands[0]) + 1)]
        case BoundOp():
            return [operands[0] - _channels(op.format, operands[0])]
        case _:
            assert isinstance(op, KnownOp)
            return [_known(op)]


def _channels(format: StringAttr, x: Array) -> Array:
    axis = 1 if format.data == "first" else x.ndim - 1
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return np.arange(x.shape[axis], dtype=np.float64).reshape(shape)


def _known(op: KnownOp) -> Array:
    shape, turned = tensor_shape(op.result.type), op.attributes.get("turned")
    assert shape is not None
    if turned is None:
        return np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
    order = _integers(turned)
    original = [shape[order.index(axis)] for axis in range(len(shape))]
    return np.arange(math.prod(shape), dtype=np.float64).reshape(original).transpose(order)


def _integers(attribute: Attribute) -> Order:
    return tuple(item.value.data for item in cast(ArrayAttr[IntegerAttr], attribute))
