"""Which of many ops may round, if all their rounding together shall stay below a limit.

Errors of different ops are taken to be independent, so that their energies add up. Runs of
neighbouring ops are measured as one and split where most of the noise is, until what is left of
it is not worth another measurement.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

FIRST_BLOCKS = 8
"""Runs of ops that are measured at first."""

NEGLIGIBLE = 1 / 64
"""Share of the limit below which a run of ops is not split."""


@dataclass(frozen=True)
class Block(Generic[T]):
    """Neighbouring ops, and the noise that they make when only they round."""

    members: tuple[T, ...]
    noise: float


def measure(
    members: Sequence[T],
    noise_of: Callable[[Sequence[T]], float],
    limit: float,
    evaluations: int,
) -> list[Block[T]]:
    """Blocks that cover `members`, the smaller the more noise there is.

    `noise_of` gives the noise of some members; it is called about `evaluations` times.
    """
    size = -(-len(members) // FIRST_BLOCKS) or 1
    parts = [tuple(members[i : i + size]) for i in range(0, len(members), size)]
    blocks = [Block(part, noise_of(part)) for part in parts]
    used = len(blocks)
    while used < evaluations:
        worst = max(
            (block for block in blocks if len(block.members) > 1),
            key=lambda block: block.noise,
            default=None,
        )
        if worst is None or worst.noise < limit * NEGLIGIBLE:
            break
        middle = len(worst.members) // 2
        halves = (worst.members[:middle], worst.members[middle:])
        place = blocks.index(worst)
        blocks[place : place + 1] = [Block(half, noise_of(half)) for half in halves]
        used += 2
    return blocks


def choose(
    blocks: Sequence[Block[T]], saved: Callable[[T], float], limit: float
) -> tuple[list[T], list[T]]:
    """The members that may round and those that may not, both in the order of `blocks`.

    Blocks whose noise costs least for what they save come first, as long as the sum of noises
    stays within `limit`.
    """

    def price(block: Block[T]) -> float:
        return block.noise / max(sum(map(saved, block.members)), 1e-9)

    rounding: set[int] = set()
    total = 0.0
    for place in sorted(range(len(blocks)), key=lambda place: price(blocks[place])):
        if total + blocks[place].noise <= limit:
            total += blocks[place].noise
            rounding.add(place)
    free = [m for place, block in enumerate(blocks) if place in rounding for m in block.members]
    held = [m for place, block in enumerate(blocks) if place not in rounding for m in block.members]
    return free, held
