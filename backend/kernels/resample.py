"""`tpu.Resample`: new rows and columns of images, each an old one or between two neighbours.

low + share * (high - low), every step rounded to the element type. Where results are made of
neighbours in equal groups (four of each pair, say) one command makes all groups: it reads an old
element with a stride of 0 for all the results of its group.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    Shape4,
    strided,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.resampling import Run, runs_of

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
