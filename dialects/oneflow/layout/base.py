"""What the layouts of all `oneflow` ops share."""

from abc import ABC
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import ClassVar, cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.attrs import si32
from xdsl_tpu.dialects.interfaces.layout import LayoutInterface, Order, Orders, permuted_type
from xdsl_tpu.dialects.names import OP_NAME
from xdsl_tpu.dialects.oneflow.base import OneFlowOp

PLACEMENT = ("device_name", "device_tag", "hierarchy", "scope_symbol_id")
"""The attributes that say where an op runs."""

_CPU = StringAttr("cpu")
SI64 = IntegerType(64, Signedness.SIGNED)
_SHAPE = "xdsl_tpu.dialects.oneflow.shape"


def placement_of(op: Operation) -> Mapping[str, Attribute]:
    """Where an op runs, as attributes for one that is to run beside it."""
    return {key: op.attributes[key] for key in PLACEMENT if key in op.attributes}


def operand_indices(op: Operation, *names: str) -> list[int]:
    """Where operands are that are declared as `names`, without those that are absent."""
    found = (cast(OneFlowOp, op).operand_index(name) for name in names)
    return [index for index in found if index is not None]


def insert_transpose(
    op: Operation, value: SSAValue, order: Order, name: str, builder: Builder
) -> SSAValue:
    """A transposition called `name` that runs where `op` does."""
    made = import_module(_SHAPE).TransposeOp.create(
        operands=[value],
        result_types=[permuted_type(value.type, order)],
        attributes={
            **placement_of(op),
            OP_NAME: StringAttr(name),
            "perm": ArrayAttr([IntegerAttr(axis, si32) for axis in order]),
        },
        location=op.location,
    )
    return builder.insert(made).results[0]


def insert_reshape(
    op: Operation, value: SSAValue, shape: Sequence[int], builder: Builder, name: str | None = None
) -> SSAValue:
    """The elements of `value` under another shape, where `op` runs, by its name or another."""
    names = {OP_NAME: StringAttr(name)} if name else _names_of(op)
    made = import_module(_SHAPE).ReshapeOp.create(
        operands=[value],
        result_types=[TensorType(cast(TensorType[Attribute], value.type).element_type, shape)],
        attributes={
            **placement_of(op),
            **names,
            "shape": ArrayAttr([IntegerAttr(size, SI64) for size in shape]),
        },
        location=op.location,
    )
    return builder.insert(made).results[0]


def _names_of(op: Operation) -> dict[str, Attribute]:
    return {key: op.attributes[key] for key in (OP_NAME, "output_lbns") if key in op.attributes}


class OneFlowLayout(LayoutInterface, ABC):
    """An op whose transpositions are those of OneFlow; names are those of ops, not of tensors."""

    names_tensors: ClassVar[bool] = False

    def make_transpose(
        self, op: Operation, value: SSAValue, order: Order, name: str, builder: Builder
    ) -> SSAValue:
        return insert_transpose(op, value, order, name, builder)

    def name(self, op: Operation) -> str | None:
        """The attribute `op_name`."""
        name = op.attributes.get(OP_NAME)
        return name.data if isinstance(name, StringAttr) else None

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        """Not on a CPU."""
        return op.attributes.get("device_tag") != _CPU and super().can_permute(op, orders)
