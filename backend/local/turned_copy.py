"""Copies within lanes whose rows become columns, in two passes where these take less.

A command that reads or writes every so many elements takes as many lines for each that it fills, up
to one for each element. Rows of a few elements that stay together are moved first, then the
elements of each, which are only that few elements apart.

    64 rows x 56  --rows of 8-->  7 x 64 x 8  --columns of each-->  56 x 64
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.backend.tensor import DType, LocalTensor, Shape4, ceil_div, strided
from xdsl_tpu.backend.timing.tiu_cost import gap_factor
from xdsl_tpu.dialects.interfaces.index_map import Digit

WIDEST = 16
"""Elements that stay together in the first pass, at most."""

_LOOPS = 3
"""Loops of one copy besides that over the lanes."""


class Copy(NamedTuple):
    """A copy within lanes: addresses and strides of its result and its operand."""

    shape: Shape4
    to: int
    to_strides: Shape4
    at: int
    at_strides: Shape4

    def cycles(self, width: int, chip: Chip) -> int:
        """What it takes for each group of lanes."""
        n, _, h, w = self.shape
        eu = chip.eu(width)
        gaps = (gap_factor(one[2], one[3], h, w, eu) for one in (self.to_strides, self.at_strides))
        return n * ceil_div(h * w, eu) * max(1, *gaps)

    def by_group(self, width: int, chip: Chip) -> "Iterator[Copy]":
        """One copy for each group of lanes."""
        first, done = self.at >> chip.lane_shift, 0
        while done < self.shape[1]:
            lane = first if not done else 0
            lanes = min(self.shape[1] - done, chip.lanes - lane)
            group = (first + done) // chip.lanes
            to, at = (
                (end - (first - lane << chip.lane_shift)) + group * strides[1] * width
                for end, strides in ((self.to, self.to_strides), (self.at, self.at_strides))
            )
            yield self._replace(shape=(self.shape[0], lanes, *self.shape[2:]), to=to, at=at)
            done += lanes

    def ends(self, dtype: DType, chip: Chip) -> Iterator[LocalTensor]:
        """Result and operand."""
        for address, strides in ((self.to, self.to_strides), (self.at, self.at_strides)):
            yield settled(strided(address, self.shape, strides, dtype), chip)


def copies_of(
    digits: Sequence[Digit],
    lanes: int,
    ends: tuple[int, int],
    by_group: tuple[int, int],
    width: int,
) -> Iterator[Copy]:
    """Loops within each lane, of elements of `width` bytes, as copies from the second of two places
    to the first; so far apart are groups of lanes there."""
    outer, inner = _loops(digits)
    n, h, w = inner
    for index in product(*(range(digit.extent) for digit in outer)):
        to, at = (
            end + sum(i * step * width for i, step in zip(index, steps, strict=True))
            for end, steps in zip(ends, ([d.to for d in outer], [d.at for d in outer]), strict=True)
        )
        yield Copy(
            (n.extent, lanes, h.extent, w.extent),
            to,
            (n.to, by_group[0], h.to, w.to),
            at,
            (n.at, by_group[1], h.at, w.at),
        )


def _loops(digits: Iterable[Digit]) -> tuple[list[Digit], list[Digit]]:
    """Loops of Python, and the three of a command; the last one is that of neighbours. No operand
    of a command goes backwards."""
    short = [part for digit in digits for part in _within_fields(digit)]
    backwards = [digit for digit in short if digit.at < 0]
    forwards = [digit for digit in short if digit.at >= 0]
    nearest = sorted(forwards, key=lambda digit: (digit.to + digit.at, digit.to))
    inner, others = nearest[:1], sorted(nearest[1:], key=lambda digit: digit.extent)
    kept = max(0, len(others) - (_LOOPS - 1))
    outer, middle = others[:kept], sorted(others[kept:], key=lambda digit: -digit.to)
    loops = [*middle, *inner]
    return backwards + outer, [Digit(1, 0, 0)] * (_LOOPS - len(loops)) + loops


def _within_fields(digit: Digit) -> Iterator[Digit]:
    """A loop as two where a command cannot name so many."""
    most = LIMITS.extent
    if digit.extent <= most:
        yield digit
        return
    size = next(n for n in range(most, 0, -1) if digit.extent % n == 0)
    yield Digit(digit.extent // size, size * digit.to, size * digit.at)
    yield Digit(size, digit.to, digit.at)


def copy_in_lanes(context: LocalContext, whole: Copy, dtype: DType) -> None:
    """Issue a copy, in two passes where that takes less and there is room for what is between."""
    chip, width = context.chip, dtype.bytes
    run = cheapest(whole, width, chip)
    with context.scratch.temporary():
        size = whole.shape[2] * whole.shape[3] * width
        address = context.scratch.find(size) if run is not None else None
        passes = [whole]
        if run is not None and address is not None:
            lane = whole.at >> chip.lane_shift << chip.lane_shift
            groups = whole.by_group(width, chip)
            passes = [p for one in groups for p in two_passes(one, run, lane | address)]
        for one in passes:
            context.emitter.copy(*one.ends(dtype, chip))


def cheapest(whole: Copy, width: int, chip: Chip) -> int | None:
    """How many elements are to stay together in a first pass; None where one pass is as fast."""

    def cycles(run: int) -> int:
        return sum(one.cycles(width, chip) for one in two_passes(whole, run, 0))

    best = min(runs_of(whole), key=cycles, default=None)
    return best if best is not None and cycles(best) < whole.cycles(width, chip) else None


def runs_of(whole: Copy) -> list[int]:
    """How many elements may stay together in a first pass; none where rows stay rows."""
    near = _turning(whole)
    if whole.shape[0] > 1 or near is None:
        return []
    count = whole.shape[near]
    return [run for run in range(2, min(WIDEST, count - 1) + 1) if count % run == 0]


def _turning(whole: Copy) -> int | None:
    """The axis along which the operand's elements are neighbours, where those of the result are
    along the other one of rows and columns."""
    for near, far in ((2, 3), (3, 2)):
        both = whole.at_strides[near], whole.to_strides[far]
        if both == (1, 1) and whole.to_strides[near] > 1 and whole.at_strides[far] > 1:
            return near
    return None


def two_passes(whole: Copy, run: int, between: int) -> tuple[Copy, Copy]:
    """A copy that turns rows into columns by way of `between`, where `run` elements that are
    neighbours in the operand stay together."""
    near = _turning(whole)
    assert near is not None
    far = 5 - near
    _, lanes, *_ = whole.shape
    blocks, others = whole.shape[near] // run, whole.shape[far]
    apart, back = whole.at_strides[far], whole.to_strides[near]
    return (
        Copy(
            (blocks, lanes, others, run),
            between,
            (others * run, 0, run, 1),
            whole.at,
            (run, 0, apart, 1),
        ),
        Copy(
            (blocks, lanes, run, others),
            whole.to,
            (run * back, 0, back, 1),
            between,
            (others * run, 0, 1, run),
        ),
    )
