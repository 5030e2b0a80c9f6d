"""Which type a range of ops has as a group, and why it cannot be a group of that."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from xdsl.ir import Operation

from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps
from xdsl_tpu.passes.layer_group.values import GroupType
from xdsl_tpu.passes.tensors import required_name


def group_type(ops: Sequence[Operation]) -> GroupType:
    """THREE_D of several ops of which one has a depth of its own, otherwise NORMAL."""
    return RangeTypes(ops).of(0, len(ops))


class RangeTypes:
    """The types of all ranges of a sequence of ops, by what each op alone says."""

    def __init__(self, ops: Sequence[Operation]) -> None:
        self._deep: list[int] = []
        """For every place the last one up to it with an op that has a depth, or -1."""
        for index, op in enumerate(ops):
            deep = isinstance(op, LocalGen) and op.is_deep()
            self._deep.append(index if deep else self._deep[-1] if index else -1)

    def stretches(self, first: int, end: int) -> Iterator[tuple[int, int, GroupType]]:
        """The types of ops[start:end]: for start from a number up to another, from `first` to
        `end`."""
        marks = [first, min(max(first, self._deep[end - 1] + 1), end - 1), end - 1, end]
        for start, stop in pairwise(marks):
            if start < stop:
                yield start, stop, self.of(start, end)

    def of(self, start: int, end: int) -> GroupType:
        """That of ops[start:end]."""
        deep = end - start > 1 and self._deep[end - 1] >= start
        return GroupType.THREE_D if deep else GroupType.NORMAL


def type_problem(ops: Sequence[Operation], kind: GroupType) -> str | None:
    """Why a range of ops cannot be a group of its type; None when it can."""
    inside = set(ops)
    for op in ops:
        assert isinstance(op, LocalGen)
        if isinstance(op, MergesTaps) and not _can_merge_taps(op, inside):
            return f"{_which(op)} merges filter taps into channels, so it needs a load of its own"
        why = op.type_problem(kind)
        if why is not None:
            return f"{_which(op)}: {why}"
    return None


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
