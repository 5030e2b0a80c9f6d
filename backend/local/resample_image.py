"""`tpu.Resample`: new rows and columns of images, each an old one or between two neighbours.

low + share * (high - low), every step rounded to the element type. Where results are made of
neighbours in equal groups (four of each pair, say) one command makes all groups: it reads an old
element with a stride of 0 for all the results of its group. Where sizes have no simple ratio,
every second, third, .. result is made of elements equally far apart for a while, and one command
makes these.
"""

from collections.abc import Hashable
from dataclasses import replace
from math import inf, prod
from typing import NamedTuple

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.dry import DryEmitter
from xdsl_tpu.backend.tensor import (
    LocalTensor,
    Shape4,
    strided,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.records import record
from xdsl_tpu.dialects.resampling import Run, progressions_of, runs_of

Dims = tuple[str, str, str, str]
"""The dimensions of a command: those of the image, groups of results, and results of a group."""

_found: dict[Hashable, list[tuple[Run, Dims]]] = {}
_prices: dict[Hashable, int] = {}
"""Cycles of a run's commands for each number of their first dimension."""


@record(frozen=True, slots=True)
class Blend:
    """One axis of a tile: the first neighbour of each result, counted from the tile's operand,
    and the row of shares in every lane, if neighbours are blended."""

    first: tuple[int, ...]
    shares: LocalTensor | None = None


@record(frozen=True, slots=True)
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
    """The scratch tensors that `resample_tile` has at a time."""
    n, c, h, w = x
    steps = [axis for axis, first in ((2, resizing.rows), (3, resizing.columns)) if first]
    if columns_first(h, out[2]):
        steps.reverse()
    between: list[Shape4] = []
    own: list[list[Shape4]] = [[]]
    for number, axis in enumerate(steps, 1):
        made: Shape4 = (n, c, out[2], w) if axis == 2 else (n, c, h, out[3])
        if number < len(steps):
            between.append(made)
        if resizing.blends[axis - 2]:
            differences = (n, c, max(h - 1, 1), w) if axis == 2 else (n, c, h, max(w - 1, 1))
            own.append([differences, made])
        h, w = made[2:]
    return between + max(own, key=lambda shapes: sum(map(prod, shapes)))


def columns_first(old_rows: int, new_rows: int) -> bool:
    """Columns take longer than rows, and as long for each row: they are made where rows are few."""
    return new_rows > old_rows


def resample_tile(
    emitter: Emitter,
    out: LocalTensor,
    x: LocalTensor,
    blends: tuple[Blend | None, Blend | None],
    scratch: LocalMemory,
) -> None:
    """Emit one image; `x` and `out` (1, c, h, w) may be parts of larger tensors."""
    steps = [(axis, blend) for axis, blend in zip((2, 3), blends, strict=True) if blend is not None]
    if columns_first(x.shape[2], out.shape[2]):
        steps.reverse()
    if not steps:
        emitter.copy(out, x)
    for number, (axis, blend) in enumerate(steps, 1):
        made = out
        if number < len(steps):
            _, c, h, w = x.shape
            shape = (1, c, out.shape[2], w) if axis == 2 else (1, c, h, out.shape[3])
            made = scratch.aligned(shape, x.dtype)
        with scratch.temporary():
            _along(emitter, axis, made, x, blend, scratch)
        x = made


Blending = tuple[LocalTensor, LocalTensor, LocalTensor]
"""Shares, differences of neighbours, and room for their products."""

_COMMANDS = {
    2: (("group", "c", "within", "w"),),
    3: (("h", "c", "group", "within"), ("n", "c", "h", "group")),
}
"""What the four dimensions of the commands for new rows and columns can be. A run of columns one by
one can do without the dimension within groups."""

_FARTHEST = 16
"""Results farther apart take as many cycles for each as one after the other."""


def _along(
    emitter: Emitter,
    axis: int,
    out: LocalTensor,
    x: LocalTensor,
    blend: Blend,
    scratch: LocalMemory,
) -> None:
    """New rows (axis 2) or columns (3) of an image."""
    blending = None
    if blend.shares is not None:
        differences = _differences(emitter, x, axis, scratch)
        blending = blend.shares, differences, scratch.aligned(out.shape, out.dtype)
    work = _Work(axis, out, x, blending)
    for run, dims in work.runs(emitter.chip, blend.first):
        work.emit(emitter, run, dims)


class _Work(NamedTuple):
    """What is made along an axis of what."""

    axis: int
    out: LocalTensor
    x: LocalTensor
    blending: Blending | None

    def emit(self, emitter: Emitter, run: Run, dims: Dims) -> None:
        """The commands of a run."""
        axis, out, x, blending = self
        sizes = dict(zip("nchw", (1, *out.shape[1:]), strict=True))
        sizes |= {"group": run.count, "within": run.length}
        n, c, h, w = (sizes[dim] for dim in dims)

        def seen(tensor: LocalTensor, place: int, by: int, within: int) -> LocalTensor:
            """From a place on, so many elements of the axis from group to group, and within one."""
            steps = dict(zip("nchw", tensor.strides, strict=True))
            steps |= {"group": by * tensor.strides[axis], "within": within * tensor.strides[axis]}
            by_n, by_c, by_h, by_w = (steps[dim] for dim in dims)
            address = tensor.at(h=place) if axis == 2 else tensor.at(w=place)
            return strided(address, (n, c, h, w), (by_n, by_c, by_h, by_w), tensor.dtype)

        made, read = seen(out, run.start, run.by, 1), seen(x, run.first, run.step, 0)
        if blending is None:
            emitter.copy(made, read)
            return
        shares, differences, room = blending
        along: Shape4 = (0, 0, 1, 0) if axis == 2 else (0, 0, 0, 1)
        shares = strided(shares.address, (1, 1, *out.shape[2:]), along, shares.dtype)
        share = seen(shares, run.start, run.by, 1)
        part = strided(room.address, made.shape, (h * w, room.strides[1], w, 1), room.dtype)
        emitter.arith(Arith.MUL, part, seen(differences, run.first, run.step, 0), share)
        emitter.arith(Arith.ADD, made, part, read)

    def runs(self, chip: Chip, first: tuple[int, ...]) -> list[tuple[Run, Dims]]:
        """The runs, and the dimensions of their commands, that take the fewest cycles."""
        axis, out, x, blending = self
        key = chip, axis, first, out.shape, out.strides, out.dtype, x.strides, blending is None
        if key not in _found:
            apart = range(2, min(_FARTHEST, len(first)) + 1)
            best: tuple[float, list[tuple[Run, Dims]]] = inf, []
            for runs in (runs_of(first), *(progressions_of(first, by) for by in apart)):
                total, found = 0.0, list[tuple[Run, Dims]]()
                for run in runs:
                    usable = (d for d in _COMMANDS[axis] if run.length == 1 or "within" in d)
                    cycles, dims = min((self.price(chip, run, dims), dims) for dims in usable)
                    total += cycles
                    if total > best[0]:
                        break
                    found.append((run, dims))
                else:
                    best = min(best, (total, found), key=lambda way: (way[0], len(way[1])))
            _found[key] = best[1]
        return _found[key]

    def price(self, chip: Chip, run: Run, dims: Dims) -> int:
        """Cycles of a run's commands. They take as long for each number of their first dimension,
        which need not be near each other: so images of all heights have their columns priced once,
        and groups of rows wherever they are."""
        axis, out, x, blending = self
        _, c, h, w = out.shape
        if dims[0] == "group":
            one = run.length, out.strides[2:], x.strides[2:], c, w
            times, run = run.count, Run(run.start, run.first, 1, run.length, run.length, 0)
        else:
            one = run.count, run.length, run.by, run.step, out.strides[3], x.strides[3], c, w
            times = h
            if dims[0] != "h":
                one, times = (one, h, out.strides[2], x.strides[2]), 1
            else:
                out = replace(out, shape=(1, c, 1, w))
        key = chip, axis, dims, out.dtype, blending is None, one
        if key not in _prices:
            emitter = DryEmitter(chip)
            self._replace(out=out).emit(emitter, run, dims)
            _prices[key] = emitter.tiu_cycles
        return times * _prices[key]


def _differences(emitter: Emitter, x: LocalTensor, axis: int, scratch: LocalMemory) -> LocalTensor:
    """Of each element to the one before it along the axis."""
    n, c, h, w = x.shape
    shape: Shape4 = (n, c, h - 1, w) if axis == 2 else (n, c, h, w - 1)
    result = scratch.aligned(shape, x.dtype)
    low = strided(x.address, shape, x.strides, x.dtype)
    high = strided(x.at(h=axis == 2, w=axis == 3), shape, x.strides, x.dtype)
    emitter.arith(Arith.SUB, result, high, low)
    return result
