"""One execution of an op, as the rule that computes it sees it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy.typing as npt
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation

from xdsl_tpu.dialects.interpreters.elements import static_shape
from xdsl_tpu.dialects.names import name_of

Array = npt.NDArray[Any]
Value: TypeAlias = Array | None
"""A tensor, or None for what `top.None` stands for."""


@functools.cache
def _declared(op_class: type[IRDLOperation]) -> frozenset[str]:
    return frozenset(op_class.get_irdl_definition().attributes)


def _plain(attr: Attribute) -> Any:
    """An attribute as a plain Python value; an enum case as its name."""
    match attr:
        case IntegerAttr():
            return cast(IntegerAttr[Any], attr).value.data
        case FloatAttr():
            return cast(FloatAttr[Any], attr).value.data
        case StringAttr():
            return attr.data
        case EnumAttribute():
            return str(cast(EnumAttribute[Any], attr).data.value)
        case ArrayAttr():
            return [_plain(item) for item in attr]
        case DenseArrayBase():
            return list(cast(DenseArrayBase[Any], attr).get_values())
        case _:
            raise ValueError(f"attribute {attr} has no plain value")


@dataclass(frozen=True)
class Call:
    """An op with the values of its operands.

    Attributes are read by the names the text gives them; asking for one the op's class does
    not declare is a mistake in the rule. Complaints about values are ValueErrors, which the
    interpreter turns into a message that says where.
    """

    op: Operation
    values: Sequence[Value]

    def tensor(self, index: int = 0) -> Array:
        """Operand `index`, which must not be none."""
        value = self.optional(index)
        if value is None:
            raise ValueError(f"operand {index} is none")
        return value

    def optional(self, index: int) -> Value:
        """Operand `index`, or None when it is none or was left out."""
        return self.values[index] if index < len(self.values) else None

    def tensors(self) -> list[Array]:
        """All operands, none of which may be none."""
        return [self.tensor(index) for index in range(len(self.values))]

    def has(self, name: str) -> bool:
        """Whether ops of this class declare the attribute."""
        op_class = type(self.op)
        return issubclass(op_class, IRDLOperation) and name in _declared(op_class)

    def attribute(self, name: str) -> Any:
        """The attribute's plain value, its default, or None when it is optional and unset."""
        attr: Attribute | None = getattr(self.op, name)
        return None if attr is None else _plain(attr)

    def integer(self, name: str) -> int:
        """An integer attribute."""
        return int(self.attribute(name))

    def number(self, name: str) -> float:
        """A float attribute."""
        return float(self.attribute(name))

    def flag(self, name: str) -> bool:
        """A bool attribute; unset counts as false."""
        return bool(self.attribute(name))

    def text(self, name: str) -> str:
        """A string attribute or the case of an enum."""
        return str(self.attribute(name))

    def integers(self, name: str) -> list[int]:
        """A list of integers; unset counts as empty."""
        return [int(item) for item in self.attribute(name) or ()]

    def numbers(self, name: str) -> list[float]:
        """A list of floats; unset counts as empty."""
        return [float(item) for item in self.attribute(name) or ()]

    def axis(self, rank: int, name: str = "axis") -> int:
        """An axis attribute as a dimension number of a tensor of `rank`."""
        axis = self.integer(name)
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is outside a tensor of rank {rank}")
        return axis % rank

    def shape(self, index: int = 0) -> tuple[int, ...] | None:
        """The shape the IR gives result `index`, None when it leaves a size open."""
        return static_shape(self.op.results[index].type)

    def shaped(self, values: Array, index: int = 0) -> Array:
        """`values` in the shape of result `index`, when it has one of that many elements."""
        shape = self.shape(index)
        return values if shape is None or math.prod(shape) != values.size else values.reshape(shape)


Rule: TypeAlias = Callable[[Call], Array | Sequence[Value]]
"""What an op computes: one array for an op of one result, else one value per result."""


def where(op: Operation) -> str:
    """An op in a message: its kind and, if it has one, the name of its tensor."""
    name = name_of(op)
    return f"{op.name} at {name!r}" if name else f"{op.name} (no location)"


def dimensions(values: Sequence[Value]) -> str:
    """Shapes in a message: `1x3x4, none`."""
    parts = ["none" if v is None else "x".join(map(str, v.shape)) or "scalar" for v in values]
    return ", ".join(parts)
