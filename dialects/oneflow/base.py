"""What all ops of the `oneflow` dialect share: placement attributes, names, printing.

Definitions follow OneFlow's ODS (Oneflow-Inc/oneflow, oneflow/ir/include/OneFlow/*.td). Every
attribute that is not declared is kept and printed, such as `op_type_name` of older text.
"""

from abc import ABC
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    FloatAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    OptOperandDef,
    VarOperandDef,
    operand_def,
    opt_attr_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects.attrs import (
    BOOL,
    F64,
    I32_INT,
    I64_ARRAY,
    I64_INT,
    SI32,
    TEXT,
    ChoiceKind,
    IntKind,
    Kind,
    ListKind,
    TypedIntAttr,
    default_attr_def,
)
from xdsl_tpu.dialects.base import RANKED, NamedOp
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeInference

F32Attr = FloatAttr[Float32Type]

si64 = IntegerType(64, Signedness.SIGNED)

CHANNELS_FIRST, CHANNELS_LAST = "channels_first", "channels_last"


@dataclass(frozen=True)
class F32Kind(Kind[F32Attr]):
    """A 32-bit float."""

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, FloatAttr) and cast(FloatAttr[Any], attr).type == f32

    def describe(self) -> str:
        return "an f32 number"

    def convert(self, value: Any) -> F32Attr:
        return FloatAttr(float(value), f32)


F32 = F32Kind()
SI64: IntKind[TypedIntAttr] = IntKind(si64)
SI32_ARRAY: ListKind[TypedIntAttr] = ListKind(SI32)
SI64_ARRAY: ListKind[TypedIntAttr] = ListKind(SI64)
TEXT_ARRAY: ListKind[StringAttr] = ListKind(TEXT)
DATA_FORMAT = ChoiceKind(CHANNELS_FIRST, CHANNELS_LAST)

DATA_TYPES = {
    0: "invalid", 1: "char", 2: "f32", 3: "f64", 4: "i8", 5: "i32", 6: "i64", 7: "u8",
    8: "of_record", 9: "f16", 10: "tensor_buffer", 11: "bf16", 12: "bool",
}  # fmt: skip
"""OneFlow's DataType (oneflow/core/common/data_type.proto), printed as its number."""

__all__ = [
    "BOOL",
    "CHANNELS_FIRST",
    "CHANNELS_LAST",
    "DATA_FORMAT",
    "DATA_TYPE",
    "DATA_TYPES",
    "ELEMENTS",
    "F32",
    "F64",
    "I64_ARRAY",
    "SI32",
    "SI32_ARRAY",
    "SI64",
    "SI64_ARRAY",
    "TEXT",
    "TEXT_ARRAY",
    "OneFlowOp",
    "UnaryOp",
    "channel_axis",
    "default_attr_def",
    "si64",
]  # fmt: skip


@dataclass(frozen=True)
class DataTypeKind(IntKind[Any]):
    """A `DataType` as i32."""

    def accepts(self, attr: Attribute) -> bool:
        return super().accepts(attr) and cast(TypedIntAttr, attr).value.data in DATA_TYPES

    def describe(self) -> str:
        return "a data type, an i32 from 0 to 12"


DATA_TYPE = DataTypeKind(I32_INT.type)


@dataclass(frozen=True)
class ElementsKind(Kind[DenseIntOrFPElementsAttr[Any]]):
    """The f32 elements of a tensor: `dense<..> : tensor<..xf32>`."""

    def accepts(self, attr: Attribute) -> bool:
        if not isinstance(attr, DenseIntOrFPElementsAttr):
            return False
        kind = cast(DenseIntOrFPElementsAttr[Any], attr).type
        return isinstance(kind, TensorType) and kind.element_type == f32

    def describe(self) -> str:
        return "dense<..> : tensor<..xf32>"

    def convert(self, value: Any) -> DenseIntOrFPElementsAttr[Any]:
        raise TypeError("elements have no shape of their own: give the attribute")


ELEMENTS = ElementsKind()


class OneFlowOp(ShapeInference, NamedOp, ABC):
    """An op of a job: its name, where it runs, and verified shapes.

    `op_name` names the op's tensors; other attributes say on which devices it runs. All of them
    may be missing in text written by hand.
    """

    op_name = opt_attr_def(TEXT)
    device_tag = opt_attr_def(TEXT)
    device_name = opt_attr_def(TEXT_ARRAY)
    scope_symbol_id = opt_attr_def(I64_INT)
    hierarchy = opt_attr_def(I64_ARRAY)
    output_lbns = opt_attr_def(TEXT_ARRAY)

    def operand_index(self, name: str) -> int | None:
        """Where the operand declared as `name` is among `operands`; None when it is absent.

        Only for operands that stand for at most one value.
        """
        index = 0
        for declared, definition in self.get_irdl_definition().operands:
            value: SSAValue | None = None
            if not isinstance(definition, VarOperandDef) or isinstance(definition, OptOperandDef):
                value = getattr(self, declared)
            if declared == name:
                return None if value is None else index
            index += value is not None
        raise KeyError(f"{self.name} has no operand {name}")


class UnaryOp(OneFlowOp, ABC):
    """One tensor in, one of the same shape out."""

    input = operand_def(RANKED)
    output = result_def(RANKED)

    traits = traits_def(Pure())

    def result_shapes(self) -> tuple[Shape, ...]:
        return (self.shape_of(self.input),)


def channel_axis(data_format: StringAttr, rank: int) -> int:
    """The dimension of channels in a tensor of `rank`."""
    return 1 if data_format.data == CHANNELS_FIRST else rank - 1


def same_element_type(op: OneFlowOp, *values: SSAValue | None) -> None:
    """Raise VerifyException unless all values that are there have elements of one type."""
    kinds = [cast(TensorType[Attribute], v.type).element_type for v in values if v is not None]
    if len(set(kinds)) > 1:
        listed = ", ".join(map(str, kinds))
        raise VerifyException(f"operands and results must have one element type, not {listed}")
