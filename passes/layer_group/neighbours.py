"""Ops whose price depends on what else is in their group.

What prepares an operand with filter taps as channels is worked on with the taps apart when its
reader is there, too; and a Load does movement in front of it when that has no other reader.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

from xdsl.ir import Operation

from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, MergesTaps, tap_reader
from xdsl_tpu.passes.layer_group.moves import Deferred


class Neighbours:
    """Those of the ops of a function. Groups are ops[start:end].

    `changed[k]`: the ops before op k whose price in groups that hold them is another when they hold
    op k, too.
    """

    def __init__(self, ops: Sequence[Operation], moves: Deferred) -> None:
        self.ops, self.moves = ops, moves
        self._position = {op: index for index, op in enumerate(ops)}
        self._readers = self._tap_readers()
        self.changed: defaultdict[int, list[int]] = defaultdict(list)
        self._depend: set[int] = set()
        for index, op in enumerate(ops):
            if op in self._readers:
                self._note(index, self._position[self._readers[op]])
            for value in op.operands:
                move = moves.get(value)
                if move is not None and move.first == index:
                    self._note(index, move.last)

    def _note(self, index: int, other: int) -> None:
        """That the price of an op depends on another."""
        self._depend.add(index)
        if other > index:
            self.changed[other].append(index)

    def __contains__(self, index: int) -> bool:
        """Whether the price of an op depends on others."""
        return index in self._depend

    def of(self, index: int, start: int, end: int) -> Hashable:
        """What the price of an op depends on: in groups for which that is equal it is, too."""
        if index not in self._depend:
            return None
        op = self.ops[index]
        moves = (self.moves.get(value) for value in op.operands)
        moved = tuple(
            None if move is None else (start <= move.first, move.last < end) for move in moves
        )
        return self.merging(op, end) is not None, moved

    def merging(self, op: Operation, end: int) -> MergesTaps | None:
        """The op before `end` that reads with taps as channels what `op` prepares for it."""
        reader = self._readers.get(op)
        return reader if reader is not None and self._position[reader] < end else None

    def _tap_readers(self) -> dict[Operation, MergesTaps]:
        found: dict[Operation, MergesTaps] = {}
        for op in self.ops:
            if isinstance(op, LocalGen) and op.follows_reader():
                uses = list(op.results[0].uses)
                reader = tap_reader(op.results[0], self._position.__contains__)
                if len(uses) == 1 and reader is not None:
                    found[op] = reader
        return found
