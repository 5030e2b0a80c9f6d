"""Which part of a map each of several cores carries out.

A loop of the result is cut into as many parts as there are cores: that which leaves the core that
takes longest with the fewest cycles. No element of the result is made twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.movement.job import Source
from xdsl_tpu.backend.movement.plan import movement_cycles
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.index_map import Box

Moves = tuple[Source, ...]


def shares_of(
    chip: Chip, moves: Sequence[Source], size: int, dtype: DType, cores: int
) -> tuple[Moves, ...]:
    """What each core carries out of a map without a border; empty when no way of sharing is faster
    than one core that does it all."""
    if cores < 2:
        return ()
    best: tuple[Moves, ...] = ()
    least = _cycles(chip, tuple(moves), size, dtype)
    for parts in _cuts(moves, cores):
        longest = max(_cycles(chip, part, size, dtype) for part in parts)
        if longest < least:
            best, least = parts, longest
    return best


def _cycles(chip: Chip, moves: Moves, size: int, dtype: DType) -> float:
    try:
        return movement_cycles(chip, moves, size, dtype)
    except DoesNotFit:
        return float("inf")


def _cuts(moves: Sequence[Source], cores: int) -> Iterator[tuple[Moves, ...]]:
    """The map in parts, once for every step between elements of the result by which all boxes
    have a loop that is long enough."""
    boxes = [box for source in moves for box in source.boxes]
    steps = [{digit.to for digit in box.digits if digit.extent >= cores} for box in boxes]
    for step in sorted(set[int]().union(*steps).intersection(*steps), reverse=True):
        yield tuple(
            tuple(
                replace(one, boxes=tuple(_part(box, step, core, cores) for box in one.boxes))
                for one in moves
            )
            for core in range(cores)
        )


def _part(box: Box, step: int, core: int, cores: int) -> Box:
    """The box with a part of its loop of that step."""
    index, digit = next(
        (k, d) for k, d in enumerate(box.digits) if d.to == step and d.extent >= cores
    )
    ends = [digit.extent * number // cores for number in range(cores + 1)]
    first, last = list(pairwise(ends))[core]
    own = replace(digit, extent=last - first)
    digits = (*box.digits[:index], own, *box.digits[index + 1 :])
    return Box(box.to + first * digit.to, box.at + first * digit.at, digits).simplified()
