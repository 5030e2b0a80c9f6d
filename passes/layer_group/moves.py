"""Movement between groups that Loads may do instead of an op.

A Permute in front of a group is a copy from DDR to DDR, unless the group's Load does its work by
strides (the pass `absorb-moves` decides that afterwards). So what such an op costs depends on who
reads its result, and is counted there.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.kernels.support import DdrValue
from xdsl_tpu.backend.local.gather import reading, strided
from xdsl_tpu.backend.local.measure import Moved
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.absorbed import set_absorbed
from xdsl_tpu.dialects.interfaces.movement import KeepsOrder, Moves
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.passes.layer_group.base_groups import BaseGroup
from xdsl_tpu.passes.layer_group.prices import Part, Prices


def is_kept_global(base: BaseGroup) -> bool:
    """Whether the ops of a base group cannot or should not be groups: lone views and movement
    are better done by whoever reads the result."""
    return base.why_global is not None or (len(base.ops) == 1 and _is_deferrable(base.ops[0]))


def _is_deferrable(op: Operation) -> bool:
    return isinstance(op, KeepsOrder) or _is_read_by_strides(op)


def _is_read_by_strides(op: Operation) -> bool:
    return isinstance(op, Moves) and op.is_read_by_strides()


@dataclass(frozen=True)
class Move:
    """A chain of views and movement that nothing but its end's readers needs.

    `first` and `last` are the places of these readers.
    """

    chain: tuple[Operation, ...]
    first: int
    last: int
    prices: Prices

    @cached_property
    def cycles(self) -> int:
        """What executing it takes, which often nobody asks: ways to move take long to find."""
        movers = filter(_is_read_by_strides, self.chain)
        return sum(self.prices.alone(one).cycles for one in movers)


class Deferred:
    """The moves of a function, by the value at their end; `deferred` are ops that are part."""

    def __init__(self, found: dict[SSAValue, Move], prices: Prices) -> None:
        self.found, self.prices = found, prices
        self.deferred = {op for move in found.values() for op in move.chain}

    def __contains__(self, value: object) -> bool:
        return value in self.found

    def __getitem__(self, value: SSAValue) -> Move:
        return self.found[value]

    def get(self, value: SSAValue) -> Move | None:
        """The move that ends in a value."""
        return self.found.get(value)

    def in_strides(self, move: Move, value: SSAValue) -> bool:
        """Whether a value lies in the operand of a chain in one stride for each dimension, so that
        Loads of filter taps as channels take as long as of a value by itself."""
        with _absorbed(move.chain):
            read, shape = reading(value), known_shape(value.type)
        if read is None or shape is None or len(shape) != 4:
            return False
        return strided(DdrValue(0, shape, DType.F32), read.moves, shape) is not None

    def load(self, move: Move, value: SSAValue, part: Part, plain: Moved) -> Moved:
        """A Load that does the move, or the copy and a plain Load."""
        signatures = tuple(self.prices.signature(op) for op in move.chain)
        with _absorbed(move.chain):
            gathered = self.prices.gathered(value, signatures, part)
        if gathered is not None and gathered <= plain.gdma:
            return Moved(gathered)
        executed = plain.gdma + move.cycles
        return Moved(executed if gathered is None else min(gathered, executed))


@contextmanager
def _absorbed(chain: Sequence[Operation]) -> Generator[None]:
    """As if Loads did what the ops of a chain do."""
    movers = list(filter(_is_read_by_strides, chain))
    for op in movers:
        set_absorbed(op, True)
    try:
        yield
    finally:
        for op in movers:
            set_absorbed(op, False)


def find_moves(ops: Sequence[Operation], is_global: Sequence[bool], prices: Prices) -> Deferred:
    """All chains in front of ops, by the value that these read."""
    position = {op: index for index, op in enumerate(ops)}
    found: dict[SSAValue, Move] = {}
    for index, op in enumerate(ops):
        if not _links(op, index, is_global):
            continue
        users = [position.get(use.operation) for use in op.results[0].uses]
        readers = [place for place in users if place is not None]
        if not readers or len(readers) < len(users):
            continue
        if any(_links(ops[place], place, is_global) for place in readers):
            continue  # not the end of the chain
        chain = tuple(_chain(op, position, is_global))[::-1]
        if any(map(_is_read_by_strides, chain)):
            found[op.results[0]] = Move(chain, min(readers), max(readers), prices)
    return Deferred(found, prices)


def _chain(
    op: Operation, position: dict[Operation, int], is_global: Sequence[bool]
) -> Iterator[Operation]:
    """From the last op of a chain to the first."""
    yield op
    source = op.operands[0].owner
    while isinstance(source, Operation) and len(list(source.results[0].uses)) == 1:
        place = position.get(source)
        if place is None or not _links(source, place, is_global):
            break
        yield source
        source = source.operands[0].owner


def _links(op: Operation, index: int, is_global: Sequence[bool]) -> bool:
    return is_global[index] and _is_deferrable(op)
