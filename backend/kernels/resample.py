"""`tpu.Resample`: new rows and columns of images, each an old one or between two neighbours.

low + share * (high - low), every step rounded to the element type. Where results are made of
neighbours in equal groups (four of each pair, say) one command makes all groups: it reads an old
element with a stride of 0 for all the results of its group.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, pipelined, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut, steps_of
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles, put, store_cycles
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    aligned_bytes,
    strided,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.resampling import Run, runs_of

FEWEST_TILES = 4
"""Tiles that work is cut into where it could be done in fewer: so loads and stores overlap."""

Take = Callable[[Shape4, DType], LocalTensor]
"""Hands out scratch memory."""


@dataclass(frozen=True, slots=True)
class Blend:
    """One axis of a tile: the first neighbour of each result, counted from the tile's operand,
    and the row of shares in every lane, if neighbours are blended."""

    first: tuple[int, ...]
    shares: LocalTensor | None = None


@dataclass(frozen=True, slots=True)
class Resizing:
    """What an op does to whole images; an axis without `first` stays as it is."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    blends: tuple[bool, bool]

    @classmethod
    def of(cls, op: "tpu.ResampleOp") -> "Resizing":
        """As the attributes say."""
        blends = bool(op.blend_rows.value.data), bool(op.blend_columns.value.data)
        return cls(ints(op.rows), ints(op.columns), blends)

    def reach(self, rows: Piece) -> Piece:
        """The old rows that new ones are made of."""
        if not self.rows:
            return rows
        seen = self.rows[rows.start : rows.end]
        return Piece(min(seen), max(seen) - min(seen) + 1 + self.blends[0])

    def tile(
        self, rows: Piece, first_row: int, shares: LocalTensor | None
    ) -> tuple[Blend | None, Blend | None]:
        """What makes these rows of an operand that begins at `first_row`."""
        before = len(self.rows) if self.blends[0] else 0
        down = self._blend(0, self.rows[rows.start : rows.end], shares, rows.start, first_row)
        across = self._blend(1, self.columns, shares, before, 0)
        return down, across

    def _blend(
        self, axis: int, first: tuple[int, ...], shares: LocalTensor | None, at: int, origin: int
    ) -> Blend | None:
        if not first:
            return None
        own = None
        if self.blends[axis] and shares is not None:
            own = strided(shares.at(w=at), (1, 1, 1, len(first)), (0, 0, 0, 1), shares.dtype)
        return Blend(tuple(place - origin for place in first), own)


def scratch_shapes(x: Shape4, out: Shape4, resizing: Resizing) -> list[Shape4]:
    """The scratch tensors that `resample_tile` takes."""
    n, c, old_rows, old_columns = x
    rows = out[2]
    shapes: list[Shape4] = []
    if resizing.rows and resizing.columns:
        shapes.append((n, c, rows, old_columns))
    if resizing.rows and resizing.blends[0]:
        shapes += [(n, c, max(old_rows - 1, 1), old_columns), (n, c, rows, old_columns)]
    if resizing.columns and resizing.blends[1]:
        shapes += [(n, c, rows, max(old_columns - 1, 1)), out]
    return shapes


def resample_tile(
    emitter: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    blends: tuple[Blend | None, Blend | None],
    take: Take,
) -> None:
    """Emit one image; `x` and `out` (1, c, h, w) may be parts of larger tensors."""
    down, across = blends
    lines = x
    if down is not None:
        lines = out if across is None else take((*out.shape[:3], x.shape[3]), x.dtype)
        _rows(emitter, lines, x, down, take)
    if across is not None:
        _columns(emitter, out, lines, across, take)
    elif down is None:
        emitter.copy(out, x)


