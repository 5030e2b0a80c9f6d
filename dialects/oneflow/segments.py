"""Sizes of operand and result groups, in the spelling of any LLVM release.

An op with several optional operands says in an attribute which of them are there. It is called
`operand_segment_sizes`, in newer text `operandSegmentSizes`, and holds `array<i32: 1, 0>`, in older
text (before LLVM 16) `dense<[1, 0]> : vector<2xi32>`. It is kept as it was read.
"""

from dataclasses import dataclass
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, VectorType, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    VariadicDef,
    irdl_op_definition,
)
from xdsl.utils.exceptions import VerifyException

OpT = TypeVar("OpT", bound=IRDLOperation)

_OPERANDS = ("operand_segment_sizes", "operandSegmentSizes")
_RESULTS = ("result_segment_sizes", "resultSegmentSizes")


def _sizes(attribute: Attribute, key: str) -> tuple[int, ...]:
    if isinstance(attribute, DenseArrayBase):
        array = cast(DenseArrayBase[Any], attribute)
        if array.elt_type == i32:
            return tuple(int(size) for size in array.get_values())
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        dense = cast(DenseIntOrFPElementsAttr[Any], attribute)
        if isinstance(dense.type, VectorType) and dense.get_element_type() == i32:
            return tuple(int(size) for size in dense.get_values())
    raise VerifyException(
        f"{key} must be array<i32: ..> or dense<[..]> : vector<..xi32>, not {attribute}"
    )


def _sizes_by_count(count: int, optional: list[bool]) -> tuple[int, ...] | None:
    """Group sizes without an attribute: all optional ones absent, or all there."""
    if count == len(optional):
        return (1,) * count
    if count == optional.count(False):
        return tuple(0 if may_lack else 1 for may_lack in optional)
    return None


def _container(
    op: Operation, keys: tuple[str, ...], count: int, optional: list[bool]
) -> dict[str, Attribute]:
    """What xDSL looks the sizes up in: them alone, in the form it knows."""
    given = [key for key in keys if key in op.attributes]
    if given:
        sizes = _sizes(op.attributes[given[0]], given[0])
    elif (by_count := _sizes_by_count(count, optional)) is not None:
        sizes = by_count
    else:
        return {}
    return {keys[0]: DenseArrayBase.from_list(i32, list(sizes))}


@dataclass
class OperandSegments(AttrSizedOperandSegments):
    """xDSL's option, reading every spelling; the attribute may lack where the count decides."""

    attribute_name = _OPERANDS[0]

    def container(self, op: Operation) -> dict[str, Attribute]:
        definitions = cast(IRDLOperation, op).get_irdl_definition().operands
        optional = [isinstance(one, VariadicDef) for _, one in definitions]
        return _container(op, _OPERANDS, len(op.operands), optional)


@dataclass
class ResultSegments(AttrSizedResultSegments):
    """As `OperandSegments`, of results."""

    attribute_name = _RESULTS[0]

    def container(self, op: Operation) -> dict[str, Attribute]:
        definitions = cast(IRDLOperation, op).get_irdl_definition().results
        optional = [isinstance(one, VariadicDef) for _, one in definitions]
        return _container(op, _RESULTS, len(op.results), optional)


def oneflow_op(declared: type[OpT]) -> type[OpT]:
    """`irdl_op_definition`, without the attribute definition xDSL makes for segment sizes.

    That definition allows one spelling only; `OperandSegments` and `ResultSegments` check instead.
    """
    made = irdl_op_definition(declared)
    attributes = made.get_irdl_definition().attributes
    for key in (_OPERANDS[0], _RESULTS[0]):
        attributes.pop(key, None)
    return made
