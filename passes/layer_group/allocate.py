"""Placing buffers in local memory by lifetime.

Pure functions on plain values. A buffer lives from its first to its last time step, both
included; in a loop over slices a lifetime may wrap around the end. Two buffers whose lifetimes
share a time step may not share bytes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

UNIT = 64
"""Addresses are multiples of the EU width."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """`size` bytes per lane, alive in time steps `start` to `end`; start > end wraps around.

    `always` means alive in every time step (held weights).
    """

    key: object
    size: int
    start: int
    end: int
    always: bool = False

    def meets(self, other: "Buffer") -> bool:
        """Whether the lifetimes share a time step."""
        if self.always or other.always:
            return True
        wraps, other_wraps = self.start > self.end, other.start > other.end
        if wraps and other_wraps:
            return True
        if wraps:
            return other.end >= self.start or other.start <= self.end
        if other_wraps:
            return self.end >= other.start or self.start <= other.end
        return self.start <= other.end and other.start <= self.end

    def times(self, steps: int) -> Sequence[int]:
        """Its time steps, of `steps` that there are."""
        if self.always:
            return range(steps)
        if self.start <= self.end:
            return range(self.start, self.end + 1)
        return (*range(self.end + 1), *range(self.start, steps))

    def steps(self) -> int:
        """How long the buffer lives, for ordering; longer is harder to place."""
        if self.always:
            return _FOREVER
        length = self.end - self.start + 1
        return length if length > 0 else _FOREVER // 2 + length


_FOREVER = 1 << 30


@dataclass(frozen=True)
class Placement:
    """Where buffers lie, and the bytes used from address 0 on."""

    addresses: Mapping[object, int]
    used: int


def rounded(size: int) -> int:
    """Bytes that a buffer occupies."""
    return -(-size // UNIT) * UNIT


_ORDERS: tuple[Callable[[Buffer], tuple[int, int]], ...] = (
    lambda b: (-b.size, -b.steps()),
    lambda b: (-b.size * min(b.steps(), 1000), b.start),
    lambda b: (-b.steps(), -b.size),
    lambda b: (b.start, -b.size),
)


def place(buffers: Sequence[Buffer]) -> Placement:
    """Addresses for all buffers, in as few bytes as one of several orders gives.

    In each order the next buffer goes to the lowest gap among those already placed that live at
    the same time.
    """
    steps = 1 + max((max(buffer.start, buffer.end) for buffer in buffers), default=0)
    least = peak(buffers, steps)
    best: Placement | None = None
    for order in _ORDERS:
        placement = _first_fit(sorted(buffers, key=order), steps)
        if best is None or placement.used < best.used:
            best = placement
        if best.used == least:
            break
    assert best is not None
    return best


def _first_fit(buffers: Sequence[Buffer], steps: int) -> Placement:
    alive: list[list[tuple[int, int]]] = [[] for _ in range(steps)]
    addresses: dict[object, int] = {}
    used = 0
    for buffer in buffers:
        times, size = buffer.times(steps), rounded(buffer.size)
        address = 0
        for start, end in sorted({span for time in times for span in alive[time]}):
            if start - address >= size:
                break
            address = max(address, end)
        addresses[buffer.key] = address
        for time in times:
            alive[time].append((address, address + size))
        used = max(used, address + size)
    return Placement(addresses, used)


def peak(buffers: Sequence[Buffer], steps: int) -> int:
    """The most bytes alive in one of the time steps: no placement can use fewer."""
    alive = [0] * steps
    for buffer in buffers:
        for time in buffer.times(steps):
            alive[time] += rounded(buffer.size)
    return max(alive, default=0)


def overlaps(
    buffers: Sequence[Buffer], addresses: Mapping[object, int]
) -> list[tuple[object, object]]:
    """Pairs of buffers that live at the same time and share bytes."""
    found: list[tuple[object, object]] = []
    spans = sorted(
        ((addresses[b.key], addresses[b.key] + b.size, i) for i, b in enumerate(buffers)),
    )
    active: list[tuple[int, int]] = []
    for start, end, index in spans:
        active = [(e, i) for e, i in active if e > start]
        for _, other in active:
            if buffers[index].meets(buffers[other]):
                found.append((buffers[other].key, buffers[index].key))
        active.append((end, index))
    return found
