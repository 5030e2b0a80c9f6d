"""`tpu.LinearScan`: the states of a linear recurrence, one step after the other.

h_t = a_t * h_(t-1) + b_t: a product and a sum for each step, on all elements of a state at once.
What is before the steps' axis lies over the lanes, or what is behind it where that fills more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, pipelined, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut, steps_of
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import GlobalTensor, LocalTensor, Shape4, aligned, aligned_bytes
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit

LEAST_TILES = 4
"""Tiles that rows are cut into where they fill the lanes so often: loads and stores overlap."""


def scan(context: KernelContext, op: Operation) -> None:
    """a, b and the result of any one shape.

    Raises DoesNotFit where one step of the fewest rows does not fit local memory.
    """
    assert isinstance(op, tpu.LinearScanOp)
    a, b, out = (context.value(value) for value in (op.a, op.b, op.output))
    axis = op.axis.value.data
    outer, steps, inner = prod(b.shape[:axis]), b.shape[axis], prod(b.shape[axis + 1 :])
    view = _View.best(outer, steps, inner, context.chip)
    _Layer(context, view, (out, a, b), context.optional(op.initial), where(op)).run()


def advance(
    e: Emitter,
    tensors: Sequence[LocalTensor],
    before: LocalTensor | None,
    axis: int,
) -> None:
    """out, a and b in local memory, whose steps lie along one of n, h, w; `before` is the state
    before the first step."""
    whole = tensors[0].shape
    shape = tuple(1 if place == axis else size for place, size in enumerate(whole))
    for step in range(whole[axis]):
        start = tuple(step if place == axis else 0 for place in range(4))
        out, a, b = (tensor.window(_four(start), _four(shape), e.chip) for tensor in tensors)
        if before is None:
            e.copy(out, b)
        else:
            e.arith(Arith.MUL, out, a, before)
            e.arith(Arith.ADD, out, out, b)
        before = out


def _four(sizes: Sequence[int]) -> Shape4:
    n, c, h, w = sizes
    return n, c, h, w


@dataclass(frozen=True, slots=True)
class _View:
    """How states lie in local memory. `lanes` 0: (1, outer, steps, inner); otherwise, for each of
    `outer`, (steps, lanes, 1, inner / lanes)."""

    outer: int
    steps: int
    inner: int
    lanes: int

    @staticmethod
    def best(outer: int, steps: int, inner: int, chip: Chip) -> "_View":
        """The one that fills more lanes, rows if both do."""
        most = min(chip.lanes, inner)
        lanes = next(n for n in range(most, 0, -1) if inner % n == 0)
        if 2 * lanes < most:
            lanes = inner  # one element each, in as many rounds as it takes
        rows = min(outer, chip.lanes) >= min(lanes, chip.lanes)
        return _View(outer, steps, inner, 0 if rows else lanes)

    @property
    def axis(self) -> int:
        """Where steps lie: along h or n."""
        return 0 if self.lanes else 2

    def shape(self, rows: int, steps: int) -> Shape4:
        """Of a tile."""
        if self.lanes:
            return steps, self.lanes, 1, self.inner // self.lanes
        return 1, rows, steps, self.inner

    def in_ddr(self, value: DdrValue, rows: Piece, steps: Piece, of: int) -> GlobalTensor:
        """A tile of a value that has `of` steps."""
        first = (rows.start * of + steps.start) * self.inner
        shape = self.shape(rows.size, steps.size)
        by_row = of * self.inner
        strides = (self.inner, shape[3], shape[3], 1) if self.lanes else (0, by_row, self.inner, 1)
        return GlobalTensor(value.address + first * value.dtype.bytes, shape, strides, value.dtype)


@dataclass(frozen=True, slots=True)
class _Tile:
    rows: Piece
    steps: Piece


class _Layer:
    """Two buffers of every tensor; tiles of some rows follow each other along the steps, and a
    tile's first state goes on from the last one in the other buffer."""

    def __init__(
        self,
        context: KernelContext,
        view: _View,
        values: Sequence[DdrValue],
        initial: DdrValue | None,
        name: str,
    ) -> None:
        self.e, self.chip, self.view = context.emitter, context.chip, view
        self.values, self.initial = values, initial
        memory = context.memory()
        rows, steps = self._sizes(memory.left, name)
        self.tiles = [_Tile(r, s) for r in cut(view.outer, rows) for s in cut(view.steps, steps)]
        size, state = self._bytes(rows, steps), self._bytes(rows, 1)
        self._places = [[memory.take(size) for _ in range(2)] for _ in values]
        self._states = [memory.take(state) for _ in range(2)] if initial else [0, 0]
        self._before: LocalTensor | None = None

    def _bytes(self, rows: int, steps: int) -> int:
        return aligned_bytes(self.chip, self.view.shape(rows, steps), self.values[0].dtype)

    def _sizes(self, room: int, name: str) -> tuple[int, int]:
        """Rows and steps of a tile."""
        view, unit = self.view, self.chip.lanes
        for rows in steps_of(view.outer, unit) if not view.lanes else (1,):
            for steps in steps_of(view.steps):
                fits = 6 * self._bytes(rows, steps) + 2 * self._bytes(rows, 1) <= room
                few = rows * LEAST_TILES <= view.outer or rows <= unit
                if fits and (few or steps < view.steps):
                    return rows, steps
        raise DoesNotFit(f"{name}: one step of {view.inner} elements a row does not fit")

    def run(self) -> None:
        """Emit all tiles."""
        pipelined(self.tiles, self._load, self._compute, self._store)

    def _local(self, place: int, tile: _Tile, steps: int) -> LocalTensor:
        shape = self.view.shape(tile.rows.size, steps)
        return aligned(self.chip, place, shape, self.values[0].dtype)

    def _load(self, tile: _Tile, slot: int) -> None:
        for value, places in list(zip(self.values, self._places, strict=True))[1:]:
            target = self._local(places[slot], tile, tile.steps.size)
            fetch(self.e, target, self.view.in_ddr(value, tile.rows, tile.steps, self.view.steps))
        if self.initial is not None and tile.steps.start == 0:
            source = self.view.in_ddr(self.initial, tile.rows, Piece(0, 1), 1)
            fetch(self.e, self._local(self._states[slot], tile, 1), source)

    def _compute(self, tile: _Tile, slot: int) -> None:
        tensors = [self._local(places[slot], tile, tile.steps.size) for places in self._places]
        before = self._before
        if tile.steps.start == 0:
            before = self._local(self._states[slot], tile, 1) if self.initial else None
        advance(self.e, tensors, before, self.view.axis)
        last = tuple(tile.steps.size - 1 if a == self.view.axis else 0 for a in range(4))
        shape = self.view.shape(tile.rows.size, 1)
        self._before = tensors[0].window(_four(last), shape, self.chip)

    def _store(self, tile: _Tile, slot: int) -> None:
        source = self._local(self._places[0][slot], tile, tile.steps.size)
        out = self.view.in_ddr(self.values[0], tile.rows, tile.steps, self.view.steps)
        put(self.e, out, source)
