"""The cheapest sizes of the slices of an op by itself."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import inf

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import halved, steps_of
from xdsl_tpu.backend.local.cut_price import Choice, price_of
from xdsl_tpu.backend.local.cuts import CUT, KIND, LOOPS, Order, Way, cut_into
from xdsl_tpu.backend.local.dry import element_of
from xdsl_tpu.backend.local.problem import Problem
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import align, ceil_div
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import Axis, LocalGen, MergesTaps

COLUMNS_FIRST: Order = ("n", "w", "c", "h", "k")
"""Columns of a product's right matrix are held, rows of the left one stream by."""

WORSE = 1.1
"""Fewer rows are not looked at once some take this many times the best."""

GAIN = 0.995
"""Nor fewer channels or images with all their rows once some take more than this share of what
more of them take."""


@lru_cache(maxsize=1 << 10)
def chosen(problem: Problem, chip: Chip, cores: int) -> Choice | None:
    """The cheapest sizes of slices; None when nothing fits."""
    search = _Search(problem, chip, cores)
    if "k" not in search.op.cut_alone():
        whole = search.op.summed()
        if cores > 1 and whole > 1:  # numbers do not depend on cores
            alone = chosen(problem, chip, 1)
            depth = whole if alone is None else alone.way.sizes[-1]
            if depth < whole:
                search.channels((depth,))
                return search.best
        search.parts()
        if cores == 1 and whole > 1 and search.is_large:
            search.channels(halved(steps_of(whole, chip.lanes), chip.lanes)[1:])
        return search.best
    depth = search.op.summed()
    if cores > 1:  # numbers do not depend on cores
        alone = chosen(problem, chip, 1)
        depth = depth if alone is None else alone.way.sizes[-1]
        search.products(depth)
        return search.best
    search.products(depth)
    search.sums()
    while search.best is None and depth > chip.lanes:
        # Of results that are cut, sums come in parts where no whole ones fit.
        depth = align(ceil_div(depth, 2), chip.lanes)
        search.products(depth)
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

    def parts(self) -> None:
        """Try parts of the result."""
        *others, widths = self.steps
        only_columns = all(len(steps) == 1 for steps in others)
        for width in widths:
            before = self.best
            self.all_of(width)
            if self.best is None:
                continue
            if not only_columns or (before and self.best.cycles > GAIN * before.cycles):
                break

    def products(self, depth: int) -> None:
        """Try products with sums in parts of `depth`: of several images whole, or parts of one,
        each matrix held while the other one streams by."""
        images, rows, _, columns = self.steps
        for several in images[:-1]:
            self._one(Way((several, rows[0], 1, columns[0], depth), cores=self.cores))
        for order in (LOOPS, COLUMNS_FIRST):
            # Both must be cut for the order to matter.
            first = int(order is COLUMNS_FIRST)
            for width in columns[first:]:
                for height in rows[first:]:
                    way = Way((1, height, 1, width, depth), order=order, cores=self.cores)
                    if self._is_far_worse(self._one(way)):
                        break

    def sums(self) -> None:
        """Try sums in parts of whole matrices."""
        _, rows, _, columns = self.steps
        for part in steps_of(self.op.summed(), self.chip.lanes)[1:]:
            self._one(Way((1, rows[0], 1, columns[0], part), cores=self.cores))

    @property
    def is_large(self) -> bool:
        """Whether the operands do not fit half of local memory side by side."""
        op, lanes = self.op, self.chip.lanes
        sizes = ((of_value(v, KIND, lanes), element_of(v)) for v in op.operands if not is_none(v))
        held = (n * ceil_div(c, lanes) * h * w * kind.bytes for (n, c, _, h, w), kind in sizes)
        return 2 * sum(held) > self.chip.local_bytes

    def channels(self, depths: Sequence[int]) -> None:
        """Try sums in parts of some input channels, of all images or of one: all rows of these may
        be there at once where a few rows of all channels come again with their neighbours."""
        images, channels, rows, (width, *_) = self.steps
        for depth, some, n in product(depths, channels[:2], sorted({images[0], images[-1]})):
            for h in rows:
                way = Way((n, some, h, width, depth), some < channels[0], cores=self.cores)
                if self._is_far_worse(self._one(way)):
                    break

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
            if self._is_far_worse(self._one(way)):
                break

    def _is_far_worse(self, cycles: float) -> bool:
        """Whether fewer rows than of a way that takes so much are not worth a look."""
        return self.best is not None and inf > cycles > WORSE * self.best.cycles

    def _one(self, way: Way) -> float:
        """What a way takes; infinitely long where there is none or it does not fit."""
        found = cut_into(self.op, way, self.chip)
        if found is None:
            return inf
        try:
            price = price_of(self.op, self.kernel, found, self.chip, self.cores)
        except DoesNotFit:
            return inf
        if self.best is None or price.cycles < self.gain * self.best.cycles:
            self.best = Choice(way, price)
        return price.cycles


def _steps(op: LocalGen, axis: Axis, size: int, chip: Chip) -> list[int]:
    """Sizes of slices along an axis, from all of it to the least, each about half the one before;
    of rows, which share what windows read, or are those of a product, all that are worth trying."""
    if axis not in op.cut_alone():
        return [size]
    sums = "k" in op.cut_alone()
    unit = chip.lanes if axis == "c" else 1
    if sums and axis == "w":
        unit = chip.ddr_row_bytes // element_of(op.results[0]).bytes
    steps = steps_of(size, unit)
    return list(steps) if axis == ("c" if sums else "h") else halved(steps, unit)
