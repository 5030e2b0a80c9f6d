"""Which type a range of ops has as a group, and why not another (docs/hardware/groups.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_shapes import ncdhw
from xdsl_tpu.dialects.interfaces.shape import dims
from xdsl_tpu.dialects.interfaces.shape_rules import axis_of
from xdsl_tpu.passes.layer_group.lmem_size import MERGED_TAPS
from xdsl_tpu.passes.layer_group.sections import BINARY
from xdsl_tpu.passes.layer_group.values import GroupType
from xdsl_tpu.passes.tensors import required_name, shape_of

ARITHMETIC = (
    tpu.AddOp,
    tpu.SubOp,
    tpu.MulOp,
    tpu.DivOp,
    tpu.MinOp,
    tpu.MaxOp,
    tpu.CompareOp,
    tpu.AddConstOp,
    tpu.SubConstOp,
    tpu.MinConstOp,
    tpu.MaxConstOp,
)
"""Plain arithmetic on one or two tensors."""

SMALL_C = (
    tpu.ActiveOp,
    tpu.CastOp,
    tpu.LayerNormOp,
    tpu.MulConstOp,
    tpu.MatMulOp,
    tpu.SoftmaxOp,
    tpu.RMSNormOp,
    tpu.ReshapeOp,
    tpu.LutOp,
    tpu.BinaryShiftOp,
    *ARITHMETIC,
)

MM = (
    tpu.ActiveOp,
    tpu.AddOp,
    tpu.CastOp,
    tpu.LayerNormOp,
    tpu.MulConstOp,
    tpu.MatMulOp,
    tpu.MulOp,
    tpu.ReshapeOp,
    tpu.SoftmaxOp,
    tpu.AttentionOp,
    tpu.RMSNormOp,
    tpu.MulShiftOp,
    tpu.WhereOp,
    tpu.BatchNormBwdOp,
    tpu.LutOp,
    tpu.BinaryConstShiftOp,
    tpu.BinaryShiftOp,
    tpu.AddConstOp,
    tpu.ReduceOp,
    tpu.ClipOp,
    tpu.DivOp,
    tpu.RopeOp,
    tpu.ConcatOp,
)

MAX_SMALL_C = 32
"""From this many channels on the lanes are not filled by moving h into them."""


@dataclass(frozen=True)
class GroupChoice:
    """The type of a group and, for every type that was tried before it, why it is not that."""

    kind: GroupType
    why_not: Mapping[GroupType, str]


def choose_type(ops: Sequence[Operation], lanes: int) -> GroupChoice:
    """The first type that suits all ops, out of THREE_D, SMALL_C, MM and NORMAL.

    A single op is always NORMAL.
    """
    if len(ops) == 1:
        return GroupChoice(GroupType.NORMAL, {})
    why_not: dict[GroupType, str] = {}
    for kind, test in _TESTS.items():
        why = test(ops, lanes)
        if why is None:
            return GroupChoice(kind, why_not)
        why_not[kind] = why
    return GroupChoice(GroupType.NORMAL, why_not)


class RangeTypes:
    """The types of all ranges of a sequence of ops, by what each op alone says."""

    def __init__(self, ops: Sequence[Operation], lanes: int) -> None:
        self._deep = _last([_is_three_d(op) for op in ops])
        self._bad = {
            kind: _last([test((op,), lanes) is not None for op in ops])
            for kind, test in _TESTS.items()
            if kind is not GroupType.THREE_D
        }

    def of(self, start: int, end: int) -> GroupType:
        """What `choose_type` chooses for ops[start:end]."""
        if end - start == 1:
            return GroupType.NORMAL
        if self._deep[end - 1] >= start:
            return GroupType.THREE_D
        return next((k for k, bad in self._bad.items() if bad[end - 1] < start), GroupType.NORMAL)


def _last(marks: Sequence[bool]) -> list[int]:
    """For every place the last one up to it that is marked, or -1."""
    found: list[int] = []
    for index, mark in enumerate(marks):
        found.append(index if mark else found[-1] if found else -1)
    return found


def type_problem(ops: Sequence[Operation], kind: GroupType) -> str | None:
    """Why a range of ops cannot be a group of the type that was chosen; None when it can.

    A product of a 4-D or 5-D tensor and a matrix has its rows in the lanes only in SMALL_C.
    """
    for op in ops:
        if isinstance(op, tpu.Conv2DOp) and not _can_merge_taps(op, set(ops)):
            return f"{_which(op)} merges filter taps into channels, so it needs a load of its own"
    if kind is GroupType.SMALL_C:
        return None
    inside = set(ops)
    for op in ops:
        name = _stretched_inside(op, inside, kind)
        if name is not None:
            return f"{_which(op)} needs the one channel of '{name}' in all lanes: load it"
        if not isinstance(op, tpu.MatMulOp):
            continue
        left, right = shape_of(op.input), shape_of(op.right)
        if len(left) in (4, 5) and len(right) == 2:
            return (
                f"{_which(op)} multiplies {dims(left)} by {dims(right)}, which works in a group "
                "of type SMALL_C only"
            )
    return None


def _stretched_inside(op: Operation, inside: set[Operation], kind: GroupType) -> str | None:
    """The operand that an op repeats along its channels though the group computes it.

    A load brings one channel to all lanes; what is computed lies in the first one.
    """
    if not isinstance(op, BINARY) or ncdhw(shape_of(op.results[0]), kind, 1).c == 1:
        return None
    for operand in op.operands:
        if operand.owner in inside and ncdhw(shape_of(operand), kind, 1).c == 1:
            return required_name(operand)
    return None


def _can_merge_taps(conv: tpu.Conv2DOp, inside: set[Operation]) -> bool:
    """Whether the operand of a convolution can be loaded with its taps side by side.

    It enters the group, perhaps through casts, and nothing else there or behind reads it.
    """
    if not conv.use_3ic_optimize.value.data & MERGED_TAPS:
        return True
    value = conv.input
    while isinstance(value.owner, tpu.CastOp) and value.owner in inside:
        if len(list(value.uses)) > 1:
            return False
        value = value.owner.input
    readers = {use.operation for use in value.uses} & inside
    return value.owner not in inside and len(readers) == 1


def _which(op: Operation) -> str:
    return f"'{required_name(op)}' ({op.name})"


def _three_d_problem(ops: Sequence[Operation], lanes: int) -> str | None:
    if any(map(_is_three_d, ops)):
        return None
    return "there is no 3-D convolution or pooling and no LayerNorm of rank 5"


def _is_three_d(op: Operation) -> bool:
    if isinstance(op, tpu.LayerNormOp):
        return len(shape_of(op.input)) == 5
    return isinstance(op, tpu.Conv3DOp | tpu.Pool3DOp)


def _small_c_problem(ops: Sequence[Operation], lanes: int) -> str | None:
    for op in ops:
        if not isinstance(op, SMALL_C):
            return f"{_which(op)} is not among the ops of SMALL_C"
        why = _operands_problem(op) or _common_problem(op) or _small_c_op_problem(op, lanes)
        if why is None:
            why = _channels_problem(shape_of(op.operands[0]), lanes)
        if why is not None:
            return f"{_which(op)}: {why}"
    return None


def _operands_problem(op: Operation) -> str | None:
    """Operands of element-wise ops must lie alike; only BinaryShift may stretch the last axis."""
    if not isinstance(op, BINARY):
        return None
    shapes = [shape_of(operand) for operand in op.operands if not is_none(operand)]
    both = " and ".join(map(dims, shapes))
    if isinstance(op, tpu.BinaryShiftOp):
        alike = {(len(shape), shape[:-1]) for shape in shapes}
        return None if len(alike) == 1 else f"{both} differ in more than the last dimension"
    return None if len(set(shapes)) == 1 else f"{both} differ"


def _common_problem(op: Operation) -> str | None:
    """What SMALL_C and MM ask of normalisations and reshapes alike."""
    if isinstance(op, tpu.LayerNormOp | tpu.SoftmaxOp):
        shape = shape_of(op.input)
        axis = axis_of(op.axis.value.data, len(shape))
        if axis != len(shape) - 1:
            return f"axis {axis} is not the last one of {dims(shape)}"
    if isinstance(op, tpu.ReshapeOp):
        source, target = shape_of(op.input), shape_of(op.output)
        if source[:2] != target[:2]:
            return f"{dims(source)} to {dims(target)} changes dimension 0 or 1"
    return None


def _small_c_op_problem(op: Operation, lanes: int) -> str | None:
    if isinstance(op, tpu.MatMulOp) and op.hdim_is_batch:
        return "its batch is in dimensions 0 and 2"
    if not isinstance(op, tpu.ReshapeOp):
        return None
    source, target = shape_of(op.input), shape_of(op.output)
    both = f"{dims(source)} to {dims(target)}"
    if not all(3 <= len(shape) <= 5 for shape in (source, target)):
        return f"{both} has a rank other than 3 to 5"
    if prod(source[:-1]) % lanes == 0:
        return f"{both} would move data between lanes, which the input fills evenly"
    if len(source) == 4 and source[2:3] != target[2:3]:
        return f"{both} changes dimension 2"
    return None


def _channels_problem(shape: tuple[int, ...], lanes: int) -> str | None:
    """Whether moving h into the lanes fills them better than c does."""
    rank, text = len(shape), dims(shape)
    if rank in (4, 5) and prod(shape[:-1]) % lanes == 0:
        return None
    if rank == 3 and shape[0] > 4 and shape[1] == 197:
        return None
    if rank not in (4, 5):
        return f"{text} has neither rank 4 nor 5"
    if shape[-2] <= shape[1]:
        return f"dimension 1 of {text} fills the lanes at least as well as dimension {rank - 2}"
    if shape[1] >= MAX_SMALL_C:
        return f"dimension 1 of {text} is not below {MAX_SMALL_C}"
    return None


def _mm_problem(ops: Sequence[Operation], lanes: int) -> str | None:
    for op in ops:
        if not isinstance(op, MM):
            return f"{_which(op)} is not among the ops of MM"
        why = _common_problem(op) or _mm_op_problem(op)
        if why is not None:
            return f"{_which(op)}: {why}"
    return None


def _mm_op_problem(op: Operation) -> str | None:
    if isinstance(op, tpu.ReshapeOp):
        source, target = shape_of(op.input), shape_of(op.output)
        if min(len(source), len(target)) < 3:
            return f"{dims(source)} to {dims(target)} has a rank below 3"
    if isinstance(op, tpu.MatMulOp) and op.left_transpose and op.right_transpose:
        return "both matrices are transposed"
    if isinstance(op, tpu.AttentionOp) and is_none(op.keys):
        return "it has no keys of its own"
    return None


_TESTS: dict[GroupType, Callable[[Sequence[Operation], int], str | None]] = {
    GroupType.THREE_D: _three_d_problem,
    GroupType.SMALL_C: _small_c_problem,
    GroupType.MM: _mm_problem,
}
