"""Moves that many patterns make on the graph of ops: users, types, replacements."""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import LocationAttr, ModuleOp, NoneType, TensorType, UnknownLoc
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import CalibratedType
from xdsl_tpu.dialects.top import InputOp, NoneOp, WeightOp
from xdsl_tpu.passes.tensors import element_of

OpT = TypeVar("OpT", bound=Operation)


def module_of(op: Operation) -> ModuleOp:
    """The outermost module around `op`."""
    outermost = op
    while (parent := outermost.parent_op()) is not None:
        outermost = parent
    if not isinstance(outermost, ModuleOp):
        raise TpuError(f"{op.name} is in no module")
    return outermost


def producer(value: SSAValue, kind: type[OpT]) -> OpT | None:
    """The op of class `kind` that makes `value`; None when something else does."""
    return value.owner if isinstance(value.owner, kind) else None


def sole_producer(value: SSAValue, kind: type[OpT]) -> OpT | None:
    """Like `producer`, when `value` has no other use as well."""
    return producer(value, kind) if value.has_one_use() else None


def sole_user(value: SSAValue, kind: type[OpT]) -> OpT | None:
    """The op of class `kind` that is the only use of `value`."""
    use = value.get_unique_use()
    return use.operation if use is not None and isinstance(use.operation, kind) else None


def users(value: SSAValue) -> list[Operation]:
    """The distinct users of a value, in the order of the block."""
    return in_order(dict.fromkeys(use.operation for use in value.uses), value.owner)


def uses_in_order(value: SSAValue) -> list[Use]:
    """The uses of a value in the order of the block, then of the operands."""
    uses = list(value.uses)
    place = {
        op: place for place, op in enumerate(in_order({use.operation for use in uses}, value.owner))
    }
    return sorted(uses, key=lambda use: (place[use.operation], use.index))


def has_shapes(*values: SSAValue) -> bool:
    """Whether all values are tensors of known shape."""
    return all(known_shape(value.type) is not None for value in values)


def tensor_like(value: SSAValue, shape: Iterable[int]) -> TensorType[Attribute]:
    """The type of a tensor of `value`'s element type."""
    return TensorType(element_of(value), tuple(shape))


def derived_name(subject: Operation | SSAValue, suffix: str) -> str:
    """A name for a new tensor that comes from another; unnamed ops lend their kind."""
    owner = subject if isinstance(subject, Operation) else subject.owner
    kind = owner.name.rpartition(".")[2] if isinstance(owner, Operation) else "argument"
    return f"{name_of(subject) or kind}{suffix}"


def rebuilt(
    op: OpT,
    *,
    operands: Sequence[SSAValue | Operation] | None = None,
    result_types: Sequence[Attribute] | None = None,
    location: LocationAttr | None = None,
) -> OpT:
    """A copy of an op without regions, with other operands, result types or another name."""
    given = op.operands if operands is None else operands
    return type(op).create(
        operands=[SSAValue.get(operand) for operand in given],
        result_types=op.result_types if result_types is None else result_types,
        attributes=dict(op.attributes),
        location=op.location if location is None else location,
    )


def is_returned(op: Operation) -> bool:
    """Whether the function returns a result of `op`."""
    return any(isinstance(use.operation, ReturnOp) for result in op.results for use in result.uses)


def drop(op: Operation, value: SSAValue, rewriter: PatternRewriter) -> None:
    """Remove an op that changes nothing: its users read `value` instead.

    A result of the function keeps its name: the op that makes `value` takes it over, unless that
    is an input or weight, or its own result is returned as well. A calibrated range stays, too.
    """
    maker = value.owner
    if (
        is_returned(op)
        and isinstance(maker, Operation)
        and not isinstance(maker, InputOp | WeightOp)
        and not is_returned(maker)
    ):
        maker.location = op.location
    if (
        not is_calibrated(value)
        and is_calibrated(op.results[0])
        and not isinstance(maker, WeightOp)
    ):
        value = rewriter.replace_value_with_new_type(value, op.results[0].type)
    rewriter.replace(op, (), (value,))


def is_like(one: SSAValue, other: SSAValue) -> bool:
    """Whether two values have one shape and element type; ranges of their numbers may differ."""
    return without_range(one) == without_range(other)


def without_range(value: SSAValue) -> Attribute:
    """The type of a value, of plain floats where it is calibrated."""
    if is_ranked_tensor(value.type):
        element = value.type.element_type
        if isinstance(element, CalibratedType):
            return TensorType(element.expressed, value.type.get_shape())
    return value.type


def is_calibrated(value: SSAValue) -> bool:
    """Whether the range of a value's numbers is part of its type."""
    return isinstance(value.type, TensorType) and isinstance(element_of(value), CalibratedType)


def none_for(op: Operation, rewriter: PatternRewriter) -> SSAValue:
    """The value that stands for an absent operand, from the start of `op`'s block."""
    block = op.parent
    assert block is not None
    for first in block.ops:
        if isinstance(first, NoneOp):
            return first.output
        if not isinstance(first, InputOp | WeightOp):
            break
    made = NoneOp.make(UnknownLoc(), (), result_types=[NoneType()])
    rewriter.insert(made, InsertPoint.at_start(block))
    return made.output


def none_before(op: Operation) -> SSAValue:
    """The value that stands for an absent operand, from anywhere before `op` in its block."""
    block = op.parent
    assert block is not None
    for earlier in block.ops:
        if isinstance(earlier, NoneOp):
            return earlier.output
        if earlier is op:
            break
    made = NoneOp.make(UnknownLoc(), (), result_types=[NoneType()])
    first = block.first_op
    assert first is not None
    block.insert_op_before(made, first)
    return made.output


def in_order(ops: Collection[Operation], since: Operation | Block | None = None) -> list[Operation]:
    """Ops of one block in its order, found in one walk; `since`: none of them is in front of it."""
    left = set(ops)
    if len(left) < 2:
        return list(left)
    block = next(iter(left)).parent
    assert block is not None
    op, found = block.first_op, list[Operation]()
    if isinstance(since, Operation) and since.parent is block:
        op = since
    while op is not None:
        if op in left:
            found.append(op)
            if len(found) == len(left):
                return found
        op = op.next_op
    raise ValueError("ops of different blocks have no order")