def _rows(emitter: Emitter, out: LocalTensor, x: LocalTensor, blend: Blend, take: Take) -> None:
    """Dimensions of the commands: groups, channels, rows of a group, columns."""
    _, c, _, w = out.shape
    steps = None
    if blend.shares is not None:
        steps = _differences(emitter, x, 2, take), take(out.shape, out.dtype)
    for run in runs_of(blend.first):
        shape = (run.count, c, run.length, w)

        def made(tensor: LocalTensor, shape: Shape4 = shape, run: Run = run) -> LocalTensor:
            _, by_c, by_h, by_w = tensor.strides
            strides = (run.length * by_h, by_c, by_h, by_w)
            return strided(tensor.at(h=run.start), shape, strides, tensor.dtype)

        def read(tensor: LocalTensor, shape: Shape4 = shape, run: Run = run) -> LocalTensor:
            _, by_c, by_h, by_w = tensor.strides
            strides = (run.step * by_h, by_c, 0, by_w)
            return strided(tensor.at(h=run.first), shape, strides, tensor.dtype)

        if steps is None or blend.shares is None:
            emitter.copy(made(out), read(x))
            continue
        difference, part = steps
        share = strided(blend.shares.at(w=run.start), shape, (run.length, 0, 1, 0), out.dtype)
        emitter.arith(Arith.MUL, made(part), read(difference), share)
        emitter.arith(Arith.ADD, made(out), made(part), read(x))


def _columns(emitter: Emitter, out: LocalTensor, x: LocalTensor, blend: Blend, take: Take) -> None:
    """Dimensions of the commands: rows, channels, groups, columns of a group."""
    _, c, h, _ = out.shape
    steps = None
    if blend.shares is not None:
        steps = _differences(emitter, x, 3, take), take(out.shape, out.dtype)
    for run in runs_of(blend.first):
        shape = (h, c, run.count, run.length)

        def made(tensor: LocalTensor, shape: Shape4 = shape, run: Run = run) -> LocalTensor:
            _, by_c, by_h, by_w = tensor.strides
            strides = (by_h, by_c, run.length * by_w, by_w)
            return strided(tensor.at(w=run.start), shape, strides, tensor.dtype)

        def read(tensor: LocalTensor, shape: Shape4 = shape, run: Run = run) -> LocalTensor:
            _, by_c, by_h, by_w = tensor.strides
            strides = (by_h, by_c, run.step * by_w, 0)
            return strided(tensor.at(w=run.first), shape, strides, tensor.dtype)

        if steps is None or blend.shares is None:
            emitter.copy(made(out), read(x))
            continue
        difference, part = steps
        share = strided(blend.shares.at(w=run.start), shape, (0, 0, run.length, 1), out.dtype)
        emitter.arith(Arith.MUL, made(part), read(difference), share)
        emitter.arith(Arith.ADD, made(out), made(part), read(x))


def _differences(emitter: Emitter, x: LocalTensor, axis: int, take: Take) -> LocalTensor:
    """Of each element to the one before it along the axis."""
    n, c, h, w = x.shape
    shape: Shape4 = (n, c, h - 1, w) if axis == 2 else (n, c, h, w - 1)
    result = take(shape, x.dtype)
    low = strided(x.address, shape, x.strides, x.dtype)
    high = strided(x.at(h=axis == 2, w=axis == 3), shape, x.strides, x.dtype)
    emitter.arith(Arith.SUB, result, high, low)
    return result


def resample(context: KernelContext, op: Operation) -> None:
    """Emit the op over images in DDR, in tiles of channels and rows.

    Raises DoesNotFit when not even one row of one group of channels fits local memory.
    """
    assert isinstance(op, tpu.ResampleOp)
    x, out = context.value(op.input), context.value(op.output)
    _Layer(context, Resizing.of(op), x, out, context.optional(op.shares), where(op)).run()


@dataclass(frozen=True, slots=True)
class _Tile:
    channels: Piece
    rows: Piece


