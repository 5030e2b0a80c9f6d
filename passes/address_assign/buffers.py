"""Buffers and plans: the memory planner's plain values."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Buffer:
    """One contiguous byte range, needed from step `first` to step `last`, both included.

    A step is the position of an operation in its function. A buffer of size 0 needs no space.
    """

    name: str
    size: int
    first: int
    last: int

    def __post_init__(self) -> None:
        if self.size < 0 or self.last < self.first:
            raise ValueError(
                f"buffer {self.name}: size {self.size}, steps {self.first}..{self.last}"
            )


@dataclass(frozen=True)
class Plan:
    """Where every buffer starts (`offsets[i]` bytes for buffer i) and the bytes needed in all."""

    offsets: tuple[int, ...]
    arena_bytes: int


@dataclass(frozen=True)
class Clash:
    """Two buffers that are live at the same step and share bytes."""

    first: Buffer
    second: Buffer


def align_up(value: int, alignment: int) -> int:
    """The smallest multiple of `alignment` that is at least `value`."""
    return -(-value // alignment) * alignment


def all_live(buffers: Sequence[Buffer]) -> tuple[Buffer, ...]:
    """The same buffers, each needed from the first step to the last."""
    if not buffers:
        return ()
    first, last = min(b.first for b in buffers), max(b.last for b in buffers)
    return tuple(Buffer(b.name, b.size, first, last) for b in buffers)


def peak_live_bytes(buffers: Sequence[Buffer]) -> int:
    """The most bytes live at one step: no plan can use less."""
    change: dict[int, int] = {}
    for buffer in buffers:
        change[buffer.first] = change.get(buffer.first, 0) + buffer.size
        change[buffer.last + 1] = change.get(buffer.last + 1, 0) - buffer.size
    live = peak = 0
    for step in sorted(change):
        live += change[step]
        peak = max(peak, live)
    return peak


def clashes(buffers: Sequence[Buffer], offsets: Sequence[int]) -> Iterator[Clash]:
    """All pairs of buffers that share both a step and a byte, by one sweep over the steps."""
    order = sorted(
        (i for i, buffer in enumerate(buffers) if buffer.size), key=lambda i: buffers[i].first
    )
    live: list[int] = []
    for i in order:
        live = [j for j in live if buffers[j].last >= buffers[i].first]
        for j in live:
            before_end = offsets[i] < offsets[j] + buffers[j].size
            if before_end and offsets[j] < offsets[i] + buffers[i].size:
                yield Clash(buffers[j], buffers[i])
        live.append(i)
