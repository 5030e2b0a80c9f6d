"""Ranges of a function that are alike: blocks of a network repeat, and so does what they cost."""

from collections.abc import Callable, Hashable, Sequence

from xdsl.ir import Operation, OpResult, SSAValue

from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.layer_group.moves import Deferred


class Alikeness:
    """A number for each op of a function, by what it is and how far before and behind it the ops
    are that it reads from and that read it: ranges with equal numbers differ in values and names
    only, and what leaves one leaves the other.

    `signature` is that of an op without its neighbours (`Prices.signature`).
    """

    def __init__(
        self,
        ops: Sequence[Operation],
        moves: Deferred,
        signature: Callable[[Operation], int],
    ) -> None:
        self._places = {op: place for place, op in enumerate(ops)}
        self._moves, self._signature = moves, signature
        known: dict[Hashable, int] = {}
        described = [self._described(op, place) for place, op in enumerate(ops)]
        self._numbers = tuple(known.setdefault(one, len(known)) for one in described)

    def of(self, start: int, end: int) -> tuple[int, ...]:
        """Equal for ops[start:end] and others like them."""
        return self._numbers[start:end]

    def _described(self, op: Operation, place: int) -> Hashable:
        operands = tuple(self._source(value, place) for value in op.operands)
        results = tuple(self._uses(v, place) for v in op.results if not is_none(v))
        return self._signature(op), operands, results

    def _source(self, value: SSAValue, place: int) -> Hashable:
        """Where an operand comes from, which of its maker's results it is, who else reads it, and
        the movement that its Load may do; None for an absent one."""
        if is_none(value):
            return None
        came: Hashable = None
        if isinstance(value, OpResult) and value.owner in self._places:
            came = self._places[value.owner] - place, value.index
        move = self._moves.get(value)
        moved: Hashable = None
        if move is not None:
            chain = tuple(self._signature(one) for one in move.chain)
            moved = chain, move.first - place, move.last - place, move.cycles
        return came, self._uses(value, place), moved

    def _uses(self, value: SSAValue, place: int) -> Hashable:
        """How far away the readers of a value are, and as which operand they read it; of those
        outside the function how many there are."""
        found = [(self._places.get(use.operation), use.index) for use in value.uses]
        inside = sorted((at - place, index) for at, index in found if at is not None)
        return tuple(inside), len(found) - len(inside)