class _Layer:
    """Images and channels are one axis: no result needs more than one of them."""

    def __init__(
        self,
        context: KernelContext,
        resizing: Resizing,
        x: DdrValue,
        out: DdrValue,
        shares: DdrValue | None,
        name: str,
    ) -> None:
        self.e, self.chip, self.resizing = context.emitter, context.chip, resizing
        self._x, self._out = (self._planes(value) for value in (x, out))
        memory = context.memory()
        self._shares: LocalTensor | None = None
        if shares is not None:
            row = (1, 1, 1, shares.elements)
            lanes = (1, self.chip.lanes, 1, shares.elements)
            self._shares = memory.aligned(lanes, shares.dtype)
            self.e.load_broadcast(self._shares, shares.as4(row))
        self._tiles = self._choose(memory.left, name)
        sizes = [self._bytes(tile) for tile in self._tiles]
        self._buffers = [
            [memory.take(max(size[place] for size in sizes)) for _ in range(2)] for place in (0, 1)
        ]
        self._scratch = memory.take(max(size[2] for size in sizes))

    @staticmethod
    def _planes(value: DdrValue) -> GlobalTensor:
        n, c, h, w = value.shape
        return value.as4((1, n * c, h, w))

    def _choose(self, room: int, name: str) -> list[_Tile]:
        """Tiles of which two fit, at least four if possible, that take least to move."""
        planes, height = self._out.shape[1:3]
        best: tuple[tuple[bool, int], list[_Tile]] | None = None
        for channels in steps_of(planes, self.chip.lanes):
            for rows in steps_of(height):
                parts = cut(planes, channels), cut(height, rows)
                tiles = [_Tile(c, r) for c in parts[0] for r in parts[1]]
                x, out, scratch = map(max, zip(*map(self._bytes, tiles), strict=True))
                if 2 * (x + out) + scratch > room:
                    continue
                key = len(tiles) < FEWEST_TILES, len(tiles) * self._moved(tiles[0])
                if best is None or key < best[0]:
                    best = key, tiles
                if len(tiles) >= FEWEST_TILES:
                    break
        if best is None:
            raise DoesNotFit(f"{name}: not even one row of {self.chip.lanes} channels fits")
        return best[1]

    def _moved(self, tile: _Tile) -> int:
        """Cycles of the transfers of a tile."""
        x, out = (aligned(self.chip, 0, s, self._out.dtype) for s in self._shapes(tile))
        load = load_cycles(x, self._x.window((0, 0, 0, 0), x.shape), self.chip)
        return load + store_cycles(self._out.window((0, 0, 0, 0), out.shape), out, self.chip)

    def _shapes(self, tile: _Tile) -> tuple[Shape4, Shape4]:
        reach = self.resizing.reach(tile.rows)
        c = tile.channels.size
        x = (1, c, reach.size, self._x.shape[3])
        return x, (1, c, tile.rows.size, self._out.shape[3])

    def _bytes(self, tile: _Tile) -> tuple[int, int, int]:
        """Bytes of a lane for the operand, the result and what lies between."""
        shapes, kind = self._shapes(tile), self._out.dtype
        scratch = scratch_shapes(*shapes, self.resizing)
        x, out, *rest = (aligned_bytes(self.chip, s, kind) for s in (*shapes, *scratch))
        return x, out, sum(rest)

    def run(self) -> None:
        """Emit all tiles."""
        pipelined(self._tiles, self._load, self._compute, self._store)

    def _local(self, tile: _Tile, place: int, slot: int) -> LocalTensor:
        shape = self._shapes(tile)[place]
        return aligned(self.chip, self._buffers[place][slot], shape, self._out.dtype)

    def _load(self, tile: _Tile, slot: int) -> None:
        x = self._local(tile, 0, slot)
        start = (0, tile.channels.start, self.resizing.reach(tile.rows).start, 0)
        fetch(self.e, x, self._x.window(start, x.shape))

    def _compute(self, tile: _Tile, slot: int) -> None:
        free = self._scratch

        def take(shape: Shape4, dtype: DType) -> LocalTensor:
            nonlocal free
            place, free = free, free + aligned_bytes(self.chip, shape, dtype)
            return aligned(self.chip, place, shape, dtype)

        x, out = self._local(tile, 0, slot), self._local(tile, 1, slot)
        first = self.resizing.reach(tile.rows).start
        blends = self.resizing.tile(tile.rows, first, self._shares)
        resample_tile(self.e, out, x, blends, take)

    def _store(self, tile: _Tile, slot: int) -> None:
        out = self._local(tile, 1, slot)
        start = (0, tile.channels.start, tile.rows.start, 0)
        put(self.e, self._out.window(start, out.shape), out)
