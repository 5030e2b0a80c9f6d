"""Places in local memory: which element of a value each is, and where those of a movement lead.

A place of a slice is a channel, which a lane holds, and a position within it; as one number,
channels are `CHANNEL` apart.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.context import LocalValue
from xdsl_tpu.backend.local.gather_boxes import CHANNEL, slice_map
from xdsl_tpu.backend.tensor import LocalTensor, contiguous_strides
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap

NEIGHBOURS = CHANNEL, CHANNEL
"""Strides of a loop over lanes that stay beside each other."""


def between(out: LocalValue, x: LocalValue, moves: IndexMap) -> IndexMap:
    """The places in the slice of an operand of what is wanted at places in that of a result, as far
    as they are there; `moves` is the movement of the whole values."""
    return _between(_anywhere(out), _anywhere(x), moves)


def wanted(out: LocalValue, moves: IndexMap) -> int:
    """How many elements of a slice come from an operand."""
    return sum(box.size for box in _read(_anywhere(out), moves).boxes)


def _anywhere(value: LocalValue) -> LocalValue:
    """A slice without its address, on which places do not depend."""
    return replace(value, tensor=replace(value.tensor, address=0))


@lru_cache(maxsize=1 << 10)
def _between(out: LocalValue, x: LocalValue, moves: IndexMap) -> IndexMap:
    return _read(out, moves).after(_elements(x).inverse())


@lru_cache(maxsize=1 << 10)
def _read(out: LocalValue, moves: IndexMap) -> IndexMap:
    """The elements of a whole operand that are wanted at places in the slice of a result."""
    return _elements(out).after(moves)


def in_order(out: LocalValue, x: LocalValue, moves: IndexMap) -> IndexMap:
    """Where in an operand's slice what is wanted is, elements of both counted row-major."""
    return _in_order(_anywhere(out), _anywhere(x), moves)


@lru_cache(maxsize=1 << 10)
def _in_order(out: LocalValue, x: LocalValue, moves: IndexMap) -> IndexMap:
    ends = (replace(v, tensor=_row_major(v.tensor)) for v in (out, x))
    made, given = (_elements(v, v.tensor.strides[1]) for v in ends)
    return made.after(moves).after(given.inverse())


def _elements(value: LocalValue, channel: int = CHANNEL) -> IndexMap:
    return slice_map(value.tensor, value.depth, value.start, value.full, channel)


def _row_major(tensor: LocalTensor) -> LocalTensor:
    return replace(tensor, strides=contiguous_strides(tensor.shape))


def address_of(tensor: LocalTensor, place: int, chip: Chip) -> int:
    """Where a place is."""
    channel, position = divmod(place, CHANNEL)
    group, lane = divmod(channel, chip.lanes)
    address = tensor.at(g=group) + position * tensor.dtype.bytes
    return address + (lane << chip.lane_shift)


class Loops(NamedTuple):
    """The loops of a box: those that lead from lane to lane on both sides, only in the operand,
    only in the result, and those within the lanes."""

    both: tuple[Digit, ...]
    given: tuple[Digit, ...]
    made: tuple[Digit, ...]
    near: tuple[Digit, ...]

    @classmethod
    @lru_cache(maxsize=1 << 10)
    def of(cls, box: Box) -> "Loops":
        """Those of a box from places to places."""
        kinds: dict[tuple[bool, bool], list[Digit]] = {}
        for digit in box.digits:
            far = digit.to >= CHANNEL // 2, abs(digit.at) >= CHANNEL // 2
            kinds.setdefault(far, []).append(digit)
        every = ((True, True), (False, True), (True, False), (False, False))
        return cls(*(tuple(kinds.get(far, ())) for far in every))

    @property
    def stay(self) -> bool:
        """Whether lanes stay beside each other."""
        beside = [(digit.to, digit.at) for digit in self.both] in ([], [NEIGHBOURS])
        return beside and not self.given and not self.made

    @property
    def lanes(self) -> int:
        """How many lanes a loop over lanes of both sides has."""
        return self.both[0].extent if self.both else 1


def apart(box: Box) -> Iterator[Box]:
    """A box without the loops that lead from lane to lane on one side only: one for each turn."""
    loops = Loops.of(box)
    turns = (*loops.given, *loops.made)
    for index in product(*(range(digit.extent) for digit in turns)):
        to = box.to + sum(i * digit.to for i, digit in zip(index, turns, strict=True))
        at = box.at + sum(i * digit.at for i, digit in zip(index, turns, strict=True))
        yield Box(to, at, loops.both + loops.near)
