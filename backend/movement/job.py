"""What is to be moved: loops that all parts of a result share, and what each part does in them.

An index map says which element of a source each element of the result is. To bring a stretch of the
result together in local memory, whatever it comes from, the map is written as a `Job`: loops common
to all its boxes, each round of which makes a `region` of neighbouring elements of the result, and
the boxes within a region. Two halves that alternate element by element are then one loop, with a
region of two elements; a padded image is a loop over its channels, with rows and borders as region.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects.interfaces.index_map import Box, Digit
from xdsl_tpu.dialects.records import record


@record(frozen=True, slots=True)
class Source:
    """Boxes that read the source of this number."""

    number: int
    boxes: tuple[Box, ...]


@record(frozen=True, slots=True)
class Loop:
    """`extent` rounds, `to` elements of the result apart; `at` says how far apart in each part's
    source."""

    extent: int
    to: int
    at: tuple[int, ...]


@record(frozen=True, slots=True)
class Part:
    """What one round takes from a source: elements at `to` in the region, from `at` on there."""

    source: int
    to: int
    at: int
    digits: tuple[Digit, ...] = ()

    @property
    def size(self) -> int:
        """Elements."""
        return prod(digit.extent for digit in self.digits)


@record(frozen=True, slots=True)
class Job:
    """Elements `to` + sum(i * loop.to) + (0 .. region - 1) of a result, of `width` bytes each.

    What no part covers becomes `fill`, the bits of an element. With a `cast` elements come in the
    first number format and are stored in the second.
    """

    width: int
    to: int
    loops: tuple[Loop, ...]
    parts: tuple[Part, ...]
    region: int = 1
    fill: int | None = None
    cast: tuple[DType, DType] | None = None

    @property
    def stored_width(self) -> int:
        """Bytes of an element of the result."""
        return self.width if self.cast is None else self.cast[1].bytes

    @property
    def elements(self) -> int:
        """Elements of the result."""
        return self.region * prod(loop.extent for loop in self.loops)


def jobs_of(
    sources: Sequence[Source], width: int, fill: int | None, size: int
) -> Iterator[tuple[Job, ...]]:
    """Ways to write a map of `size` elements as jobs, one behind the other.

    Elements that no job makes are left for the caller to fill with `fill`.
    """
    boxes = [(source.number, box) for source in sources for box in source.boxes]
    alone = tuple(_alone(number, box, width) for number, box in boxes)
    yield alone
    if len(boxes) == 1 and (fill is None or boxes[0][1].size == size):
        return
    strides = {digit.to for _, box in boxes for digit in box.digits}
    strides |= {digit.to * digit.extent for _, box in boxes for digit in box.digits}
    for region in sorted(stride for stride in strides if stride > 1 and size % stride == 0):
        found = _joined(boxes, region, width, fill)
        if found is not None and found != alone:
            yield found


def _alone(number: int, box: Box, width: int) -> Job:
    loops = tuple(Loop(d.extent, d.to, (d.at,)) for d in box.digits)
    return Job(width, box.to, loops, (Part(number, 0, box.at),))


@record(frozen=True, slots=True)
class _Split:
    """A box as loops outside and inside of regions."""

    source: int
    first: int
    outer: tuple[Digit, ...]
    part: Part


def _joined(
    boxes: Sequence[tuple[int, Box]], region: int, width: int, fill: int | None
) -> tuple[Job, ...] | None:
    """Jobs of this region: boxes with equal loops share one. None where a box crosses regions."""
    alike: dict[tuple[object, ...], list[_Split]] = {}
    for number, box in boxes:
        split = _split(number, box, region)
        if split is None:
            return None
        alike.setdefault((split.first, *_places(split.outer)), []).append(split)
    jobs: list[Job] = []
    met = _met_twice(list(alike.values()))
    for group in alike.values():
        job = _job(group, region, width, fill)
        covered = sum(split.part.size for split in group)
        fills = fill is not None and met is not None and met.isdisjoint(_firsts(group[0]))
        if job is not None and (covered == region or fills):
            jobs.append(job)
        else:
            jobs += (_apart(split, width) for split in group)
    return tuple(jobs)


MOST_REGIONS = 1 << 16
"""Of more regions it is not found out which are met twice."""


def _met_twice(groups: Sequence[Sequence[_Split]]) -> set[int] | None:
    """Where regions begin of which several groups make a part: none of them may fill the rest.

    None when there are too many to say.
    """
    counts = [prod(digit.extent for digit in group[0].outer) for group in groups]
    if sum(counts) > MOST_REGIONS:
        return None
    seen: set[int] = set()
    twice: set[int] = set()
    for group in groups:
        firsts = _firsts(group[0])
        twice |= seen & firsts
        seen |= firsts
    return twice


def _firsts(split: _Split) -> set[int]:
    """Where the regions of a box begin."""
    starts = [split.first]
    for digit in split.outer:
        starts = [start + i * digit.to for start in starts for i in range(digit.extent)]
    return set(starts)


def _apart(split: _Split, width: int) -> Job:
    part = split.part
    loops = tuple(Loop(d.extent, d.to, (d.at,)) for d in (*split.outer, *part.digits))
    return Job(width, split.first + part.to, loops, (Part(part.source, 0, part.at),))


def _split(number: int, box: Box, region: int) -> _Split | None:
    outer: list[Digit] = []
    inner: list[Digit] = []
    for digit in box.digits:
        if digit.to >= region:
            if digit.to % region:
                return None
            outer.append(digit)
        elif digit.to * digit.extent <= region:
            inner.append(digit)
        else:
            ratio, left = divmod(region, digit.to)
            if left or digit.extent % ratio:
                return None
            outer.append(Digit(digit.extent // ratio, region, digit.at * ratio))
            inner.append(Digit(ratio, digit.to, digit.at))
    within = box.to % region
    if within + sum((d.extent - 1) * d.to for d in inner) >= region:
        return None
    part = Part(number, within, box.at, tuple(inner))
    return _Split(number, box.to - within, tuple(sorted(outer, key=lambda d: -d.to)), part)


def _places(digits: Iterable[Digit]) -> tuple[tuple[int, int], ...]:
    """Extents and strides in the result, neighbours that are one loop there joined."""
    merged: list[tuple[int, int]] = []
    for digit in digits:
        if merged and merged[-1][1] == digit.extent * digit.to:
            merged[-1] = (merged[-1][0] * digit.extent, digit.to)
        else:
            merged.append((digit.extent, digit.to))
    return tuple(merged)


def _job(group: Sequence[_Split], region: int, width: int, fill: int | None) -> Job | None:
    """Boxes in equal places as one job; None where their loops have no common factors."""
    cuts = sorted({d.to for split in group for d in split.outer}, reverse=True)
    refined = [_refined(split.outer, cuts) for split in group]
    if any(digits is None for digits in refined):
        return None
    known = [digits for digits in refined if digits is not None]
    if len({tuple((d.extent, d.to) for d in digits) for digits in known}) != 1:
        return None
    loops = tuple(
        Loop(same[0].extent, same[0].to, tuple(d.at for d in same))
        for same in zip(*known, strict=True)
    )
    parts = tuple(split.part for split in group)
    covered = sum(part.size for part in parts)
    return Job(width, group[0].first, loops, parts, region, None if covered == region else fill)


def _refined(digits: Sequence[Digit], cuts: Sequence[int]) -> tuple[Digit, ...] | None:
    """Loops cut wherever another box's loops end."""
    found: list[Digit] = []
    for digit in digits:
        left = digit
        for cut in cuts:
            if not left.to < cut < left.to * left.extent:
                continue
            ratio, rest = divmod(cut, left.to)
            if rest or left.extent % ratio:
                return None
            found.append(Digit(left.extent // ratio, cut, left.at * ratio))
            left = Digit(ratio, left.to, left.at)
        found.append(left)
    return tuple(found)


def widened(
    sources: Sequence[Source], width: int, fill: int | None, size: int, addresses: Iterable[int]
) -> tuple[tuple[Source, ...], int, int | None, int]:
    """The same map of elements twice as wide, as long as all its boxes allow, up to 4 bytes.

    The TIU moves an element of any width in the same time. Returns sources, width, fill and size.
    """
    places = tuple(addresses)
    now = tuple(sources)
    while width < 4 and all(address % (2 * width) == 0 for address in places):
        wider = tuple(_doubled(source) for source in now)
        if size % 2 or any(source is None for source in wider):
            break
        now = tuple(source for source in wider if source is not None)
        fill = None if fill is None else fill | fill << 8 * width
        width, size = 2 * width, size // 2
    return now, width, fill, size


def _doubled(source: Source) -> Source | None:
    boxes = [_doubled_box(box) for box in source.boxes]
    known = tuple(box for box in boxes if box is not None)
    return Source(source.number, known) if len(known) == len(boxes) else None


def _doubled_box(box: Box) -> Box | None:
    unit = next((d for d in box.digits if (d.to, d.at) == (1, 1)), None)
    if unit is None:
        return None
    others = [d for d in box.digits if d is not unit]
    numbers = [box.to, box.at, unit.extent, *(n for d in others for n in (d.to, d.at))]
    if any(number % 2 for number in numbers):
        return None
    digits = [Digit(d.extent, d.to // 2, d.at // 2) for d in others]
    return Box(box.to // 2, box.at // 2, (*digits, Digit(unit.extent // 2, 1, 1))).simplified()


def halves(job: Job, loop: int, size: int) -> tuple[Job, Job | None]:
    """A job whose loop is two, the inner one of `size` rounds, and what is left when they do not
    divide it. The outer loop takes the place of the old one, the inner one is the last."""
    old = job.loops[loop]
    rounds, rest = divmod(old.extent, size)
    inner = replace(old, extent=size)
    outer = Loop(rounds, old.to * size, tuple(at * size for at in old.at))
    loops = (*job.loops[:loop], outer, *job.loops[loop + 1 :], inner)
    main = replace(job, loops=loops)
    if not rest:
        return main, None
    done = rounds * size
    tail = replace(
        job,
        to=job.to + done * old.to,
        loops=(*job.loops[:loop], replace(old, extent=rest), *job.loops[loop + 1 :]),
        parts=tuple(
            replace(part, at=part.at + done * at)
            for part, at in zip(job.parts, old.at, strict=True)
        ),
    )
    return main, tail
