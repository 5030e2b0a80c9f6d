"""The cheapest sizes of the slices of an op by itself, by the cycles of the commands that some of
them would issue.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import pipeline_cycles, steps_of
from xdsl_tpu.backend.local.context import LocalKernel
from xdsl_tpu.backend.local.cuts import CUT, KIND, Cut, Place, cut_into
from xdsl_tpu.backend.local.dry import DryEmitter
from xdsl_tpu.backend.local.problem import Problem
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.local.slices import Slices
from xdsl_tpu.backend.tensor import ceil_div
from xdsl_tpu.backend.tile.emit import issue
from xdsl_tpu.backend.tile.program import Step
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import Axis, LocalGen, MergesTaps

WORSE = 1.1
"""Fewer rows are not looked at once some take this many times the best."""

GAIN = 0.995
"""Nor fewer channels or images with all their rows once some take more than this share of what
more of them take."""


@dataclass(frozen=True, slots=True)
class Price:
    """Cycles of an op by itself, in how many of them the GDMA is busy, and how many bytes of every
    lane it uses."""

    cycles: int
    gdma: int
    local_bytes: int


@dataclass(frozen=True, slots=True)
class Choice:
    """Sizes of slices along n, c, h and w, whether weights are cut, too, and what that takes the
    core that does most."""

    sizes: tuple[int, ...]
    by_channel: bool
    price: Price

    @property
    def cycles(self) -> int:
        """Until all is done."""
        return self.price.cycles


@lru_cache(maxsize=1 << 10)
def chosen(problem: Problem, chip: Chip, cores: int) -> Choice | None:
    """The cheapest sizes of slices; None when nothing fits."""
    search = _Search(problem, chip, cores)
    *others, widths = search.steps
    only_columns = all(len(steps) == 1 for steps in others)
    for width in widths:
        before = search.best
        search.all_of(width)
        if search.best is None:
            continue
        if not only_columns or (before and search.best.cycles > GAIN * before.cycles):
            break
    return search.best


class _Search:
    """For the cheapest sizes of slices."""

    def __init__(self, problem: Problem, chip: Chip, cores: int) -> None:
        self.op = problem.op([chip.ddr_base] * len(problem.types))
        self.kernel, self.chip, self.cores = problem.kernel, chip, cores
        full = of_value(self.op.results[0], KIND, chip.lanes)
        self.steps = [_steps(self.op, axis, getattr(full, axis), chip) for axis in CUT]
        merges = isinstance(self.op, MergesTaps) and any(self.op.merged_taps())
        # Each slice is loaded by many commands where taps are merged into its channels.
        self.gain = GAIN if merges else 1
        self.best: Choice | None = None

    def all_of(self, width: int) -> None:
        """Try all sizes with so many columns."""
        images, channels, rows, _ = self.steps
        for n, c in product(images, channels):
            before = self.best
            # Channels are outside of rows: only for several images are weights loaded again.
            cuts_weights = c < channels[0] and bool(self.op.channel_weights())
            for by_channel in (False, True) if cuts_weights and n < images[0] else (cuts_weights,):
                self._rows(n, c, width, by_channel)
            if before is None or self.best is None or before.sizes[2] < rows[0]:
                continue
            if self.best.cycles > GAIN * before.cycles:
                break

    def _rows(self, n: int, c: int, width: int, by_channel: bool) -> None:
        for h in self.steps[2]:
            found = cut_into(self.op, (n, c, h, width), by_channel, self.chip)
            if found is None:
                continue
            try:
                price = _price(self.op, self.kernel, found, self.chip, self.cores)
            except DoesNotFit:
                continue
            if self.best is None or price.cycles < self.gain * self.best.cycles:
                self.best = Choice((n, c, h, width), by_channel, price)
            elif price.cycles > WORSE * self.best.cycles:
                break


def _steps(op: LocalGen, axis: Axis, size: int, chip: Chip) -> list[int]:
    """Sizes of slices along an axis, from all of it to the least, each about half the one before;
    of rows, which share what windows read, all that are worth trying."""
    if not op.may_split(axis, KIND):
        return [size]
    unit = chip.lanes if axis == "c" else 1
    steps = steps_of(size, unit)
    if axis == "h":
        return list(steps)
    found = [size]
    for step in steps[1:]:
        if 2 * step <= found[-1] + unit or step == steps[-1] < found[-1]:
            found.append(step)
    return found


def _price(op: LocalGen, kernel: LocalKernel, found: Cut, chip: Chip, cores: int) -> Price:
    """What a cut takes the core that does most: of slices of one size that load as much, one is
    run dry."""
    builder = Slices(op, kernel, found, chip)
    inner = builder.places.index(found.inner)
    places = builder.places[: ceil_div(len(builder.places), cores)]
    if len(builder.places) < cores:
        places = builder.places
    kinds = [(found.sizes(place), builder.news(number)) for number, place in enumerate(places)]
    known: dict[tuple[Place, tuple[int, ...]], tuple[int, int, int]] = {}
    used = builder.local_bytes
    for number in (inner, *range(len(places))):
        if (kind := kinds[number]) not in known:
            load = _dry(builder.load(number, kind[1]), chip).gdma_cycles
            rest = _dry((builder.compute(number, 0), builder.store(number)), chip)
            known[kind] = load, rest.tiu_cycles, rest.gdma_cycles
            used = max(used, rest.local_bytes)
    first = _dry(builder.load(inner, builder.held), chip).gdma_cycles
    cycles = first + pipeline_cycles((known[kind] for kind in kinds), len(places))
    gdma = first + sum(known[kind][0] + known[kind][2] for kind in kinds)
    return Price(cycles, gdma, used)


def _dry(steps: Iterable[Step], chip: Chip) -> DryEmitter:
    """The commands of some steps, only counted."""
    emitter = DryEmitter(chip)
    for step in steps:
        issue(emitter, KIND, step)
    return emitter
