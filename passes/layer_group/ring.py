"""Weights that stream through a ring in local memory.

Weights are taken in the order of their use. Each gets the next free interval of the ring, or the
ring's beginning when it does not fit before the end; it may be loaded as soon as whatever lay
there has been used for the last time. So loads run ahead of the computation as far as memory
allows, and the DMA never waits for a time step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stream:
    """One weight: its bytes per lane, a multiple of the alignment, and the first and last time step
    that reads it.
    """

    key: object
    size: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a weight goes and the earliest time step in which it may be loaded.

    A transfer of time step t is issued after the computation of step t - 1.
    """

    address: int
    load: int


def schedule(
    weights: Sequence[Stream], low: int, high: int, head: int | None = None
) -> dict[object, Slot] | None:
    """Slots in the ring [low, high) for weights sorted by first use; None if one cannot fit.

    The first weight goes to `head` (default: `low`), so that a ring can go on from group to group.

    None also when a weight would have to be loaded after its first use, because weights it
    displaces are still in use.
    """
    slots: dict[object, Slot] = {}
    lying: list[tuple[int, int, Stream]] = []
    head, load = max(low, head or 0), 0
    for weight in weights:
        if weight.size > high - low:
            return None
        if head + weight.size > high:
            head = low
        below = [(a, e, w) for a, e, w in lying if a < head + weight.size and e > head]
        for _, _, displaced in below:
            load = max(load, displaced.last + 1)
        if load > weight.first:
            return None
        lying = [entry for entry in lying if entry not in below]
        lying.append((head, head + weight.size, weight))
        slots[weight.key] = Slot(head, load)
        head += weight.size
    return slots


def next_head(
    weights: Sequence[Stream], slots: Mapping[object, Slot], low: int, head: int | None = None
) -> int:
    """Where the ring goes on after these weights: where it was (`head`) when there are none."""
    if not weights:
        return max(low, head or 0)
    return slots[weights[-1].key].address + weights[-1].size
