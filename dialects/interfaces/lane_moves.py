"""Movement within local memory: which lanes elements leave, and which they come to.

A value has its channels over the lanes; one command exchanges lanes with the innermost elements of
each channel. So there are two ways to see a value, and a movement that keeps the lanes under some
way to see its operand and some way to see its result needs nothing but copies within the lanes.

    4096 tokens of 60 numbers to 64 windows of 64 tokens: numbers over the lanes on both sides
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd, prod
from typing import NamedTuple

from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap

MOST_BOXES = 256
"""Movements in more pieces than this are not worth their commands."""

LONGEST_BACKWARDS = 8
"""Each element of a loop that goes backwards in the source is a command of its own."""


class Rows(NamedTuple):
    """A value in local memory: `n` images of `c` channels, each with `run` elements in a lane."""

    n: int
    c: int
    run: int

    @property
    def size(self) -> int:
        """Elements in all."""
        return self.n * self.c * self.run


@dataclass(frozen=True, slots=True)
class LaneWay:
    """How to see both sides of a movement: 0 is channels over the lanes, any other number that
    many innermost elements of each channel instead."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class LaneCopy:
    """Elements that stay in their lanes: `lanes` from `first` on; the digits and both beginnings
    count positions within a lane."""

    first: int
    lanes: int
    to: int
    at: int
    digits: tuple[Digit, ...]


@dataclass(frozen=True, slots=True)
class LaneStep:
    """A movement within local memory, and how its result lies there."""

    moves: IndexMap
    rows: Rows


def rows_of(shape: Sequence[int]) -> Rows:
    """How a value lies in a group of the usual type."""
    n, c = (*shape, 1, 1)[:2]
    return Rows(n, c, prod(shape[2:]))


@lru_cache(maxsize=1 << 10)
def lane_way(moves: IndexMap, source: Rows, target: Rows) -> LaneWay | None:
    """A way to carry out a movement within local memory; None where there is none."""
    for way in _ways(moves, source, target):
        seen = seen_by(source, way.source), seen_by(target, way.target)
        if lane_copies(moves, seen[0], seen[1], apart(source, target)) is not None:
            return way
    return None


def lane_steps(moves: IndexMap, source: Rows, target: Rows) -> list[LaneStep] | None:
    """A movement as one that has a way, or as two, of which one exchanges all channels of each
    image with all that is in a lane; None where there is no way.

        (8 heads x 40) x 49 pixels  ->  49 x (8 x 40)  ->  8 x (49 x 40)
    """
    if lane_way(moves, source, target) is not None:
        return [LaneStep(moves, target)]
    turned = _turned(source)
    rest = moves.after(_turning(turned))
    if lane_way(rest, turned, target) is not None:
        return [LaneStep(_turning(source), turned), LaneStep(rest, target)]
    turned = _turned(target)
    first = _turning(target).after(moves)
    if lane_way(first, source, turned) is not None:
        return [LaneStep(first, turned), LaneStep(_turning(turned), target)]
    return None


def _turned(rows: Rows) -> Rows:
    return Rows(rows.n, rows.run, rows.c)


def _turning(rows: Rows) -> IndexMap:
    """The movement to `_turned` rows."""
    return IndexMap.permuted(rows, (0, 2, 1))


def apart(source: Rows, target: Rows) -> int:
    """A distance between lanes in index maps that positions within a lane stay below."""
    return 2 * max(source.size, target.size)


def seen_by(rows: Rows, turned: int) -> Box:
    """The index map from lane and position to the element, without gaps: lanes are `apart` 0, which
    whoever uses it puts in. The first digit is the lane."""
    n, c, run = rows.n, rows.c, rows.run
    if turned:
        return Box(0, 0, (Digit(turned, 0, 1), Digit(rows.size // turned, 1, turned)))
    return Box(0, 0, (Digit(c, 0, run), Digit(n, run, c * run), Digit(run, 1, 1)))


@lru_cache(maxsize=1 << 10)
def lane_copies(
    moves: IndexMap, source: Box | tuple[Box, ...], target: Box | tuple[Box, ...], distance: int
) -> tuple[LaneCopy, ...] | None:
    """What a movement does in each lane; None when something leaves its lane.

    Boxes give elements by lane (the first digit) and position; `distance` is above all positions.
    What was asked is remembered: a movement is priced several times before it is carried out.
    """
    near, far = (IndexMap(tuple(_with_lanes(side, distance))) for side in (source, target))
    inner = moves.after(near.inverse())
    if len(inner.boxes) > MOST_BOXES:
        return None
    found = far.after(inner).boxes
    if len(found) > MOST_BOXES:
        return None
    copies = [_in_lanes(box, distance) for box in found]
    return None if None in copies else tuple(one for one in copies if one is not None)


def _ways(moves: IndexMap, source: Rows, target: Rows) -> Iterator[LaneWay]:
    if source.c == target.c > 1:
        yield LaneWay(0, 0)
    mixed = list[LaneWay]()
    if target.c > 1 and source.run % target.c == 0:
        mixed.append(LaneWay(target.c, 0))
    if source.c > 1 and target.run % source.c == 0:
        mixed.append(LaneWay(0, source.c))
    yield from sorted(mixed, key=lambda way: way.source + way.target)
    run = gcd(source.run, target.run, *map(_run, moves.boxes))
    if run > 1:
        yield LaneWay(run, run)


def _run(box: Box) -> int:
    """How many elements lie together on both sides, at multiples of their number."""
    inner = box.digits[-1] if box.digits else None
    if inner is None or (inner.to, inner.at) != (1, 1):
        return 1
    places = (box.to, box.at, *(n for d in box.digits[:-1] for n in (d.to, d.at)))
    return gcd(inner.extent, *places)


def _with_lanes(side: Box | Sequence[Box], distance: int) -> Iterator[Box]:
    for box in [side] if isinstance(side, Box) else side:
        lane, *digits = box.digits
        first = Digit(lane.extent, distance, lane.at)
        yield Box(box.to, box.at, (first, *digits)).simplified()


def _in_lanes(box: Box, distance: int) -> LaneCopy | None:
    """A box of which lanes are `distance` apart; None when it is not the same lanes on both sides,
    or not neighbours."""
    (first, to), (other, at) = divmod(box.to, distance), divmod(box.at, distance)
    lanes, digits = 1, list[Digit]()
    for digit in box.digits:
        if digit.to < distance:
            digits.append(digit)
        elif digit.to == digit.at == distance and lanes == 1:
            lanes = digit.extent
        else:
            return None
    if any(digit.at < 0 and digit.extent > LONGEST_BACKWARDS for digit in digits):
        return None
    reach = sum((digit.extent - 1) * digit.at for digit in digits if digit.at < 0)
    if first != other or any(abs(digit.at) >= distance for digit in digits) or at + reach < 0:
        return None
    return LaneCopy(first, lanes, to, at, tuple(digits))
