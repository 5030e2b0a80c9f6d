"""The cheapest slices of a product of matrices by itself: rows and columns of the result, which of
both is held while the other streams by, and parts of the sum.
"""

from math import inf

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.tiling import halved, steps_of
from xdsl_tpu.backend.local.context import LocalKernel
from xdsl_tpu.backend.local.cut_price import Choice, price_of
from xdsl_tpu.backend.local.cuts import KIND, LOOPS, Order, Place, Way, cut_into
from xdsl_tpu.backend.local.dry import element_of
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import align, ceil_div
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen

COLUMNS_FIRST: Order = ("n", "w", "c", "h", "k")
"""Columns of the right matrix are held, rows of the left one stream by."""

WORSE = 1.1
"""Fewer rows are not looked at once some take this many times the best."""


def cheapest_product(
    op: LocalGen, kernel: LocalKernel, chip: Chip, cores: int, parts: int | None = None
) -> Choice | None:
    """The best of all that are tried; None when nothing fits.

    Sums come in parts of so many elements. If none are said, these are what takes least, but for
    results that are cut: those of whole sums as long as any fits, of halves of them else.
    """
    search = _Search(op, kernel, chip, cores)
    depth = parts or op.summed()
    search.all_of(depth)
    if parts is None:
        search.sums()
    while search.best is None and parts is None and depth > chip.lanes:
        depth = align(ceil_div(depth, 2), chip.lanes)
        search.all_of(depth)
    return search.best


class _Search:
    """For the cheapest sizes of slices and the cheapest order."""

    def __init__(self, op: LocalGen, kernel: LocalKernel, chip: Chip, cores: int) -> None:
        self.op, self.kernel, self.chip, self.cores = op, kernel, chip, cores
        result = op.results[0]
        full, unit = of_value(result, KIND, chip.lanes), chip.ddr_row_bytes
        self.images = halved(steps_of(full.n), 1)
        self.rows = steps_of(full.c, chip.lanes)
        unit //= element_of(result).bytes
        self.columns = halved(steps_of(full.w, unit), unit)
        self.best: Choice | None = None

    def all_of(self, depth: int) -> None:
        """Try all sizes with sums in parts of `depth`: several images whole, or parts of one."""
        for images in self.images[:-1]:
            self._one((images, self.rows[0], 1, self.columns[0], depth))
        for order in (LOOPS, COLUMNS_FIRST):
            # Both must be cut for the order to matter.
            first = int(order is COLUMNS_FIRST)
            for columns in self.columns[first:]:
                for rows in self.rows[first:]:
                    cycles = self._one((1, rows, 1, columns, depth), order)
                    if self.best is not None and inf > cycles > WORSE * self.best.cycles:
                        break

    def sums(self) -> None:
        """Try sums in parts of whole matrices."""
        for part in steps_of(self.op.summed(), self.chip.lanes)[1:]:
            self._one((1, self.rows[0], 1, self.columns[0], part))

    def _one(self, sizes: Place, order: Order = LOOPS) -> float:
        """What slices of these sizes take; infinitely long where they do not fit."""
        way = Way(sizes, False, order, self.cores)
        found = cut_into(self.op, way, self.chip)
        assert found is not None
        try:
            price = price_of(self.op, self.kernel, found, self.chip, self.cores)
        except DoesNotFit:
            return inf
        if self.best is None or price.cycles < self.best.cycles:
            self.best = Choice(way, price)
        return price.cycles
