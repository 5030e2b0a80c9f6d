"""Cutting work into tiles: pieces of an axis, windows over an axis, cost."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.tensor import ceil_div
from xdsl_tpu.dialects.errors import NoKernel
from xdsl_tpu.dialects.records import record

_PIECES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of pieces tried for an axis."""


@record(frozen=True, slots=True)
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


def halved(steps: Sequence[int], unit: int) -> list[int]:
    """Of sizes, largest first, those that are each about half the one before, and the last one.

    >>> halved(steps_of(200, 64), 64)
    [200, 128, 64]
    """
    found = [steps[0]]
    for step in steps[1:]:
        if 2 * step <= found[-1] + unit or step == steps[-1] < found[-1]:
            found.append(step)
    return found


def chunks_of(total: int, unit: int) -> Iterator[int]:
    """Sizes of chunks of `total`, by growing numbers of chunks that are alike in whole units."""
    units, before = ceil_div(total, unit), 0
    for count in range(1, units + 1):
        size = min(total, ceil_div(units, count) * unit)
        if size != before:
            yield size
        before = size


@record(frozen=True, slots=True)
class Axis:
    """A window sliding over one axis: sizes before and after, kernel, stride, pads, dilation.

    The window sees `insert` zeros between neighbouring elements.
    """

    size: int
    out: int
    kernel: int
    stride: int
    before: int
    after: int
    dilation: int = 1
    insert: int = 0

    def reach(self, piece: Piece) -> tuple[Piece, int, int]:
        """The input that output indices `piece` read, and the padding before and after it.

        What the last stride leaves over at the end is read with the last index: whole axes
        are cheaper to move.
        """
        start = piece.start * self.stride - self.before
        end = (piece.end - 1) * self.stride + (self.kernel - 1) * self.dilation + 1 - self.before
        if self.insert:
            return self._spread(start, end)
        if piece.end == self.out and 0 < self.size - end < self.stride:
            end = self.size
        first = min(max(0, start), self.size)
        last = max(first, min(self.size, end))
        return Piece(first, last - first), first - start, end - last

    def _spread(self, start: int, end: int) -> tuple[Piece, int, int]:
        """The elements among indices of the input with zeros in it, and the padding around them.

        Every window sees an element: whoever asks for zeros sees to that.
        """
        step = self.insert + 1
        first = min(max(0, ceil_div(start, step)), self.size - 1)
        last = max(first, min(self.size - 1, (end - 1) // step))
        return Piece(first, last - first + 1), first * step - start, end - last * step - 1


def check_window(axes: Sequence[Axis], name: str, far: bool = False) -> None:
    """Raise TpuError when a pad, dilation or stride exceeds what a command can say.

    With `far`, any stride is allowed where neither pads nor dilation complicate it.
    """
    for axis in axes:
        plain = far and axis.dilation == 1 and not axis.before and not axis.after
        for what, value, most in (
            ("padding", max(axis.before, axis.after), LIMITS.padding),
            ("dilation", axis.dilation, LIMITS.dilation),
            ("inserted zeros", axis.insert, LIMITS.inserted_zeros),
            ("stride", 1 if plain else axis.stride, LIMITS.window_stride),
        ):
            if value > most:
                raise NoKernel(f"{name}: {what} {value} is beyond the {most} a command can say")


_MOST_STEPS = 400


def pipeline_cycles(steps: Iterable[tuple[int, int, int]], total: int) -> int:
    """When load, compute and store of `total` steps are done, issued as by `support.pipelined`.

    Of a long pipeline only the beginning is looked at; the rest is taken to go on at its pace.
    """
    gdma = tiu = count = 0
    before: tuple[int, int] = (0, 0)  # end of the compute, cycles of the store, one step ago
    older: tuple[int, int] = (0, 0)  # two steps ago
    for load, compute, store in islice(steps, _MOST_STEPS):
        gdma = max(gdma, older[0] if load else 0) + load
        ready = gdma
        gdma = max(gdma, older[0]) + older[1]
        # This step's compute follows its load and, in the other queue, the step before.
        tiu = max(ready, tiu) + compute
        older, before = before, (tiu, store)
        count += 1
    for end, store in (older, before):
        gdma = max(gdma, end) + store
    return max(gdma, tiu) * total // count
