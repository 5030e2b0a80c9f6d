"""Places in one memory for buffers whose lifetimes are known: DDR, or local memory.

Pure functions on plain values. A buffer lives from its first to its last step, both included; in a
loop a lifetime may wrap around the end. Two buffers whose lifetimes share a step may not share
bytes. One after the other gets the lowest free range that is large enough among those that live
with it and have their places already; which order is best nobody knows, so several compete.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from xdsl_tpu.backend.tensor import align
from xdsl_tpu.dialects.records import record

T = TypeVar("T")

Span = tuple[int, int]
"""Bytes [start, end)."""

FOREVER = 1 << 62
"""Where a free range ends that has no end."""

FEW = 16
"""Of many tries one of so many that were made is passed over."""

NOTHING: Mapping[int, Sequence[Span]] = MappingProxyType({})

Order = tuple[int, ...]
"""Numbers of buffers, those that are placed first in front."""


@record(frozen=True, slots=True)
class Buffer:
    """`size` bytes in one piece, needed in steps `first` to `last`; first > last wraps around.

    `always` means needed in every step. A buffer of size 0 needs no space.
    """

    key: object
    size: int
    first: int
    last: int
    always: bool = False

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError(f"buffer {self.key}: size {self.size}")

    def lives(self, end: int) -> tuple[tuple[int, int], ...]:
        """Its steps as ranges, both ends included, where `end` is the last step that there is."""
        if self.always:
            return ((0, end),)
        if self.first <= self.last:
            return ((self.first, self.last),)
        return (0, self.last), (self.first, end)


Placed = tuple[Buffer, int]
"""A buffer whose life does not wrap around, and where it starts."""


@record(frozen=True)
class Placement:
    """Where every buffer starts (`offsets[i]` bytes for buffer i) and the bytes needed in all."""

    offsets: tuple[int, ...]
    used: int

    def of(self, buffers: Sequence[Buffer]) -> dict[object, int]:
        """The offsets by key."""
        return dict(zip((buffer.key for buffer in buffers), self.offsets, strict=True))


def gaps(taken: Iterable[Span], size: int = 1, end: int = FOREVER) -> Iterator[Span]:
    """Free ranges of at least `size` bytes from 0 to `end` between sorted taken ones."""
    start = 0
    for low, high in taken:
        if low - start >= size:
            yield start, low
        start = max(start, high)
    if end - start >= size:
        yield start, end


def first_gap(taken: Iterable[Span], size: int) -> int:
    """Where the first of the gaps begins, found without the others."""
    start = 0
    for low, high in taken:
        if low - start >= size:
            break
        if high > start:
            start = high
    return start


def fitting(free: Iterable[Span], size: int) -> int | None:
    """The number of the first of some free ranges that has so many bytes."""
    for number, (start, end) in enumerate(free):
        if end - start >= size:
            return number
    return None


def lowest(free: Iterator[Span]) -> int:
    """Where the first of the gaps begins."""
    return next(free)[0]


def tightest(free: Iterator[Span]) -> int:
    """Where the smallest of the gaps begins."""
    found = list(free)
    return min(found, key=lambda gap: gap[1] - gap[0])[0]


Choice = Callable[[Iterator[Span]], int]
"""Which of the gaps a buffer gets: the last one has no end, so that there always is one."""


@record(frozen=True)
class Problem:
    """Buffers with sizes that are multiples of an alignment, and who lives together with whom."""

    buffers: tuple[Buffer, ...]
    neighbours: tuple[tuple[int, ...], ...]
    alignment: int

    @classmethod
    def of(cls, buffers: Sequence[Buffer], alignment: int) -> "Problem":
        """Sizes are rounded up, so that places are multiples of the alignment, too."""
        rounded = tuple(
            replace(b, size=align(b.size, alignment)) if b.size % alignment else b for b in buffers
        )
        return cls(rounded, tuple(_neighbours(rounded)), alignment)

    def place(self, order: Order, choose: Choice = lowest) -> Placement:
        """Place the buffers one after the other, each in a gap between its placed neighbours."""
        found = self._placed(order, choose, NOTHING, None)
        assert found is not None, "nothing limits it"
        return found

    def _placed(
        self,
        order: Order,
        choose: Choice,
        fixed: Mapping[int, Sequence[Span]],
        limits: Sequence[int] | None,
    ) -> Placement | None:
        """Such places that are free of what `fixed` says of a buffer, too; None where one would end
        above its limit."""
        sizes = [buffer.size for buffer in self.buffers]
        offsets = [-1] * len(order)
        used = 0
        for i in order:
            size = sizes[i]
            taken = [(at, at + sizes[j]) for j in self.neighbours[i] if (at := offsets[j]) >= 0]
            if i in fixed:
                taken += fixed[i]
            taken.sort()
            at = first_gap(taken, size) if choose is lowest else choose(gaps(taken, size))
            if limits is not None and at + size > limits[i]:
                return None
            offsets[i] = at
            used = max(used, at + size)
        return Placement(tuple(offsets), used)

    def first_fit(self) -> Placement:
        """Places in as few bytes as one of several orders gives."""
        found = _best(map(self.place, self.orders()), self.peak())
        assert found is not None
        return found

    def beside(
        self, others: Sequence[Callable[[], Sequence[Placed]]], limits: Sequence[int]
    ) -> tuple[Placement, Sequence[Placed]] | None:
        """Places beside the first of some others for which an order gives any where no buffer ends
        above its limit, and these others; None if there are none. Each takes no more than the one
        before, so that of many most are passed over."""
        orders, least = list(self.orders()), self.peak()
        living: dict[tuple[int, int], list[int]] = {}

        def places(number: int) -> tuple[Placement, Sequence[Placed]] | None:
            placed, spans = others[number](), dict[tuple[int, int], list[Span]]()
            for other, at in placed:
                span = at, at + align(other.size, self.alignment)
                spans.setdefault((other.first, other.last), []).append(span)
            fixed: dict[int, list[Span]] = {}
            for life, taken in spans.items():
                if life not in living:
                    living[life] = self._living(*life)
                fixed |= {i: fixed[i] + taken if i in fixed else taken for i in living[life]}
            found = _best((self._placed(o, lowest, fixed, limits) for o in orders), least)
            return None if found is None else (found, placed)

        return _first(len(others), places)

    def _living(self, first: int, last: int) -> list[int]:
        """The numbers of the buffers that are needed in some of these steps."""
        end = max(last, _end(self.buffers))
        return [
            i
            for i, buffer in enumerate(self.buffers)
            if any(start <= last and first <= until for start, until in buffer.lives(end))
        ]

    def orders(self) -> Iterator[Order]:
        """Orders worth trying; ties keep that of the buffers."""
        end = _end(self.buffers)
        lengths = [sum(b - a + 1 for a, b in buffer.lives(end)) for buffer in self.buffers]
        keys: tuple[Callable[[Buffer, int], tuple[int, int]], ...] = (
            lambda b, length: (-b.size, b.first),
            lambda b, length: (-b.size * length, b.first),
            lambda b, length: (-length, -b.size),
            lambda b, length: (b.first, -b.size),
            lambda b, length: (-b.last, -b.size),
        )
        numbers = range(len(self.buffers))
        for key in keys:
            yield tuple(sorted(numbers, key=lambda i, key=key: key(self.buffers[i], lengths[i])))

    def peak(self) -> int:
        """The most bytes needed in one step: no placement can use fewer."""
        return peak_bytes(self.buffers)


def _best(placements: Iterable[Placement | None], least: int) -> Placement | None:
    """The first one of those of the fewest bytes, none of which can use fewer than the `least`."""
    best: Placement | None = None
    for found in placements:
        if found is not None and (best is None or found.used < best.used):
            best = found
            if best.used == least:
                break
    return best


def _first(count: int, try_: Callable[[int], T | None]) -> T | None:
    """What the first number that gives anything gives, where all behind it do, too: the first few
    are tried in turn, then ever fewer, and between the last two of these by halves."""
    failed, found, number = -1, None, 0
    while number < count and (found := try_(number)) is None:
        failed, number = number, number + max(1, number // FEW)
    if found is None and failed < count - 1:
        number = count - 1
        found = try_(number)
    while found is not None and number - failed > 1:
        middle = (failed + number) // 2
        if (better := try_(middle)) is None:
            failed = middle
        else:
            found, number = better, middle
    return found


def first_fit(buffers: Sequence[Buffer], alignment: int) -> Placement:
    """Places for all buffers, in as few bytes as one of several orders gives."""
    return Problem.of(buffers, alignment).first_fit()


def peak_bytes(buffers: Sequence[Buffer]) -> int:
    """The most bytes needed in one step."""
    end = _end(buffers)
    change: dict[int, int] = {}
    for buffer in buffers:
        for first, last in buffer.lives(end):
            change[first] = change.get(first, 0) + buffer.size
            change[last + 1] = change.get(last + 1, 0) - buffer.size
    live = most = 0
    for step in sorted(change):
        live += change[step]
        most = max(most, live)
    return most


def clashes(buffers: Sequence[Buffer], offsets: Sequence[int]) -> Iterator[tuple[Buffer, Buffer]]:
    """All pairs of buffers that share both a step and a byte."""
    seen: set[tuple[int, int]] = set()
    for one, other in _together(buffers):
        before_end = offsets[one] < offsets[other] + buffers[other].size
        if before_end and offsets[other] < offsets[one] + buffers[one].size:
            pair = one, other
            if buffers[one].size and buffers[other].size and pair not in seen:
                seen |= {pair, (other, one)}
                yield buffers[one], buffers[other]


def _end(buffers: Sequence[Buffer]) -> int:
    return max((max(buffer.first, buffer.last) for buffer in buffers), default=0)


def _neighbours(buffers: Sequence[Buffer]) -> Iterator[tuple[int, ...]]:
    """Of each buffer the others whose lifetimes share a step with its own."""
    lives = _lives(buffers)
    firsts, owners = [life[0] for life in lives], [life[2] for life in lives]
    found: list[set[int]] = [set() for _ in buffers]
    live: list[tuple[int, int]] = []
    for place, (first, last, i) in enumerate(lives):
        live = [entry for entry in live if entry[0] >= first]
        found[i].update([j for _, j in live])
        found[i].update(owners[place + 1 : bisect_right(firsts, last)])
        live.append((last, i))
    return (tuple(others - {i}) for i, others in enumerate(found))


def _lives(buffers: Sequence[Buffer]) -> list[tuple[int, int, int]]:
    """Ranges of steps and the buffers that are needed in them, in the order of beginnings."""
    end = _end(buffers)
    lives = [(*life, i) for i, buffer in enumerate(buffers) for life in buffer.lives(end)]
    return sorted(lives, key=lambda life: life[0])


def _together(buffers: Sequence[Buffer]) -> Iterator[tuple[int, int]]:
    """Pairs of buffers whose lifetimes share a step, by one sweep over the steps: first the one
    that begins earlier. A pair that meets twice comes twice."""
    live: list[tuple[int, int]] = []
    for first, last, i in _lives(buffers):
        live = [entry for entry in live if entry[0] >= first]
        yield from ((j, i) for _, j in live)
        live.append((last, i))
