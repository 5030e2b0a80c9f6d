"""Maps that several cores carry out: every element once, and by no core more than by one alone."""

from collections import Counter

import pytest

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.movement import Source, movement_cycles, shares_of
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit, IndexMap

CHIP = load_chip("bm1688")
HALVES = (
    Source(0, (Box(0, 0, (Digit(48, 512, 256), Digit(256, 1, 1))),)),
    Source(1, (Box(256, 0, (Digit(48, 512, 256), Digit(256, 1, 1))),)),
)
"""Rows of two values beside each other."""

MAPS = {
    "transposed": (Source(0, IndexMap.permuted((4, 60, 90), (0, 2, 1)).boxes),),
    "rows to channels": (Source(0, IndexMap.permuted((3, 4, 16, 112), (0, 2, 1, 3)).boxes),),
    "beside each other": HALVES,
    "as it is": (Source(0, IndexMap.identity(3 * 7001).boxes),),
}


def points(moves: tuple[Source, ...]) -> Counter[tuple[int, int, int]]:
    return Counter(
        (source.number, *point)
        for source in moves
        for box in source.boxes
        for point in box.points()
    )


@pytest.mark.parametrize("cores", [2, 3])
@pytest.mark.parametrize("name", MAPS)
def test_parts_are_the_whole_and_take_less_time(name: str, cores: int) -> None:
    moves = MAPS[name]
    size = sum(points(moves).values())
    parts = shares_of(CHIP, moves, size, DType.F16, cores)
    assert len(parts) == cores
    assert sum(map(points, parts), Counter[tuple[int, int, int]]()) == points(moves)
    alone = movement_cycles(CHIP, moves, size, DType.F16)
    assert max(movement_cycles(CHIP, part, size, DType.F16) for part in parts) < 0.8 * alone


def test_one_core_does_what_cannot_be_cut() -> None:
    moves = (Source(0, IndexMap.permuted((2, 40), (1, 0)).boxes),)
    assert shares_of(CHIP, moves, 80, DType.F16, 1) == ()
    assert shares_of(CHIP, moves, 80, DType.F16, 41) == ()
