"""Which type a range of ops has as a group, and why not another (docs/hardware/groups.md)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from xdsl.ir import Operation

from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps
from xdsl_tpu.dialects.interfaces.shape import dims
from xdsl_tpu.passes.layer_group.values import GroupType
from xdsl_tpu.passes.tensors import required_name, shape_of

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
        self._deep = _last(list(map(_is_deep, ops)))
        self._bad = {
            kind: _last([test((op,), lanes) is not None for op in ops])
            for kind, test in _TESTS.items()
            if kind is not GroupType.THREE_D
        }

    def stretches(self, first: int, end: int) -> Iterator[tuple[int, int, GroupType]]:
        """What `choose_type` chooses for ops[start:end]: for start from a number up to another,
        from `first` to `end`."""
        lasts = (self._deep, *self._bad.values())
        marks = {first, end - 1, *(one[end - 1] + 1 for one in lasts)}
        for start, stop in pairwise([*sorted(at for at in marks if first <= at < end), end]):
            yield start, stop, self.of(start, end)

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
    """Why a range of ops cannot be a group of the type that was chosen; None when it can."""
    inside = set(ops)
    for op in ops:
        if isinstance(op, MergesTaps) and not _can_merge_taps(op, inside):
            return f"{_which(op)} merges filter taps into channels, so it needs a load of its own"
    if kind is GroupType.SMALL_C:
        return None
    for op in ops:
        why = _problem(op, kind, 1)
        if why is not None:
            return f"{_which(op)}: {why}"
    return None


def _problem(op: Operation, kind: GroupType, lanes: int) -> str | None:
    return op.type_problem(kind, lanes) if isinstance(op, LocalGen) else "it has no local form"


def _can_merge_taps(op: MergesTaps, inside: set[Operation]) -> bool:
    """Whether an operand can be loaded with taps side by side, if it is to be.

    It enters the group, perhaps through ops that follow their reader, and nothing else there or
    behind reads it.
    """
    if not any(op.merged_taps()):
        return True
    value = op.operands[0]
    while isinstance(value.owner, LocalGen) and value.owner.follows_reader():
        if value.owner not in inside:
            break
        if len(list(value.uses)) > 1:
            return False
        value = value.owner.operands[0]
    readers = {use.operation for use in value.uses} & inside
    return value.owner not in inside and len(readers) == 1


def _which(op: Operation) -> str:
    return f"'{required_name(op)}' ({op.name})"


def _three_d_problem(ops: Sequence[Operation], lanes: int) -> str | None:
    return None if any(map(_is_deep, ops)) else "no op of it has a depth of its own"


def _is_deep(op: Operation) -> bool:
    return isinstance(op, LocalGen) and op.is_deep()


def _small_c_problem(ops: Sequence[Operation], lanes: int) -> str | None:
    for op in ops:
        why = _problem(op, GroupType.SMALL_C, lanes)
        if why is None:
            why = _channels_problem(shape_of(op.operands[0]), lanes)
        if why is not None:
            return f"{_which(op)}: {why}"
    return None


def _channels_problem(shape: tuple[int, ...], lanes: int) -> str | None:
    """Whether moving h into the lanes fills them better than c does."""
    rank, text = len(shape), dims(shape)
    if rank in (4, 5) and shape[1] % lanes == 0:
        return f"dimension 1 of {text} fills the lanes"
    if rank in (4, 5) and prod(shape[:-1]) % lanes == 0:
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
        why = _problem(op, GroupType.MM, lanes)
        if why is not None:
            return f"{_which(op)}: {why}"
    return None


_TESTS: dict[GroupType, Callable[[Sequence[Operation], int], str | None]] = {
    GroupType.THREE_D: _three_d_problem,
    GroupType.SMALL_C: _small_c_problem,
    GroupType.MM: _mm_problem,
}
