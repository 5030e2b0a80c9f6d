"""Kinds of attributes: what an op's attribute may hold, and the Python value it stands for.

A kind is an xDSL constraint that also encodes Python values, so that one declaration serves
verification, reading and building:

    strides = attr_def(I64_ARRAY)            # must be there
    group = default_attr_def(I64, 1)         # `op.group` is 1 when the text has none
    ceil_mode = opt_attr_def(BOOL)           # `op.ceil_mode` is None when the text has none

Defaults are never written into an op by reading it, so text comes back as it was.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeAlias, cast

from typing_extensions import TypeVar
from xdsl.dialects.builtin import (
    I32,
    I64,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, IntConstraint, opt_attr_def
from xdsl.irdl.constraints import VerificationContext
from xdsl.utils.exceptions import VerifyException

Value: TypeAlias = bool | int | float | str | Sequence[Any] | Mapping[str, Any] | Attribute
"""What builders take for an attribute: a plain Python value, or the attribute itself."""

I64Attr: TypeAlias = IntegerAttr[I64]
I32Attr: TypeAlias = IntegerAttr[I32]
TypedIntAttr: TypeAlias = IntegerAttr[IntegerType]
F64Attr: TypeAlias = FloatAttr[Float64Type]
I64Array: TypeAlias = ArrayAttr[I64Attr]
F64Array: TypeAlias = ArrayAttr[F64Attr]

si32 = IntegerType(32, Signedness.SIGNED)
ui32 = IntegerType(32, Signedness.UNSIGNED)

A = TypeVar("A", bound=Attribute, default=Attribute)

_TRUTH = (BoolAttr.from_bool(False), BoolAttr.from_bool(True))


@lru_cache(maxsize=1 << 14)
def _integer(value: int, type: IntegerType) -> TypedIntAttr:
    """An integer, made once: attributes never change, and xDSL verifies each as it is made."""
    return IntegerAttr(value, type)


class Kind(AttrConstraint[A], Generic[A]):
    """A constraint on an attribute that also knows how to make one from a Python value."""

    @abstractmethod
    def accepts(self, attr: Attribute) -> bool:
        """Whether `attr` is of this kind."""

    @abstractmethod
    def describe(self) -> str:
        """The kind in words, for messages."""

    @abstractmethod
    def convert(self, value: Any) -> A:
        """The attribute for a plain Python value; TypeError or ValueError when there is none."""

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.accepts(attr):
            raise VerifyException(self.problem(attr))

    def mapping_type_vars(
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> AttrConstraint[A]:
        return self

    def encode(self, value: Value) -> A:
        """The attribute for `value`, which may be one already; a ValueError says what fits."""
        try:
            attr = value if isinstance(value, Attribute) else self.convert(value)
        except (TypeError, ValueError):
            attr = None
        if attr is None or not self.accepts(attr):
            raise ValueError(self.problem(repr(value)))
        return cast(A, attr)

    def problem(self, found: object) -> str:
        """What is expected, in place of what was found."""
        return f"expected {self.describe()}, got {found}"


@dataclass(frozen=True)
class IntKind(Kind[A], Generic[A]):
    """An integer of exactly one type; `i64` attributes print as `1 : i64`."""

    type: IntegerType

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, IntegerAttr) and cast(TypedIntAttr, attr).type == self.type

    def describe(self) -> str:
        return f"an integer of type {self.type}"

    def convert(self, value: Any) -> A:
        if int(value) != value:
            raise ValueError(value)
        return cast(A, _integer(int(value), self.type))


@dataclass(frozen=True)
class BoolKind(Kind[BoolAttr]):
    """`true` or `false`."""

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, IntegerAttr) and cast(TypedIntAttr, attr).type == i1

    def describe(self) -> str:
        return "true or false"

    def convert(self, value: Any) -> BoolAttr:
        if value not in (0, 1):
            raise ValueError(value)
        return _TRUTH[bool(value)]


@dataclass(frozen=True)
class F64Kind(Kind[F64Attr]):
    """A 64-bit float."""

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, FloatAttr) and cast(F64Attr, attr).type == f64

    def describe(self) -> str:
        return "an f64 number"

    def convert(self, value: Any) -> F64Attr:
        return FloatAttr(float(value), f64)


@dataclass(frozen=True)
class TextKind(Kind[StringAttr]):
    """Any string."""

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, StringAttr)

    def describe(self) -> str:
        return "a string"

    def convert(self, value: Any) -> StringAttr:
        if not isinstance(value, str):
            raise TypeError(value)
        return StringAttr(value)


@dataclass(frozen=True, init=False)
class ChoiceKind(TextKind):
    """One string out of a closed list."""

    choices: tuple[str, ...]

    def __init__(self, *choices: str) -> None:
        object.__setattr__(self, "choices", choices)

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, StringAttr) and attr.data in self.choices

    def describe(self) -> str:
        return "one of " + ", ".join(f'"{choice}"' for choice in self.choices)


@dataclass(frozen=True)
class ListKind(Kind[ArrayAttr[A]], Generic[A]):
    """A list of elements of one kind, printed `[..]`."""

    element: Kind[A]

    def accepts(self, attr: Attribute) -> bool:
        if not isinstance(attr, ArrayAttr):
            return False
        return all(map(self.element.accepts, cast(ArrayAttr[Attribute], attr).data))

    def describe(self) -> str:
        return f"a list, each element {self.element.describe()}"

    def convert(self, value: Any) -> ArrayAttr[A]:
        if isinstance(value, str):
            raise TypeError(value)
        return ArrayAttr([self.element.encode(item) for item in value])


@dataclass(frozen=True)
class DenseI32Kind(Kind[DenseArrayBase[I32]]):
    """A dense list of i32, printed `array<i32: 1, 2>`."""

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, DenseArrayBase) and cast(DenseArrayBase[I32], attr).elt_type == i32

    def describe(self) -> str:
        return "an array<i32: ..>"

    def convert(self, value: Any) -> DenseArrayBase[I32]:
        return DenseArrayBase.from_list(i32, [int(item) for item in value])


@dataclass(frozen=True)
class DictKind(Kind[DictionaryAttr]):
    """A dictionary of attributes."""

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, DictionaryAttr)

    def describe(self) -> str:
        return "a dictionary"

    def convert(self, value: Any) -> DictionaryAttr:
        return DictionaryAttr(dict(value))


BOOL = BoolKind()
I64_INT: IntKind[I64Attr] = IntKind(i64)
I32_INT: IntKind[I32Attr] = IntKind(i32)
SI32: IntKind[TypedIntAttr] = IntKind(si32)
UI32: IntKind[TypedIntAttr] = IntKind(ui32)
F64 = F64Kind()
TEXT = TextKind()
I64_ARRAY: ListKind[I64Attr] = ListKind(I64_INT)
F64_ARRAY: ListKind[F64Attr] = ListKind(F64)
DICT_ARRAY: ListKind[DictionaryAttr] = ListKind(DictKind())
I32_DENSE = DenseI32Kind()


def default_attr_def(kind: Kind[A], value: Value) -> A:
    """Declare an attribute that may be left out: `op.<attribute>` is then `value`."""
    return opt_attr_def(kind, default_value=kind.encode(value))


def ints(array: Iterable[IntegerAttr[Any]]) -> tuple[int, ...]:
    """The integers of a list attribute."""
    return tuple(item.value.data for item in array)


def floats(array: Iterable[FloatAttr[Any]]) -> tuple[float, ...]:
    """The numbers of a list attribute."""
    return tuple(item.value.data for item in array)
