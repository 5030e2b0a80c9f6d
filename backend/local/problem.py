"""An op by itself as the driver of slices sees it: in shapes that lie better in the lanes than its
own, wherever its values are in DDR.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    IntegerAttr,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.hints import isa

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.support import ddr_value
from xdsl_tpu.backend.local.context import LocalKernel
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.precision import ATTRIBUTE, Precision, precision_of

View = Callable[[Operation, Chip], Iterable[Viewed]]
"""The shapes in which an op is computed; several where each is a part of the result."""


def as_it_stands(op: Operation, chip: Chip) -> Iterable[Viewed]:
    """An op in its own shapes."""
    return (Viewed((None,) * len(op.operands), ()),)


@dataclass(frozen=True)
class Problem:
    """An op of one result under the shapes that it is seen in; types say strides where elements do
    not lie one behind the other, and no addresses."""

    kind: type[Operation]
    attributes: tuple[tuple[str, Attribute], ...]
    types: tuple[Attribute, ...]
    kernel: LocalKernel
    precision: Precision

    @classmethod
    def of(cls, op: Operation, view: Viewed, kernel: LocalKernel) -> "Problem":
        """An op in a view of it."""
        shapes = (*view.operands, view.result or None)
        strides = view.strides or (None,) * len(shapes)
        seen = zip((*op.operands, *op.results), shapes, strides, strict=True)
        types = tuple(_type(value.type, shape, steps) for value, shape, steps in seen)
        attributes = {**op.attributes, **view.attributes}
        return cls(type(op), tuple(sorted(attributes.items())), types, kernel, precision_of(op))

    def op(self, addresses: Sequence[int]) -> LocalGen:
        """The op in a module of its own, with its values at these addresses; operands are arguments
        of its block."""
        types = [_placed(kind, at) for kind, at in zip(self.types, addresses, strict=True)]
        block = Block(arg_types=types[:-1])
        made = self.kind.create(
            operands=block.args, result_types=types[-1:], attributes=dict(self.attributes)
        )
        block.add_op(made)
        ModuleOp(Region(block), {ATTRIBUTE: StringAttr(self.precision.value)})
        assert isinstance(made, LocalGen)
        return made


def addresses_of(op: Operation, view: Viewed) -> list[int]:
    """Where operands and the result of a view begin in DDR; 0 for absent ones.

    Raises TpuError when a type says no address.
    """
    values = (*op.operands, *op.results)
    starts = view.starts or (0,) * len(values)
    places = [None if is_none(value) else ddr_value(value) for value in values]
    return [
        0 if at is None else at.address + start * at.dtype.bytes
        for at, start in zip(places, starts, strict=True)
    ]


def _type(kind: Attribute, shape: Shape | None, strides: Shape | None) -> Attribute:
    """A type without an address, in another shape if one is given."""
    if not isa(kind, TensorType[Attribute]):
        return kind
    layout = NoneAttr() if strides is None else StridedLayoutAttr(strides)
    return TensorType(kind.element_type, kind.get_shape() if shape is None else shape, layout)


def _placed(kind: Attribute, address: int) -> Attribute:
    """A type with an address, beside its strides if it has any."""
    if not isa(kind, TensorType[Attribute]):
        return kind
    layout = kind.encoding
    if isinstance(layout, StridedLayoutAttr):
        place = StridedLayoutAttr(layout.strides, address)
    else:
        place = IntegerAttr(address, i64)
    return TensorType(kind.element_type, kind.get_shape(), place)
