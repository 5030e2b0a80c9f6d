"""The cheapest slices of a product of matrices by itself: rows and columns of the result, which of
both is held while the other streams by, and parts of the sum.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.support import ddr_value
from xdsl_tpu.backend.kernels.tiling import steps_of
from xdsl_tpu.backend.kernels.transfer import load_cycles, store_cycles
from xdsl_tpu.backend.local.context import LocalKernel
from xdsl_tpu.backend.local.cut_price import Choice, price_of
from xdsl_tpu.backend.local.cuts import KIND, LOOPS, Order, Place, Way, cut_into
from xdsl_tpu.backend.local.dry import element_of
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.backend.tensor import DType, GlobalTensor, align, aligned, ceil_div
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, Loop

COLUMNS_FIRST: Order = ("n", "w", "c", "h", "k")
"""Columns of the right matrix are held, rows of the left one stream by."""

PATIENCE = 5
"""So many prices in a row that are not better end the search."""


@dataclass(frozen=True)
class _Candidate:
    """A way, and about what it takes."""

    way: Way
    estimate: float


def cheapest_product(
    op: LocalGen, kernel: LocalKernel, chip: Chip, cores: int, parts: int | None = None
) -> Choice | None:
    """The best of the candidates, the most promising first; None when nothing fits.

    Sums come in parts of so many elements. If none are said, these are what takes least, but for
    results that are cut: those of whole sums as long as any fits, of halves of them else.
    """
    problem, best = _Problem(op, chip, cores), None
    depth = parts or problem.depth
    while best is None:
        found = sorted(problem.candidates(depth, parts is None), key=lambda one: one.estimate)
        failures = 0
        for one in found:
            if best is not None and failures == PATIENCE:
                break
            cut = cut_into(op, one.way, chip)
            assert cut is not None
            try:
                price = price_of(op, kernel, cut, chip, cores)
            except DoesNotFit:
                continue
            failures += 1
            if best is None or price.cycles < best.cycles:
                best, failures = Choice(one.way, price), 0
        if depth <= chip.lanes or parts is not None:
            break
        depth = align(ceil_div(depth, 2), chip.lanes)
    return best


def _pipelined(moved: list[tuple[float, int]], steps: float, work: int) -> float:
    """When steps are done of which each works while transfers, so many of so many cycles, bring
    what the next one needs and take away what the last one made."""
    busy = sum(cycles for _, cycles in moved)
    total, before = busy + work, 1.0
    for count, cycles in (*sorted(moved), (steps, 0)):
        total += max(0.0, count - before) * max(busy, work)
        busy, before = busy - cycles, max(count, before)
    return total


class _Problem:
    """A product of matrices, and what its tiles take: loads and stores what they are priced at,
    the rest what the array needs at least."""

    def __init__(self, op: LocalGen, chip: Chip, cores: int) -> None:
        self.chip, self.cores = chip, cores
        self.left, self.right = (_Matrices.of(op, index, chip) for index in range(2))
        self.out, self.depth = op.results[0], op.summed()
        n, c, _, h, w = of_value(self.out, KIND, chip.lanes)
        self.whole = n, c, h, w, self.depth
        self._known: dict[tuple[SSAValue, int, int], int] = {}

    def candidates(self, depth: int, may_sum: bool) -> Iterator[_Candidate]:
        """Those whose buffers fit, with sums in parts of `depth`, or in any where that is all."""
        (count, c, _, w, _), lanes = self.whole, self.chip.lanes
        unit = self.chip.ddr_row_bytes // element_of(self.out).bytes
        for rows, columns in product(steps_of(c, lanes), steps_of(w, unit)):
            for order in (LOOPS, COLUMNS_FIRST):
                if order is LOOPS or (rows < c and columns < w):
                    yield from self._one((1, rows, 1, columns, depth), order)
        for images in steps_of(count)[:-1]:
            yield from self._one((images, c, 1, w, depth), LOOPS)
        if may_sum and depth == self.depth:
            for part in steps_of(depth, lanes)[1:]:
                yield from self._one((1, c, 1, w, part), LOOPS)

    def _one(self, sizes: Place, order: Order) -> Iterator[_Candidate]:
        """A candidate, if its buffers fit."""
        images, rows, _, columns, _ = sizes
        counts = tuple(map(ceil_div, self.whole, sizes))
        shares = [all_ / one for all_, one in zip(self.whole, sizes, strict=True)]
        lanes = self.chip.lanes  # rows fill whole lane groups, or take as long as if they did
        shares[1] = ceil_div(self.whole[1], lanes) / ceil_div(rows, lanes)
        room = 2 * self._bytes(images, rows, columns, element_of(self.out))
        room += self._bytes(images, rows, columns, DType.F32) if counts[-1] > 1 else 0
        results = prod(counts[:4])
        steps = prod(shares) * max(ceil_div(results, self.cores) / results, 1 / results)
        store = self._cycles(self.out, rows, columns) * images
        moved = [(steps / shares[-1], store)]
        for matrix in (self.left, self.right):
            together, high, wide = matrix.tile(sizes)
            own = [i for i in map(LOOPS.index, order) if counts[i] > 1 and LOOPS[i] in matrix.loops]
            room += self._bytes(together, high, wide, matrix.dtype) * (2 if own else 1)
            # What is inside of the innermost loop that changes it repeats no loads.
            inside = order[order.index(LOOPS[own[-1]]) + 1 :] if own else order
            loads = steps / prod(shares[LOOPS.index(loop)] for loop in inside) if own else 1.0
            moved.append((loads, self._cycles(matrix.value, high, wide) * together))
        if room <= self.chip.local_bytes:
            yield _Candidate(
                Way(sizes, False, order, self.cores), _pipelined(moved, steps, self._work(sizes))
            )

    def _bytes(self, images: int, rows: int, columns: int, dtype: DType) -> int:
        """Bytes of every lane."""
        line = align(columns * dtype.bytes, self.chip.eu_bytes)
        return images * ceil_div(rows, self.chip.lanes) * line

    def _work(self, sizes: Place) -> int:
        """What the array takes for a product of tiles."""
        images, rows, _, columns, _ = sizes
        chip, width = self.chip, self.left.dtype.bytes
        depth = ceil_div(self.left.extent(sizes, "k"), chip.cube_channels[width])
        steps = ceil_div(columns, chip.cube_outputs[width]) * depth
        return images * ceil_div(rows, chip.lanes) * steps

    def _cycles(self, value: SSAValue, rows: int, columns: int) -> int:
        """What moving one tile takes."""
        key = value, rows, columns
        if key not in self._known:
            place, shape = ddr_value(value), (1, rows, 1, columns)
            ddr = GlobalTensor(place.address, shape, place.strides or shape, place.dtype)
            local = aligned(self.chip, 0, shape, place.dtype)
            if value is self.out:
                self._known[key] = store_cycles(ddr, local, self.chip)
            else:
                self._known[key] = load_cycles(local, ddr, self.chip)
        return self._known[key]


@dataclass(frozen=True, slots=True)
class _Matrices:
    """The left or right matrices: images, rows and columns as they lie in DDR, and the loops over
    these; one matrix for all is in none over images."""

    value: SSAValue
    loops: tuple[Loop | None, Loop, Loop]
    whole: tuple[int, int, int]

    @classmethod
    def of(cls, op: LocalGen, index: int, chip: Chip) -> "_Matrices":
        """Those of an operand."""
        value, (n, c, _, w) = op.operands[index], op.loops(index)
        size = of_value(value, KIND, chip.lanes)
        return cls(value, (n if size.n > 1 else None, c, w), (size.n, size.c, size.w))

    @property
    def dtype(self) -> DType:
        """Element type."""
        return element_of(self.value)

    def extent(self, sizes: Place, loop: Loop | None) -> int:
        """What a tile has along a loop; all where that is not cut."""
        whole = self.whole[self.loops.index(loop)]
        size = whole if loop is None else sizes[LOOPS.index(loop)]
        return whole if loop == "k" and size == 1 else min(size, whole)

    def tile(self, sizes: Place) -> tuple[int, int, int]:
        """Images, rows and columns of a tile."""
        images, rows, columns = (self.extent(sizes, loop) for loop in self.loops)
        return images, rows, columns
