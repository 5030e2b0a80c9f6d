"""The cheapest sizes of the slices of an op by itself."""

from functools import lru_cache
from itertools import product

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import halved, steps_of
from xdsl_tpu.backend.local.cut_price import Choice, price_of
from xdsl_tpu.backend.local.cuts import CUT, KIND, Way, cut_into
from xdsl_tpu.backend.local.problem import Problem
from xdsl_tpu.backend.local.product_cuts import WORSE, cheapest_product
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import Axis, LocalGen, MergesTaps

GAIN = 0.995
"""Nor fewer channels or images with all their rows once some take more than this share of what
more of them take."""


@lru_cache(maxsize=1 << 10)
def chosen(problem: Problem, chip: Chip, cores: int) -> Choice | None:
    """The cheapest sizes of slices; None when nothing fits."""
    search = _Search(problem, chip, cores)
    if "k" in search.op.cut_alone():
        alone = chosen(problem, chip, 1) if cores > 1 else None  # numbers do not depend on cores
        parts = None if alone is None else alone.way.sizes[-1]
        return cheapest_product(search.op, problem.kernel, chip, cores, parts)
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
            if before is None or self.best is None or before.way.sizes[2] < rows[0]:
                continue
            if self.best.cycles > GAIN * before.cycles:
                break

    def _rows(self, n: int, c: int, width: int, by_channel: bool) -> None:
        for h in self.steps[2]:
            way = Way((n, c, h, width, self.op.summed()), by_channel)
            found = cut_into(self.op, way, self.chip)
            if found is None:
                continue
            try:
                price = price_of(self.op, self.kernel, found, self.chip, self.cores)
            except DoesNotFit:
                continue
            if self.best is None or price.cycles < self.gain * self.best.cycles:
                self.best = Choice(way, price)
            elif price.cycles > WORSE * self.best.cycles:
                break


def _steps(op: LocalGen, axis: Axis, size: int, chip: Chip) -> list[int]:
    """Sizes of slices along an axis, from all of it to the least, each about half the one before;
    of rows, which share what windows read, all that are worth trying."""
    if axis not in op.cut_alone():
        return [size]
    unit = chip.lanes if axis == "c" else 1
    steps = steps_of(size, unit)
    return list(steps) if axis == "h" else halved(steps, unit)
