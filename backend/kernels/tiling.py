"""Cutting work into tiles: pieces of an axis, windows over an axis, reuse order, cost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.tensor import ceil_div

Outer = TypeVar("Outer")
Inner = TypeVar("Inner")

_PIECES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of pieces tried for an axis."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Indices [start, start + size) of an axis."""

    start: int
    size: int

    @property
    def end(self) -> int:
        """One past the last index."""
        return self.start + self.size


def cut(total: int, step: int) -> tuple[Piece, ...]:
    """Consecutive pieces of `step`, the last one shorter."""
    return tuple(Piece(i, min(step, total - i)) for i in range(0, total, step))


def steps_of(total: int, unit: int = 1) -> tuple[int, ...]:
    """Piece sizes worth trying, largest first: multiples of `unit`, or all of the axis.

    >>> steps_of(200, 64)
    (200, 128, 64)
    """
    sizes = {ceil_div(ceil_div(total, count), unit) * unit for count in (*_PIECES, total)}
    return tuple(sorted({min(size, total) for size in sizes}, reverse=True))


@dataclass(frozen=True, slots=True)
class Axis:
    """A window sliding over one axis: sizes before and after, kernel, stride, pads, dilation."""

    size: int
    out: int
    kernel: int
    stride: int
    before: int
    after: int
    dilation: int = 1

    def reach(self, piece: Piece) -> tuple[Piece, int, int]:
        """The input that output indices `piece` read, and the padding before and after it."""
        start = piece.start * self.stride - self.before
        end = (piece.end - 1) * self.stride + (self.kernel - 1) * self.dilation + 1 - self.before
        first = min(max(0, start), self.size)
        last = max(first, min(self.size, end))
        return Piece(first, last - first), first - start, end - last

    def longest_reach(self, step: int) -> int:
        """The most input that any piece of `step` outputs reads."""
        return max(self.reach(piece)[0].size for piece in cut(self.out, step))


@dataclass(frozen=True, slots=True)
class Visit(Generic[Outer, Inner]):
    """One step of a sweep: what it works on, in which buffer, and what must be loaded for it."""

    outer: Outer
    inner: Inner
    outer_slot: int
    inner_slot: int
    load_outer: bool
    load_inner: bool


def sweep(
    outer: Sequence[Outer], inner: Sequence[Inner], first: int = 0
) -> list[Visit[Outer, Inner]]:
    """Every pair, the outer one held while the inner ones stream by.

    `first` counts the sweeps before this one, for the buffers to keep alternating.
    """
    visits: list[Visit[Outer, Inner]] = []
    rounds = first * len(outer)
    for i, held in enumerate(outer):
        for j, streamed in enumerate(inner):
            done = (rounds + i) * len(inner) + j if len(inner) > 1 else first
            load = len(inner) > 1 or i == 0
            visits.append(Visit(held, streamed, (rounds + i) % 2, done % 2, j == 0, load))
    return visits


def pipeline_cycles(steps: Iterable[tuple[int, int, int]]) -> int:
    """When load, compute and store of all steps are done, issued as by `support.pipelined`."""
    gdma = tiu = 0
    before: tuple[int, int] = (0, 0)  # end of the compute, cycles of the store, one step ago
    older: tuple[int, int] = (0, 0)  # two steps ago
    for load, compute, store in steps:
        gdma = max(gdma, older[0] if load else 0) + load
        ready = gdma
        gdma = max(gdma, older[0]) + older[1]
        # This step's compute follows its load and, in the other queue, the step before.
        tiu = max(ready, tiu) + compute
        older, before = before, (tiu, store)
    for end, store in (older, before):
        gdma = max(gdma, end) + store
    return max(gdma, tiu)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Estimates the cycles of transfers (BM1684X cycle reference, section 4)."""

    chip: Chip

    def load(self, size: int, run: int, matrix: bool = False) -> int:
        """Loading `size` bytes in contiguous runs of `run` bytes."""
        return self._cycles(size, run, matrix, self.chip.load_bytes_per_cycle)

    def store(self, size: int, run: int, matrix: bool = False) -> int:
        """Storing `size` bytes in contiguous runs of `run` bytes."""
        return self._cycles(size, run, matrix, self.chip.store_bytes_per_cycle)

    def _cycles(self, size: int, run: int, matrix: bool, rate: int) -> int:
        slowdown = max(1.0, self.chip.ddr_row_bytes / max(1, run))
        if not matrix:
            blocks = ceil_div(size, self.chip.ddr_interleave_bytes)
            slowdown *= self.chip.tensor_derate * self.chip.ddr_channels
            slowdown /= min(blocks, self.chip.ddr_channels)
        return int(size * slowdown / rate)
