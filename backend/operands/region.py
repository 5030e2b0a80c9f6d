"""An access as plain byte patterns: a start, nested steps, and a run of bytes at every step."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.operands.access import Access
from xdsl_tpu.dialects.errors import TpuError

_MOST_PIECES = 4096

_Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes start + sum(i * step) + [0, run) for every index i of the nested loops, each once.

    Offsets count from the start of local memory (lanes back to back) or of the address space.
    The steps fall: every step is at least what the loops inside it span. Loops that repeat bytes
    are left out or merged, runs that touch are one run.
    """

    start: int
    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    run: int

    @property
    def end(self) -> int:
        """The byte behind the last one."""
        last = sum((n - 1) * step for n, step in zip(self.sizes, self.steps, strict=True))
        return self.start + last + self.run


def regions(access: Access, chip: Chip) -> tuple[Region, ...]:
    """The bytes of an access, cut where its channels wrap around the lanes.

    Raises TpuError when its elements overlap in a pattern of very many pieces.
    """
    n, c, h, w = access.shape
    size = access.size
    sn, sc, sh, sw = (stride * size for stride in access.strides)
    if not access.local:
        return _distinct(access, access.address, ((n, sn), (c, sc), (h, sh), (w, sw)))
    lane, offset = divmod(access.address, chip.local_bytes)
    found: list[Region] = []
    for first_lane, group, groups, lanes in _lane_blocks(lane, c, chip.lanes):
        start = first_lane * chip.local_bytes + offset + group * sc
        loops = ((lanes, chip.local_bytes), (n, sn), (groups, sc), (h, sh), (w, sw))
        found += _distinct(access, start, loops)
    return tuple(found)


def _lane_blocks(lane: int, channels: int, lanes: int) -> list[tuple[int, int, int, int]]:
    """(first lane, first group, groups, lanes) of the head, the full groups and the tail."""
    head = min(channels, lanes - lane)
    blocks = [(lane, 0, 1, head)] if lane or head < lanes else []
    group = len(blocks)
    rest = channels - head * group
    if full := rest // lanes:
        blocks.append((0, group, full, lanes))
        group += full
    if tail := rest % lanes:
        blocks.append((0, group, 1, tail))
    return blocks


_Loop = tuple[int, int]  # how often, bytes from one to the next


def _distinct(access: Access, start: int, loops: tuple[_Loop, ...]) -> tuple[Region, ...]:
    """The bytes of nested loops around an element, each byte once."""
    run, kept = _merged(loops, access.size)
    overlapping, span = 0, run
    for position, (count, step) in enumerate(kept):
        if step < span:
            overlapping = position + 1
        span += (count - 1) * step
    if not overlapping:
        return (_region(start, run, kept),)
    unit = math.gcd(*(step for _, step in kept[:overlapping]))
    starts, ends = _multiples([(n, step // unit) for n, step in kept[:overlapping]])
    if run > unit:  # runs cover the multiples between them, and may reach the next piece
        starts, ends = united(starts * unit, (ends - 1) * unit + run)
        run = unit = 1
    if starts.size > _MOST_PIECES:
        raise TpuError(
            f"the elements of {access.operand} overlap in a pattern of more than {_MOST_PIECES} "
            f"pieces (strides {list(access.strides)} of {list(access.shape)})"
        )
    rest = kept[overlapping:]
    return tuple(
        _region(start + low * unit, *_merged(((high - low, unit), *rest), run))
        for low, high in zip(starts.tolist(), ends.tolist(), strict=True)
    )


def _region(start: int, run: int, loops: list[_Loop]) -> Region:
    falling = loops[::-1]
    return Region(start, tuple(n for n, _ in falling), tuple(step for _, step in falling), run)


def _merged(loops: tuple[_Loop, ...], size: int) -> tuple[int, list[_Loop]]:
    """The run, and the loops by rising step, of which none goes on where the ones inside end."""
    kept: list[_Loop] = []
    run = size
    for count, step in sorted(loops, key=lambda loop: loop[1]):
        if count == 1 or step == 0:
            continue
        if not kept and step <= run:
            run += (count - 1) * step
        elif kept and step % kept[-1][1] == 0 and step <= kept[-1][0] * kept[-1][1]:
            inner, unit = kept[-1]
            kept[-1] = (inner + (count - 1) * (step // unit), unit)
        else:
            kept.append((count, step))
    return run, kept


def _multiples(loops: list[_Loop]) -> tuple[_Array, _Array]:
    """The sums of i * step over all indices, as intervals of whole numbers."""
    starts, ends = np.zeros(1, np.int64), np.ones(1, np.int64)
    for count, step in loops:
        done = 1
        while done < count and starts.size <= _MOST_PIECES << 8:
            more = min(done, count - done)
            starts, ends = united(
                np.concatenate((starts, starts + more * step)),
                np.concatenate((ends, ends + more * step)),
            )
            done += more
    return starts, ends


def united(starts: _Array, ends: _Array) -> tuple[_Array, _Array]:
    """Intervals [start, end) in any order as sorted ones that neither overlap nor touch."""
    order = np.argsort(starts, kind="stable")
    starts, reach = starts[order], np.maximum.accumulate(ends[order])
    begins = np.concatenate(([True], starts[1:] > reach[:-1]))
    closes = np.concatenate((begins[1:], [True]))
    return starts[begins], reach[closes]
