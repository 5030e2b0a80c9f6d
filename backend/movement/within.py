"""Moving elements within the lanes: strided copies, fills and transpositions of the TIU."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import permutations
from math import prod

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.movement.transfers import LARGEST_SIZE, MOST_COMMANDS, RAW
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.tensor import (
    DType,
    Layout,
    LocalTensor,
    Shape4,
    align,
    aligned,
    ceil_div,
    strided,
)
from xdsl_tpu.backend.timing.tiu_cost import gap_factor, tiu_cycles
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit

_NO_LOOP = Digit(1, 0, 0)


@dataclass(frozen=True, slots=True)
class Within:
    """Commands from one buffer to another, in `lanes` channels; addresses from both starts.

    Without an operand a command fills with a constant; with `transposed` lanes and columns change
    places, with `casts` numbers their format.
    """

    pairs: tuple[tuple[LocalTensor, LocalTensor | int], ...]
    cycles: int
    transposed: bool = False
    casts: bool = False

    def emit(self, emitter: Emitter, target: int, source: int) -> None:
        """Between buffers at these offsets of every lane."""
        for to, at in self.pairs:
            out = replace(to, address=to.address + target)
            if isinstance(at, int):
                emitter.copy(out, at)
                continue
            operand = replace(at, address=at.address + source)
            if self.transposed:
                emitter.transpose_cw(out, operand)
            elif self.casts:
                emitter.cast(out, operand)
            else:
                emitter.copy(out, operand)


def room(chip: Chip, lanes: int, size: int, width: int) -> int:
    """Bytes per lane of a buffer of `size` elements for each of so many channels."""
    return ceil_div(lanes, chip.lanes) * group_step(chip, size, width) * width


def group_step(chip: Chip, size: int, width: int) -> int:
    """Elements from one lane group to the next."""
    return align(size, chip.eu(width))


@lru_cache(maxsize=1 << 13)
def copies(box: Box, lanes: int, steps: tuple[int, int], width: int, chip: Chip) -> Within | None:
    """A box within every lane, as copies; `steps` are those of lane groups in target and source.

    None when it takes more than `MOST_COMMANDS`.
    """
    box = box.simplified()
    loops = box.digits
    best: tuple[int, tuple[Digit, ...]] | None = None
    forward = [d for d in loops if d.at >= 0 and d.extent <= LARGEST_SIZE]
    commands = prod(d.extent for d in loops)
    groups, eu = ceil_div(lanes, chip.lanes), chip.eu(width)
    for order in _orders(len(forward)):
        kept = tuple(_NO_LOOP if place is None else forward[place] for place in order)
        n, h, w = kept
        count = commands // (n.extent * h.extent * w.extent)
        if count > MOST_COMMANDS:
            continue
        gaps = [
            gap_factor(h_step, w_step, h.extent, w.extent, eu)
            for h_step, w_step in ((h.to, w.to), (h.at, w.at))
        ]
        lines = n.extent * groups * ceil_div(h.extent * w.extent, eu)
        least = count * lines * max(1, *gaps)
        if best is not None and max(count, least) >= best[0]:
            continue
        total = count * _copy_cycles(*_strided(kept, lanes, steps), width, chip)
        if best is None or total < best[0]:
            best = total, kept
    if best is None:
        return None
    shape, to_strides, at_strides = _strided(best[1], lanes, steps)
    rest = tuple(digit for digit in loops if digit not in best[1])
    pairs = [
        (
            strided(to * width, shape, to_strides, RAW[width]),
            strided(at * width, shape, at_strides, RAW[width]),
        )
        for to, at in Box(box.to, box.at, rest).points()
    ]
    return Within(tuple(pairs), best[0])


@cache
def _orders(count: int) -> tuple[tuple[int | None, ...], ...]:
    """Which of `count` loops may be the three of a command, None standing for no loop."""
    places = (*range(count), None, None, None)
    return tuple(dict.fromkeys(permutations(places, 3)))


def _strided(
    kept: Sequence[Digit], lanes: int, steps: tuple[int, int]
) -> tuple[Shape4, Shape4, Shape4]:
    n, h, w = kept
    shape = (n.extent, lanes, h.extent, w.extent)
    one = w.extent == 1
    target = (n.to, steps[0], h.to, 1 if one else w.to)
    source = (n.at, steps[1], h.at, 1 if one else w.at)
    return shape, target, source


@lru_cache(maxsize=1 << 14)
def _copy_cycles(shape: Shape4, to: Shape4, at: Shape4, width: int, chip: Chip) -> int:
    dtype = RAW[width]
    emitter = Emitter(chip, Program(name="", chip=chip.name, quantize=""))
    emitter.copy(strided(0, shape, to, dtype), strided(0, shape, at, dtype))
    return tiu_cycles(emitter.program.tiu[-1], chip)


def filled(lanes: int, size: int, bits: int, width: int, chip: Chip) -> Within:
    """A buffer of `size` elements in every channel set to a constant, its bits."""
    groups = ceil_div(lanes, chip.lanes)
    step = group_step(chip, size, width)
    shape: Shape4 = (1, lanes, ceil_div(size, LARGEST_SIZE), min(size, LARGEST_SIZE))
    strides = (groups * step, step, min(size, LARGEST_SIZE), 1)
    target = LocalTensor(0, shape, strides, RAW[width], Layout.FREE)
    emitter = Emitter(chip, Program(name="", chip=chip.name, quantize=""))
    emitter.copy(target, bits)
    return Within(((target, bits),), tiu_cycles(emitter.program.tiu[-1], chip))


@lru_cache(maxsize=1 << 12)
def transposed(lanes: int, rows: int, columns: int, width: int, chip: Chip) -> Within:
    """(lanes, rows, columns) with `columns` on the lanes: (columns, rows, lanes)."""
    dtype = RAW[width]
    before = aligned(chip, 0, (1, lanes, rows, columns), dtype)
    after = aligned(chip, 0, (1, columns, rows, lanes), dtype)
    emitter = Emitter(chip, Program(name="", chip=chip.name, quantize=""))
    emitter.transpose_cw(after, before)
    return Within(((after, before),), tiu_cycles(emitter.program.tiu[-1], chip), transposed=True)


@lru_cache(maxsize=1 << 12)
def cast(lanes: int, size: int, kinds: tuple[DType, DType], chip: Chip) -> Within:
    """A buffer of `size` elements in every channel from the first number format to the second."""
    before, after = (aligned(chip, 0, (1, lanes, 1, size), kind) for kind in kinds)
    emitter = Emitter(chip, Program(name="", chip=chip.name, quantize=""))
    emitter.cast(after, before)
    return Within(((after, before),), tiu_cycles(emitter.program.tiu[-1], chip), casts=True)
