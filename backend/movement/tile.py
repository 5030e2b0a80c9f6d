"""One tile of a job on its way through local memory, and what it costs.

    load in the source's order, copy so that columns are inmost, transpose lanes and columns,
    copy into the result's order, store

A tile's elements lie in every lane densely, first in the order in which the source has them, so
that runs are long, and at the end in the order of the result. One loop goes over the lanes; with a
transposition, another one goes over them afterwards. Steps that would change nothing are left out.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import prod

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.movement.job import Job, Part
from xdsl_tpu.backend.movement.transfers import LARGEST_SIZE, Lanes, Transfers, transfers
from xdsl_tpu.backend.movement.within import (
    Within,
    cast,
    copies,
    filled,
    group_step,
    room,
    transposed,
)
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit
from xdsl_tpu.dialects.records import record

Extents = tuple[int, ...]
"""Of every loop of a job: how many rounds a tile has."""


@record(frozen=True, slots=True)
class Way:
    """How a job goes through local memory.

    Loop `lane` is over the lanes when tiles come, `after` when they go: another one where they are
    transposed. Then `early` and `late` say that the tile is put in order before and after that.
    Elements of the source that lie between those wanted are loaded along where this makes a run no
    more than `gap` times as long.
    """

    job: Job
    lane: int
    after: int
    gap: int = 1
    early: bool = False
    late: bool = False


@record(frozen=True, slots=True)
class Step:
    """A computation between two buffers of a tile."""

    within: Within
    target: int
    source: int


@record(frozen=True, slots=True)
class Tile:
    """Commands of a tile. Buffers: one for each part, those between, the last one."""

    loads: tuple[Transfers, ...]
    steps: tuple[Step, ...]
    store: Transfers
    rooms: tuple[int, ...]
    """Bytes per lane of every buffer; those of parts and the last are needed twice."""

    @property
    def cycles(self) -> tuple[int, int, int]:
        """Of loads, computation and store."""
        return (
            sum(load.cycles for load in self.loads),
            sum(step.within.cycles for step in self.steps),
            self.store.cycles,
        )

    @property
    def buffers(self) -> int:
        """How many there are."""
        return len(self.rooms)

    @property
    def bytes(self) -> int:
        """Per lane, all buffers together, two of those that the GDMA touches."""
        ends = sum(self.rooms[: len(self.loads)]) + (self.rooms[-1] if self.steps else 0)
        return sum(self.rooms) + ends


@record(frozen=True, slots=True)
class _Image:
    """Where elements lie in a lane: a stride for every loop, and how many there are."""

    strides: dict[int, int]
    size: int


@record(frozen=True, slots=True)
class _Fetched:
    """The image of a part: strides of loops and inner digits, and the box that loads it."""

    loops: dict[int, int]
    inner: tuple[int, ...]
    first: int
    size: int
    box: Box


@record(frozen=True, slots=True)
class _Ends:
    """How a tile comes and goes: images of the parts and of the result, and what moves them."""

    fetched: tuple[_Fetched, ...]
    last: _Image
    loads: tuple[Transfers, ...]
    store: Transfers


@lru_cache(maxsize=1 << 13)
def tile_of(way: Way, extents: Extents, chip: Chip, copied: bool = False) -> Tile | None:
    """The commands of a tile of these extents; None when some step takes too many. `copied`: put in
    order by a copy, even if it comes so, as the other tiles of the job are."""
    if way.after != way.lane:
        return _transposing(way, extents, chip)
    ends = _ends(way, extents, chip)
    if ends is None:
        return None
    job, lanes, fetched, last = way.job, extents[way.lane], ends.fetched, ends.last
    first, *others = fetched
    rooms = [room(chip, lanes, f.size, job.width) for f in fetched]
    steps: list[Step] | None = []
    if others or copied or not _is_placed(job, first, last):
        steps = _placing(job, lanes, extents, fetched, last, chip)
        rooms.append(room(chip, lanes, last.size, job.width))
    if steps is None:
        return None
    _cast(steps, rooms, job, lanes, last, chip)
    return Tile(ends.loads, tuple(steps), ends.store, tuple(rooms))


def moving_cycles(way: Way, extents: Extents, chip: Chip) -> int | None:
    """Cycles that the GDMA takes for a tile of these extents, whatever happens between; None when
    that cannot be said, or takes too many commands."""
    ends = _ends(way, extents, chip) if way.after == way.lane else None
    return None if ends is None else sum(load.cycles for load in ends.loads) + ends.store.cycles


@lru_cache(maxsize=1 << 13)
def _ends(way: Way, extents: Extents, chip: Chip) -> _Ends | None:
    """How a tile whose lanes stay lanes comes and goes; None when that takes too many commands."""
    job = way.job
    inside = [k for k, e in enumerate(extents) if k != way.lane and e > 1]
    fetched = tuple(_fetched(job, way, extents, inside, p) for p in range(len(job.parts)))
    last = _in_order(job, extents, inside, job.region)
    if max(last.size, *(f.size for f in fetched)) > LARGEST_SIZE:
        return None
    found = [_load(job, way, extents, f, p, chip) for p, f in enumerate(fetched)]
    store = _store(job, way.lane, extents, inside, last, chip)
    loads = tuple(load for load in found if load is not None)
    if store is None or len(loads) < len(found):
        return None
    return _Ends(fetched, last, loads, store)


def _is_placed(job: Job, fetched: _Fetched, last: _Image) -> bool:
    """Whether a part lies as the result does when it comes."""
    part = job.parts[0]
    inner = tuple(digit.to for digit in part.digits)
    same = fetched.loops == last.strides and fetched.inner == inner
    return same and fetched.first == part.to == 0 and job.fill is None and fetched.size == last.size


def _fetched(job: Job, way: Way, extents: Extents, inside: Sequence[int], part: int) -> _Fetched:
    """The image of a part in the order of its source, without what repeats."""
    digits = [(extents[k], job.loops[k].at[part], k) for k in inside]
    inner = job.parts[part].digits
    digits += [(d.extent, d.at, len(job.loops) + i) for i, d in enumerate(inner)]
    strides: dict[int, int] = {}
    loops: list[Digit] = []
    span, linear, first, behind = 1, True, 0, 0
    for extent, at, key in sorted(digits, key=lambda d: abs(d[1])):
        if at == 0:
            strides[key] = 0
            continue
        step = abs(at)
        if linear and step <= way.gap * span:
            stride, span = step, (extent - 1) * step + span
        else:
            if linear and span > 1:
                loops.append(Digit(span, 1, 1))
            linear, stride = False, span
            loops.append(Digit(extent, stride, step))
            span *= extent
        if at < 0:  # the last comes first
            first += (extent - 1) * stride
            behind += (extent - 1) * at
            stride = -stride
        strides[key] = stride
    if linear and span > 1:
        loops.append(Digit(span, 1, 1))
    count = len(job.loops)
    return _Fetched(
        {k: strides[k] for k in inside},
        tuple(strides[count + i] for i in range(len(inner))),
        first,
        span,
        Box(0, behind, tuple(loops)).simplified(),
    )


def _in_order(job: Job, extents: Extents, inside: Sequence[int], unit: int) -> _Image:
    """The dense image in the order of the result."""
    strides: dict[int, int] = {}
    for k in sorted(inside, key=lambda k: job.loops[k].to):
        strides[k] = unit
        unit *= extents[k]
    return _Image(strides, unit)


def _load(
    job: Job, way: Way, extents: Extents, fetched: _Fetched, part: int, chip: Chip
) -> Transfers | None:
    lanes = extents[way.lane]
    at = job.loops[way.lane].at[part]
    box = fetched.box
    if at < 0 or (at == 0 and lanes > chip.lanes):
        return None
    channels = Lanes(lanes, at, group_step(chip, fetched.size, job.width))
    return transfers(channels, box, job.width, chip, stores=False)


def _store(
    job: Job, lane: int, extents: Extents, inside: Sequence[int], image: _Image, chip: Chip
) -> Transfers | None:
    digits = [Digit(extents[k], image.strides[k], job.loops[k].to) for k in inside]
    if job.region > 1:
        digits.append(Digit(job.region, 1, 1))
    step = group_step(chip, image.size, job.stored_width)
    channels = Lanes(extents[lane], job.loops[lane].to, step)
    box = Box(0, 0, tuple(digits)).simplified()
    return transfers(channels, box, job.stored_width, chip, stores=True)


def _cast(
    steps: list[Step], buffers: list[int], job: Job, lanes: int, image: _Image, chip: Chip
) -> None:
    """Have the last buffer in the number format in which it is stored."""
    if job.cast is not None:
        number = len(buffers)
        steps.append(Step(cast(lanes, image.size, job.cast, chip), number, number - 1))
        buffers.append(room(chip, lanes, image.size, job.stored_width))


def _placing(
    job: Job,
    lanes: int,
    extents: Extents,
    fetched: Sequence[_Fetched],
    last: _Image,
    chip: Chip,
) -> list[Step] | None:
    """Copies of all parts to their places."""
    steps: list[Step] = []
    target = len(fetched)
    if job.fill is not None:
        steps.append(Step(filled(lanes, last.size, job.fill, job.width, chip), target, target))
    for number, (part, image) in enumerate(zip(job.parts, fetched, strict=True)):
        digits = [Digit(extents[k], last.strides[k], image.loops[k]) for k in image.loops]
        digits += _inner(part, image)
        sizes = (last.size, image.size)
        to, at = (group_step(chip, size, job.width) for size in sizes)
        box = Box(part.to, image.first, tuple(digits))
        found = copies(box, lanes, (to, at), job.width, chip)
        if found is None:
            return None
        steps.append(Step(found, target, number))
    return steps


def _inner(part: Part, image: _Fetched) -> list[Digit]:
    return [Digit(d.extent, d.to, at) for d, at in zip(part.digits, image.inner, strict=True)]


def _transposing(way: Way, extents: Extents, chip: Chip) -> Tile | None:
    """A tile of a single part whose lanes and columns change places on the way."""
    job = way.job
    lanes, columns = extents[way.lane], extents[way.after]
    rest = [k for k, e in enumerate(extents) if k not in (way.lane, way.after) and e > 1]
    rows = prod(extents[k] for k in rest)
    before = _in_order(job, extents, rest, columns)
    before.strides[way.after] = 1
    after = _in_order(job, extents, rest, lanes)
    after.strides[way.lane] = 1
    if max(before.size, after.size, rows, lanes, columns) > LARGEST_SIZE:
        return None
    inside = [*rest, way.after]
    buffers: list[int] = []
    steps: list[Step] = []
    if way.early:
        image = _fetched(job, way, extents, inside, 0)
        load = _load(job, way, extents, image, 0, chip)
        digits = [Digit(extents[k], before.strides[k], image.loops[k]) for k in inside]
        box = Box(0, image.first, tuple(digits))
        if not _add(steps, buffers, job, lanes, box, (image.size, before.size), chip):
            return None
    else:
        load = _load_as(job, way, extents, inside, before, chip)
    buffers.append(room(chip, lanes, before.size, job.width))
    steps.append(
        Step(transposed(lanes, rows, columns, job.width, chip), len(buffers), len(buffers) - 1)
    )
    outside, last = [*rest, way.lane], after
    if way.late:
        last = _in_order(job, extents, outside, 1)
        digits = [Digit(extents[k], last.strides[k], after.strides[k]) for k in outside]
        box = Box(0, 0, tuple(digits))
        if not _add(steps, buffers, job, columns, box, (after.size, last.size), chip):
            return None
    buffers.append(room(chip, columns, last.size, job.width))
    _cast(steps, buffers, job, columns, last, chip)
    store = _store(job, way.after, extents, outside, last, chip)
    if load is None or store is None:
        return None
    return Tile((load,), tuple(steps), store, tuple(buffers))


def _add(
    steps: list[Step],
    buffers: list[int],
    job: Job,
    lanes: int,
    box: Box,
    sizes: tuple[int, int],
    chip: Chip,
) -> bool:
    """Append a copy from an image of the first size to one of the second, and the first buffer."""
    at, to = (group_step(chip, size, job.width) for size in sizes)
    found = copies(box, lanes, (to, at), job.width, chip)
    if found is None or sizes[0] > LARGEST_SIZE:
        return False
    buffers.append(room(chip, lanes, sizes[0], job.width))
    steps.append(Step(found, len(buffers), len(buffers) - 1))
    return True


def _load_as(
    job: Job,
    way: Way,
    extents: Extents,
    inside: Sequence[int],
    image: _Image,
    chip: Chip,
) -> Transfers | None:
    """Load straight into an image, in runs that are contiguous there, too."""
    at = job.loops[way.lane].at[0]
    loops = [(extents[k], image.strides[k], job.loops[k].at[0]) for k in inside]
    if at <= 0 or any(far <= 0 for _, _, far in loops):
        return None
    step = group_step(chip, image.size, job.width)
    box = Box(0, 0, tuple(Digit(*loop) for loop in loops)).simplified()
    return transfers(Lanes(extents[way.lane], at, step), box, job.width, chip, stores=False)
