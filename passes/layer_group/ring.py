"""Weights that stream through a ring in local memory.

Weights are taken in the order of their use. Each gets the next free interval of the ring, or the
ring's beginning when it does not fit before the end; it may be loaded as soon as whatever lay
there has been used for the last time. So loads run ahead of the computation as far as memory
allows, and the DMA never waits for a time step. Where what lies below the ring is no longer needed,
the ring begins lower the next time round.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from xdsl_tpu.dialects.records import record


@record(frozen=True, slots=True)
class Stream:
    """One weight: its bytes per lane, a multiple of the alignment, and the first and last time step
    that reads it.
    """

    key: object
    size: int
    first: int
    last: int


@record(frozen=True, slots=True)
class Slot:
    """Where a weight goes and the earliest time step in which it may be loaded.

    A transfer of time step t is issued after the computation of step t - 1.
    """

    address: int
    load: int


def schedule(
    weights: Sequence[Stream],
    low: int,
    high: int,
    head: int | None = None,
    lower: Callable[[int], int] | None = None,
) -> dict[object, Slot] | None:
    """Slots in the ring [low, high) for weights sorted by first use; None if one cannot fit.

    The first weight goes to `head` (default: `low`), so that a ring can go on from group to group.
    `lower(t)`, which never grows, is where the ring may begin for weights that are loaded in time
    step t or later; `low` is that of step 0.

    None also when a weight would have to be loaded after its first use, because weights it
    displaces are still in use.
    """
    slots: dict[object, Slot] = {}
    lying: list[_Lying] = []
    place = 0  # in `lying`, of the first that lies at `head` or above: laps begin ever lower
    head, load = max(low, head or 0), 0
    for weight in weights:
        if head + weight.size > high:
            place, head = 0, low if lower is None else min(low, lower(load))
            after = _cleared(_displaced(lying, place, head + weight.size), load)
            if lower is not None and lower(after) < head:
                head, load = lower(after), after
        end = head + weight.size
        if end > high:
            return None
        displaced = _displaced(lying, place, end)
        load = _cleared(displaced, load)
        if load > weight.first:
            return None
        lying[place : place + len(displaced)] = [(head, weight)]
        slots[weight.key] = Slot(head, load)
        place, head = place + 1, end
    return slots


_Lying: TypeAlias = tuple[int, Stream]
"""Where a weight lies that was loaded; in the order of these places."""


def _displaced(lying: Sequence[_Lying], place: int, end: int) -> Sequence[_Lying]:
    """What lies below `end`, from one of them on."""
    until = place
    while until < len(lying) and lying[until][0] < end:
        until += 1
    return lying[place:until]


def _cleared(displaced: Iterable[_Lying], load: int) -> int:
    """The first step from `load` on in which these are no longer used."""
    return max(load, *(weight.last + 1 for _, weight in displaced), 0)


def next_head(
    weights: Sequence[Stream], slots: Mapping[object, Slot], low: int, head: int | None = None
) -> int:
    """Where the ring goes on after these weights: where it was (`head`) when there are none."""
    if not weights:
        return max(low, head or 0)
    return slots[weights[-1].key].address + weights[-1].size


def no_room(streams: Sequence[Stream], left: int, unit: int) -> tuple[int, str]:
    """The bytes that weights need which a ring of the bytes that are `left` does not hold, and
    what for."""
    if (needed := _widest(streams)) > left:
        return needed, "are needed at once"
    # They fit side by side, but not in the places where the ring puts them.
    return _least_ring(streams, left, unit), "are what their ring needs"


def _least_ring(streams: Sequence[Stream], too_small: int, unit: int) -> int:
    """The fewest bytes, a multiple of the alignment, in which a ring holds the weights."""
    low, high = too_small // unit, sum(stream.size for stream in streams) // unit
    while high - low > 1:
        middle = (low + high) // 2
        fits = schedule(streams, 0, middle * unit) is not None
        low, high = (low, middle) if fits else (middle, high)
    return high * unit


def _widest(streams: Sequence[Stream]) -> int:
    """The most weight bytes that one step reads."""
    by_step: dict[int, int] = {}
    for stream in streams:
        by_step[stream.first] = by_step.get(stream.first, 0) + stream.size
    return max(by_step.values(), default=0)
