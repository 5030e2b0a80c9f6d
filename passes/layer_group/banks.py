"""Scratch memory in other banks of local memory than the result that is made of it.

Pure functions on plain values. An instruction that reads and writes one bank takes twice as long
if it gives exact sums a new scale, and so do some others (`docs/hardware/cycles.md`). First fit,
which gives everything its place, knows nothing of banks and puts scratch memory beside results.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from xdsl_tpu.backend.first_fit import Buffer, Placement, Span, gaps
from xdsl_tpu.backend.tensor import align


def ends_of(
    buffers: Sequence[Buffer], places: Mapping[object, int], unit: int, steps: int
) -> list[int]:
    """Where what is needed in a time step or in later ones ends, a multiple of `unit`."""
    ends = [0] * (steps + 1)
    for buffer in buffers:
        ends[buffer.last] = max(ends[buffer.last], align(places[buffer.key] + buffer.size, unit))
    return list(accumulate(reversed(ends), max))[::-1]


def in_other_banks(
    buffers: Sequence[Buffer],
    placement: Placement,
    results: Mapping[int, int],
    bank: int,
    limits: Sequence[int],
    reach: int = 0,
) -> Placement:
    """A placement after scratch memory has moved to where no bank of `bank` bytes is shared.

    `results`: number of a buffer that is needed in one step -> that of the result. It moves to free
    memory that ends at `limits[step]`: in banks that the result is not in or, if there is none, in
    another one than that in which the result starts. Without any it stays, but where all that there
    is lies in the first bank it may go to `reach`. 0 is no bank.
    """
    if not bank:
        return placement
    places = list(placement.offsets)
    if placement.used <= bank:
        limits = [max(limit, reach) for limit in limits]
    together = _together(buffers, {buffers[one].first for one in results})
    for one, result in results.items():
        start, size, step = places[result], buffers[result].size, buffers[one].first
        banks = range(start // bank, (start + max(size, 1) - 1) // bank + 1)
        free = None
        for used in (banks, banks[:1]):
            if places[one] // bank not in used:
                break
            if free is None:
                others = [n for n in together[step] if n != one]
                free = list(_free(others, buffers, places, limits[step]))
            starts = _starts(free, buffers[one].size, bank)
            places[one] = next((at for at in starts if at // bank not in used), places[one])
    moved = (places[one] + buffers[one].size for one in results)
    return Placement(tuple(places), max(placement.used, *moved, 0))


def _together(buffers: Sequence[Buffer], steps: Collection[int]) -> dict[int, list[int]]:
    """The numbers of the buffers that are needed in each of some steps."""
    end = max(max(buffer.first, buffer.last) for buffer in buffers)
    found: dict[int, list[int]] = {step: [] for step in steps}
    for number, buffer in enumerate(buffers):
        for first, last in buffer.lives(end):
            for step in range(first, last + 1):
                if step in found:
                    found[step].append(number)
    return found


def _free(
    others: Iterable[int], buffers: Sequence[Buffer], places: Sequence[int], limit: int
) -> Iterator[Span]:
    """What the others leave free, up to a limit."""
    taken = sorted((places[number], places[number] + buffers[number].size) for number in others)
    for low, high in gaps(taken):
        yield low, min(high, limit)


def _starts(free: Sequence[Span], size: int, bank: int) -> Iterator[int]:
    """Where so many bytes may begin: as low as possible in each bank of each free range."""
    for low, high in free:
        at = low
        while at + size <= high:
            yield at
            at = (at // bank + 1) * bank
